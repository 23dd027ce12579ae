// SPDX-License-Identifier: Apache-2.0

import Glibc
import LinuxPlatform
import Synchronization
import TestSupport
import Testing
import Utter

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

    @Test(arguments: [
        (#"{"at":1e300}"#, 0.0), (#"{"at":2000}"#, 0), (#"{"at":1000,"closedUntil":1e300}"#, 600),
        (#"{"at":1000,"closedUntil":1030}"#, 30), (#"{"at":1000,"seconds":-1e300}"#, 3_600),
    ])
    func whatIsTooFarAheadIsCut(_ value: String, wait: Double) throws {
        var bucket = try #require(decoded(TokenBucket.self, Array(value.utf8)))
        #expect(bucket.cut(at: 1_000) == (bucket != decoded(TokenBucket.self, Array(value.utf8))))
        #expect(bucket.at <= 1_001)
        #expect((bucket.take(ServiceRate(seconds: 60), audio: 1, now: 1_000) ?? 0) == wait)
    }

    @Test func whatIsTooFarAheadIsWrittenAnew() throws {
        let values = Values()
        let limits = FleetLimits([:], values: values, workers: Values(), worker: "a")
        #expect(limits.take("s", audio: 0) == nil)
        let bytes = Array(#"{"at":0,"closedUntil":1e300}"#.utf8)
        #expect(try values.set("limit.s", to: bytes, after: nil))
        let wait = try #require(limits.take("s", audio: 0))
        #expect(wait <= .seconds(600))
        let found = try #require(try values.get("limit.s"))
        let bucket = try #require(decoded(TokenBucket.self, found.bytes))
        #expect((bucket.closedUntil ?? 0) < 1e9)
    }

    @Test func noSharedValueCountsBeforeTheServersClockIsKnown() throws {
        let (values, workers) = (Values(), Values())
        let rates = ["s": ServiceRate(requests: 12)]
        let limits = FleetLimits(rates, values: values, workers: workers, worker: "a")
        // Another slot asks while the first one learns the clock.
        let early = Observed<[Duration?]>([])
        workers.onSet { early.update { $0.append(limits.take("s", audio: 0)) } }
        #expect(limits.take("s", audio: 0) == nil)
        #expect(early.look { $0 } == [.milliseconds(100)])
        #expect(try values.get("limit.s")?.revision == 1)
        // Where it cannot be learnt, each takes its share, and writes nothing.
        workers.goAway()
        let late = FleetLimits(rates, values: values, workers: workers, worker: "b")
        #expect((0..<10).count { _ in late.take("s", audio: 0) == nil } == 2)
        late.close("s", for: .seconds(50))
        #expect(try values.get("limit.s")?.revision == 1)
    }

    /// Values in memory, each set of which may fail.
    private final class Values: SharedValues {
        private let state = Mutex<(values: [String: SharedValue], isAway: Bool)>(([:], false))
        private let hook = Mutex<(@Sendable () -> Void)?>(nil)

        func goAway() { state.withLock { $0.isAway = true } }

        /// Has it called once.
        func onSet(_ body: @escaping @Sendable () -> Void) { hook.withLock { $0 = body } }

        func get(_ key: String) throws(QueueFailure) -> SharedValue? {
            let (value, isAway) = state.withLock { ($0.values[key], $0.isAway) }
            if isAway { throw QueueFailure(reason: "away") }
            return value
        }

        func set(_ key: String, to bytes: [UInt8], after: UInt64?) throws(QueueFailure) -> Bool {
            hook.withLock { $0.take() }?()
            return state.withLock { state in
                guard state.values[key]?.revision == after else { return false }
                state.values[key] = SharedValue(
                    bytes: bytes, revision: (after ?? 0) + 1, written: 0)
                return true
            }
        }

        func count() throws(QueueFailure) -> Int { state.withLock { $0.values.count } }
    }

    @Test func twoWorkersShareOneLimit() {
        let (values, rates) = (Values(), ["s": ServiceRate(requests: 12)])
        let limits = ["a", "b"].map {
            FleetLimits(rates, values: values, workers: nil, worker: $0)
        }
        let passed = (0..<10).count { limits[$0 % 2].take("s", audio: 0) == nil }
        #expect(passed == 2)
        #expect(limits[0].take("other", audio: 0) == nil)
        limits[0].close("other", for: .seconds(50))
        #expect(limits[1].take("other", audio: 0).map { $0 > .seconds(40) } == true)
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

private let natsServer = ForeignTool("nats-server")

/// A limit in the values of a real queue.
@Suite(.enabled(if: natsServer.path != nil))
struct SharedLimitTests {
    private static let rate = ServiceRate(requests: 60)

    /// What two workers took out together, by the bucket that they share.
    private struct Account: Sendable {
        var passed = 0
        var before: TokenBucket
        var after: TokenBucket
    }

    @Test func twoWorkersTakeNoMoreThanTheirLimitTogether() async throws {
        let proxy = try FaultProxy(to: 9)
        proxy.stop()
        let (port, folder) = (proxy.port, try TemporaryFolder())
        let server = try CommandRun(
            natsServer.name,
            ["-js", "-a", "127.0.0.1", "-p", "\(port)", "-sd", folder.path("queue")],
            environment: CommandRun.cleanEnvironment)
        defer { server.signal(SIGKILL) }
        let place = QueuePlace(servers: ["nats://127.0.0.1:\(port)"])
        let found = try await NamedThread.result(name: "limit-test") { () throws(QueueFailure) in
            try Self.race(at: place)
        }
        let account = try found.get()
        let (before, after) = (account.before.requests ?? 0, account.after.requests ?? 0)
        // What was there, what came in meanwhile by the server's clock, and what is left.
        let filled = (account.after.at - account.before.at) * (Self.rate.requests ?? 0) / 60
        #expect(Double(account.passed) <= before + filled - after + 1e-6)
        #expect(after >= 0)
        #expect(account.passed >= Int(before))
    }

    /// Has both ask at the same time, more often than the limit allows.
    private static func race(at place: QueuePlace) throws(QueueFailure) -> Account {
        let (first, second) = (try worker("a", at: place), try worker("b", at: place))
        _ = first.limits.take("s", audio: 0)
        let before = try bucket(first.values)
        let passed = Observed(0)
        let threads = [first, second].compactMap { worker in
            // Without a thread the count is too low, and the test fails.
            try? NamedThread(name: "worker") {
                for _ in 0..<30 where worker.limits.take("s", audio: 0) == nil {
                    passed.update { $0 += 1 }
                }
            }
        }
        for thread in threads { thread.join() }
        return Account(
            passed: passed.look { $0 }, before: before, after: try bucket(second.values))
    }

    private static func worker(
        _ name: String, at place: QueuePlace
    ) throws(QueueFailure) -> (limits: FleetLimits, values: NATSValues) {
        let queue = try queue(at: place)
        let values = try NATSValues("limits", of: queue)
        let workers = try NATSValues("workers", lifetime: .seconds(300), of: queue)
        return (
            FleetLimits(["s": rate], values: values, workers: workers, worker: name), values
        )
    }

    /// Connects once the server is there.
    private static func queue(at place: QueuePlace) throws(QueueFailure) -> NATSQueue {
        let end = ContinuousClock.now + .patience
        while ContinuousClock.now < end {
            // It may not listen yet.
            if let queue = try? NATSQueue(place) { return queue }
            _ = waits(.milliseconds(50))
        }
        return try NATSQueue(place)
    }

    private static func bucket(_ values: NATSValues) throws(QueueFailure) -> TokenBucket {
        let found = try values.get("limit.s")
        return found.flatMap { decoded(TokenBucket.self, $0.bytes) } ?? TokenBucket()
    }
}
