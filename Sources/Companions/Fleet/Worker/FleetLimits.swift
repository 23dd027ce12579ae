// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// How much of a service may be used in a minute; nil: no limit.
package struct ServiceRate: Sendable, Equatable {
    var requests: Double?
    var seconds: Double?

    init(requests: Double? = nil, seconds: Double? = nil) {
        (self.requests, self.seconds) = (requests, seconds)
    }

    /// Reads a text such as `60/min,600s/min`.
    package init?(_ text: some StringProtocol) {
        self.init()
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard part.hasSuffix("/min") else { return nil }
            let number = part.dropLast(4)
            guard let value = Double(number.hasSuffix("s") ? number.dropLast() : number),
                value > 0, value < 1e9
            else { return nil }
            if number.hasSuffix("s") { seconds = value } else { requests = value }
        }
    }

    func divided(by count: Int) -> ServiceRate {
        ServiceRate(
            requests: requests.map { $0 / Double(count) },
            seconds: seconds.map { $0 / Double(count) })
    }
}

/// The rest of a service's rate: a value that all workers change.
///
/// A take may be longer than what is left: then the level falls below zero, and the next waits for
/// it. So an hour of audio is possible where ten minutes a minute are allowed.
struct TokenBucket: Codable, Sendable, Equatable {
    /// Requests that are left; nil before the first use.
    var requests: Double?
    var seconds: Double?
    /// Seconds since 1970, by the clock of the queue's server.
    var at = 0.0
    /// The service has said that it takes nothing until then.
    var closedUntil: Double?

    /// A sixth of a minute may be used at once.
    private static let burst = 1.0 / 6
    /// An hour's use at most lies below zero, whatever a manifest says of its audio.
    private static let debt = 60.0
    /// In seconds: a worker closes a service for no longer.
    static let longestPause = 600.0
    /// In seconds: workers know the server's clock this well.
    private static let doubt = 1.0

    /// Takes back what a worker whose clock was ahead has written, or another program; true when
    /// there was such a thing.
    mutating func cut(at now: Double) -> Bool {
        let before = self
        at = min(at, now + Self.doubt)
        closedUntil = closedUntil.map { min($0, now + Self.longestPause) }
        return self != before
    }

    /// Takes one request out; `audio` is in seconds, `now` by the same clock as `at`.
    ///
    /// - Returns: nil when it may go, otherwise how many seconds to wait before the next try; nothing
    ///   is taken out then.
    mutating func take(_ rate: ServiceRate, audio: Double, now: Double) -> Double? {
        let elapsed = max(0, now - at)
        at = max(at, now)
        let wait =
            [
                closedUntil.map { $0 - now } ?? 0,
                Self.fill(&requests, rate.requests, elapsed, floor: 1),
                Self.fill(&seconds, rate.seconds, elapsed, floor: 0),
            ].max() ?? 0
        guard wait <= 0 else { return wait }
        requests = requests.map { $0 - 1 }
        seconds = seconds.map { $0 - audio }
        return nil
    }

    /// - Returns: how long it takes until the level is at the floor.
    private static func fill(
        _ level: inout Double?, _ rate: Double?, _ elapsed: Double, floor: Double
    ) -> Double {
        guard let rate else {
            level = nil
            return 0
        }
        let capacity = max(1, rate * burst)
        let filled = min(capacity, max(level ?? capacity, -debt * rate) + elapsed * rate / 60)
        level = filled
        return filled >= floor ? 0 : (floor - filled) * 60 / rate
    }
}

