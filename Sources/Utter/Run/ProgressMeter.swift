// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import Capture
internal import Synchronization
internal import TakeStore

/// Counts how far a take has come, and decides when that is looked at: ten times a second at most.
///
/// Usable from any thread, without a lock.
final class ProgressMeter: Sendable {
    static let interval = Duration.milliseconds(100)

    private let account: CaptureAccount
    private let bodyOffset: Int
    let began = ContinuousClock.now
    private let sentByteCount = Atomic(0)
    /// The body's length once it is known, -1 before.
    private let bodyByteCount = Atomic(-1)
    /// In nanoseconds since the take began.
    private let nextLook = Atomic(Int64.min)
    /// Whether it was told that the present attempt has the whole body.
    private let hasToldWhole = Atomic(false)
    private let hasToldLimit = Atomic(false)

    init(of account: CaptureAccount, bodyOffset: Int) {
        self.account = account
        self.bodyOffset = bodyOffset
    }

    var elapsed: Duration { .now - began }

    /// Whether it is time to look, which begins the next interval.
    ///
    /// For the first that asks; also between two threads.
    func isDue(at elapsed: Duration? = nil) -> Bool {
        let now = (elapsed ?? self.elapsed).nanoseconds
        let due = nextLook.load(ordering: .relaxed)
        guard now >= due else { return false }
        return nextLook.compareExchange(
            expected: due, desired: now + Self.interval.nanoseconds, ordering: .relaxed
        ).exchanged
    }

    /// Whether the service's limit was not told yet; on the journal thread.
    func isFirstOfLimit() -> Bool { !hasToldLimit.exchange(true, ordering: .relaxed) }

    /// The recording is complete.
    ///
    /// - Returns: whether to tell that the connection has taken all of it.
    func noteComplete(_ journalByteCount: Int) -> Bool {
        let body = max(0, journalByteCount - bodyOffset)
        // Sequentially consistent, as in `noteSent`: one of two threads sees both counts.
        bodyByteCount.store(body, ordering: .sequentiallyConsistent)
        return isFirstWhole(sentByteCount.load(ordering: .sequentiallyConsistent), of: body)
    }

    /// Another attempt begins, which has sent nothing.
    func noteAttempt() {
        sentByteCount.store(0, ordering: .sequentiallyConsistent)
        hasToldWhole.store(false, ordering: .relaxed)
    }

    /// The connection of the present attempt has taken so many bytes of the body.
    ///
    /// - Returns: whether to tell how far it is: of a complete recording, when that is due, and
    ///   when it was all; and whether to tell that it was all.
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
            elapsed: length, level: account.level, journaledByteCount: journal.byteCount,
            bodyByteCount: max(0, journal.byteCount - bodyOffset),
            sentByteCount: sentByteCount.load(ordering: .relaxed), isComplete: journal.isSealed)
    }

    private var length: Duration {
        StreamFormat.speech.duration(ofFrames: account.capturedFrames + account.gapFrames)
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
