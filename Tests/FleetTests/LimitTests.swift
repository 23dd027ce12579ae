// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import Fleet

struct LimitTests {
    @Test func ratesAreRead() {
        #expect(ServiceRate("60/min,600s/min") == ServiceRate(requests: 60, seconds: 600))
        #expect(ServiceRate("600s/min") == ServiceRate(seconds: 600))
        for text in ["", "60", "60/h", "-1/min", "0/min", "x/min", "60/min,", "nan/min"] {
            #expect(ServiceRate(text) == nil, "\(text)")
        }
    }

    @Test func aBucketFillsWithTime() throws {
        let rate = ServiceRate(requests: 60)
        var bucket = TokenBucket(at: 0)
        // A sixth of a minute at once.
        for _ in 0..<10 { #expect(bucket.take(rate, audio: 0, now: 0) == nil) }
        let pause = bucket.take(rate, audio: 0, now: 0)
        let wait = try #require(pause)
        #expect(abs(wait - 1) < 1e-9)
        #expect(bucket.take(rate, audio: 0, now: 1) == nil)
        #expect(bucket.take(rate, audio: 0, now: 1) != nil)
        // A clock that goes back fills nothing.
        #expect(bucket.take(rate, audio: 0, now: -100) != nil)
    }

    @Test func aLongTakeMayGoAndTheNextWaitsForIt() throws {
        let rate = ServiceRate(seconds: 600)
        var bucket = TokenBucket(at: 0)
        #expect(bucket.take(rate, audio: 3_600, now: 0) == nil)
        let pause = bucket.take(rate, audio: 1, now: 0)
        let wait = try #require(pause)
        #expect(abs(wait - 350) < 1e-6)
        #expect(bucket.take(rate, audio: 1, now: wait + 0.001) == nil)
    }

    @Test func aClosedServiceIsLeftAlone() {
        var bucket = TokenBucket(at: 0)
        bucket.closedUntil = 30
        #expect(bucket.take(ServiceRate(), audio: 1, now: 10) == 20)
        #expect(bucket.take(ServiceRate(), audio: 1, now: 30) == nil)
    }

    /// Values in memory, each set of which may fail.
    private final class Values: SharedValues {
        private let state = Mutex<(values: [String: SharedValue], isAway: Bool)>(([:], false))

        func goAway() { state.withLock { $0.isAway = true } }

        func get(_ key: String) throws(QueueFailure) -> SharedValue? {
            let (value, isAway) = state.withLock { ($0.values[key], $0.isAway) }
            if isAway { throw QueueFailure(reason: "away") }
            return value
        }

        func set(_ key: String, to bytes: [UInt8], after: UInt64?) throws(QueueFailure) -> Bool {
            state.withLock { state in
                guard state.values[key]?.revision == after else { return false }
                state.values[key] = SharedValue(
                    bytes: bytes, revision: (after ?? 0) + 1, written: 0)
                return true
            }
        }

        func count() throws(QueueFailure) -> Int { state.withLock { $0.values.count } }
    }

    @Test func twoWorkersShareOneLimit() {
        let (values, workers) = (Values(), Values())
        let rates = ["s": ServiceRate(requests: 12)]
        let limits = ["a", "b"].map {
            FleetLimits(rates, values: values, workers: nil, worker: $0)
        }
        let passed = (0..<10).count { limits[$0 % 2].take("s", audio: 0) == nil }
        #expect(passed == 2)
        #expect(limits[0].take("other", audio: 0) == nil)
        limits[0].close("other", for: .seconds(50))
        #expect(limits[1].take("other", audio: 0).map { $0 > .seconds(40) } == true)
        withExtendedLifetime(workers) {}
    }

    @Test func withoutTheSharedValuesEachTakesItsShare() {
        let (values, workers) = (Values(), Values())
        values.goAway()
        let rates = ["s": ServiceRate(requests: 48)]
        let limits = ["a", "b"].map {
            FleetLimits(rates, values: values, workers: workers, worker: $0)
        }
        for one in limits { _ = one.take("s", audio: 0) }
        // The first was alone when it looked; the second knows of both.
        #expect((0..<20).count { _ in limits[1].take("s", audio: 0) == nil } == 3)
    }
}