/// The limits of services over all workers, in values that they share; without those each takes
/// its share of the workers last seen.
package final class FleetLimits: Sendable {
    private struct State {
        /// The time by the server's clock, in seconds since 1970, at an instant; nil until it is known,
        /// and shared values mean nothing without it.
        var clock: (time: Double, at: ContinuousClock.Instant)?
        var workers = 1
        var announced: ContinuousClock.Instant?
        /// The shared values have failed, and are left alone until then.
        var rest: ContinuousClock.Instant?
        /// The rest of this worker's share.
        var own: [String: TokenBucket] = [:]
    }

    private let values: (any SharedValues)?
    /// Each worker has a key here, which goes when the worker does.
    private let workers: (any SharedValues)?
    private let rates: [String: ServiceRate]
    private let worker: String
    private let state = Mutex(State())
    /// A worker says so often that it is there.
    private static let announcement = Duration.seconds(60)
    /// A question that fails takes seconds, and no take is to wait for each.
    private static let failurePause = Duration.seconds(30)

    package init(
        _ rates: [String: ServiceRate], values: (any SharedValues)?,
        workers: (any SharedValues)?, worker: String
    ) {
        (self.rates, self.values, self.workers, self.worker) = (rates, values, workers, worker)
    }

    /// The buckets of one's own count seconds from here.
    private let began = ContinuousClock.now

    private func key(_ kind: String, _ name: String) -> String {
        kind + "."
            + String(
                name.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") ? $0 : "_" })
    }

    /// Takes from the rate; nil when a take may be sent now, otherwise the wait until the next call.
    func take(_ service: String, audio: Double) -> Duration? {
        announce()
        // Another slot asks for the server's clock.
        let isEarly = state.withLock { $0.clock == nil && $0.rest ?? .now <= .now }
        guard values == nil || !isEarly else { return .milliseconds(100) }
        let rate = rates[service] ?? ServiceRate()
        let wait = change(service) { bucket, now, workers in
            bucket.take(rate.divided(by: workers), audio: audio, now: now)
        }
        return wait > 0 ? .seconds(min(wait, 3_600)) : nil
    }

    /// Notes for all workers that a service takes nothing for a time.
    func close(_ service: String, for time: Duration) {
        _ = change(service) { bucket, now, _ in
            bucket.closedUntil = max(bucket.closedUntil ?? 0, now + time / .seconds(1))
            return nil
        }
    }

    /// Changes the bucket of a service: that of all workers or, without shared values, one's own.
    ///
    /// `change` gets the bucket, the time by its clock, and how many workers share the rate.
    ///
    /// - Returns: how many seconds to wait; nothing is changed then.
    private func change(
        _ service: String, _ change: (inout TokenBucket, Double, Int) -> Double?
    ) -> Double {
        let (clock, isAway) = state.withLock { ($0.clock, $0.rest ?? .now > .now) }
        if let values, let clock, !isAway {
            do throws(QueueFailure) {
                return try compareAndSet(values, key("limit", service)) { bucket in
                    let now = clock.time + clock.at.duration(to: .now) / .seconds(1)
                    return (bucket.cut(at: now), change(&bucket, now, 1))
                }
            } catch {
                state.withLock { $0.rest = .now + Self.failurePause }
            }
        }
        return state.withLock { state in
            var bucket = state.own[service] ?? TokenBucket()
            defer { state.own[service] = bucket }
            return change(&bucket, began.duration(to: .now) / .seconds(1), state.workers) ?? 0
        }
    }

    private func compareAndSet(
        _ values: any SharedValues, _ name: String,
        _ change: (inout TokenBucket) -> (isCut: Bool, wait: Double?)
    ) throws(QueueFailure) -> Double {
        for _ in 0..<20 {
            let found = try values.get(name)
            // An unreadable value begins anew.
            var unchanged = found.flatMap { decoded(TokenBucket.self, $0.bytes) } ?? TokenBucket()
            var bucket = unchanged
            let (isCut, wait) = change(&bucket)
            // Without a limit, and while one waits, there is nothing to note; but what is too far
            // ahead would be so each time.
            unchanged.at = bucket.at
            if !isCut, wait != nil || bucket == unchanged { return wait ?? 0 }
            if try values.set(name, to: encoded(bucket), after: found?.revision) {
                return wait ?? 0
            }
        }
        // So many change it at once that one more would not matter: a moment later.
        return 0.2
    }

    /// Says that this worker is there, counts the others, and learns the server's clock.
    private func announce() {
        let isDue = state.withLock { state in
            if let last = state.announced, last + Self.announcement > .now { return false }
            if let rest = state.rest, rest > .now { return false }
            state.announced = .now
            return true
        }
        guard isDue, let place = workers ?? values else { return }
        let name = key("worker", worker)
        do throws(QueueFailure) {
            let known = try place.get(name)
            let before = ContinuousClock.now
            guard try place.set(name, to: [0x31], after: known?.revision),
                let written = try place.get(name)?.written
            else { throw QueueFailure(reason: "the queue does not keep what is written") }
            let count = try workers?.count() ?? 1
            state.withLock { state in
                state.workers = max(1, count)
                state.clock = (written, before)
            }
        } catch {
            // As many as were seen last.
            state.withLock { ($0.rest, $0.announced) = (.now + Self.failurePause, nil) }
        }
    }
}
