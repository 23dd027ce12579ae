// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import Capture
internal import Synchronization
internal import TakeStore

/// Counts how far a take has come; progress is looked at ten times a second at most.
///
/// From any thread, without a lock.
final class ProgressMeter: Sendable {
    static let interval = Duration.milliseconds(100)

    private let account: CaptureAccount
    private let bodyOffset: Int
    let began = ContinuousClock.now
    private let sentByteCount = Atomic(0)
    /// -1 until it is known.
    private let bodyByteCount = Atomic(-1)
    /// Nanoseconds since the take began.
    private let nextLook = Atomic(Int64.min)
    private let writtenBefore = Atomic(-1)
    /// Looks in a row at which the journal has taken nothing of what waits for it.
    private let stuckLooks = Atomic(0)
    private let hasToldWhole = Atomic(false)
    private let hasToldLimit = Atomic(false)

    init(of account: CaptureAccount, bodyOffset: Int) {
        self.account = account
        self.bodyOffset = bodyOffset
    }

    var elapsed: Duration { .now - began }

    /// True once for each interval, on one thread only.
    func isDue(at elapsed: Duration? = nil) -> Bool {
        let now = (elapsed ?? self.elapsed).nanoseconds
        let due = nextLook.load(ordering: .relaxed)
        guard now >= due else { return false }
        return nextLook.compareExchange(
            expected: due, desired: now + Self.interval.nanoseconds, ordering: .relaxed
        ).exchanged
    }

    /// How long the journal has taken none of the bytes that wait for it, at least.
    ///
    /// On the transfer thread, each time that a look is due: time in which this program was stopped
    /// does not count.
    func wait(of journal: Journal) -> Duration {
        let written = journal.writtenByteCount
        let isStuck = writtenBefore.exchange(written, ordering: .relaxed) == written
        let isWaiting = isStuck && journal.path != nil && journal.byteCount > written
        let looks = isWaiting ? stuckLooks.load(ordering: .relaxed) + 1 : 0
        stuckLooks.store(looks, ordering: .relaxed)
        return Self.interval * looks
    }

    /// Returns true at the first call.
    func isFirstOfLimit() -> Bool { !hasToldLimit.exchange(true, ordering: .relaxed) }

    /// - Returns: whether to report that the connection has taken all of the recording.
    func noteComplete(_ journalByteCount: Int) -> Bool {
        let body = max(0, journalByteCount - bodyOffset)
        // Sequentially consistent, as in `noteSent`: one of two threads sees both counts.
        bodyByteCount.store(body, ordering: .sequentiallyConsistent)
        return isFirstWhole(sentByteCount.load(ordering: .sequentiallyConsistent), of: body)
    }

    func noteAttempt() {
        sentByteCount.store(0, ordering: .sequentiallyConsistent)
        hasToldWhole.store(false, ordering: .relaxed)
    }

    func sentByteCount(adding byteCount: Int) -> Int {
        sentByteCount.add(byteCount, ordering: .sequentiallyConsistent).newValue
    }

    /// Bytes of the body that the present attempt's connection has taken.
    ///
    /// - Returns: whether to report progress of a complete recording, and whether that was all of
    ///   it.
    func noteSent(
        _ byteCount: Int, at elapsed: Duration? = nil
    ) -> (isDue: Bool, isWhole: Bool) {
        sentByteCount.store(byteCount, ordering: .sequentiallyConsistent)
        let body = bodyByteCount.load(ordering: .sequentiallyConsistent)
        guard body >= 0, byteCount > 0 else { return (false, false) }
        return (byteCount >= body || isDue(at: elapsed), isFirstWhole(byteCount, of: body))
    }

    private func isFirstWhole(_ byteCount: Int, of body: Int) -> Bool {
        guard byteCount > 0, byteCount >= body else { return false }
        return !hasToldWhole.exchange(true, ordering: .relaxed)
    }

    func progress(of journal: Journal) -> TakeProgress {
        TakeProgress(
            elapsed: account.length, level: account.level,
            journaledByteCount: journal.writtenByteCount,
            bodyByteCount: max(0, journal.byteCount - bodyOffset),
            sentByteCount: sentByteCount.load(ordering: .relaxed), isComplete: journal.isSealed)
    }
}

extension CaptureAccount {
    /// The length of the recording, with lost frames.
    var length: Duration { StreamFormat.speech.duration(ofFrames: capturedFrames + gapFrames) }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
