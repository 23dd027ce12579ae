// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import Capture
internal import Synchronization
internal import TakeStore

// How far a take has come, as its loops see it.
extension TakeRun {
    /// Bytes that wait so long for the disk are reported.
    static let longDiskWait = Duration.seconds(2)

    /// On the transfer thread, every period.
    func didGrow() {
        reportAwaited()
        guard meter.isDue() else { return }
        // The thread that waits for the disk cannot say so.
        if let journal, meter.wait(of: journal) >= Self.longDiskWait { reportSlowDisk() }
        record?.writeAgain()
        tellLimit()
        tellProgress()
    }

    /// Looks, `longDiskWait` after the end, whether the disk has taken the last bytes; on the capture
    /// thread.
    func lookAfterEnd() {
        if let journal, !journal.isSealed { reportSlowDisk() }
    }

    private func reportSlowDisk() {
        journal?.note(slow: Self.longDiskWait)
        reportJournal()
    }

    /// A request waits for so many bytes of the journal; from any thread.
    func await(byteCount: Int) {
        awaitedByteCount.store(byteCount, ordering: .sequentiallyConsistent)
        reportAwaited()
    }

    private func reportAwaited() {
        let awaited = awaitedByteCount.load(ordering: .sequentiallyConsistent)
        guard awaited < .max, let byteCount = journal?.byteCount, byteCount >= awaited,
            awaitedByteCount.compareExchange(
                expected: awaited, desired: .max, ordering: .sequentiallyConsistent
            ).exchanged
        else { return }
        handle(.grew(byteCount: byteCount))
    }

    /// On the capture thread.
    func follow(_ event: CaptureEvent, of source: String) {
        switch event {
        case .late: tell(.opening(source: source))
        case .opened(let format, let details):
            tell(.listening(source: source, format: format))
            if let details { tell(.negotiated(details)) }
        case .signal(let state): tell(.signal(state))
        case .lost(let frames): tell(.lost(StreamFormat.speech.duration(ofFrames: frames)))
        case .quiet: tell(.quiet)
        case .began:
            handle(.began)
            tell(.began(after: meter.elapsed))
        case .resumed: handle(.resumed)
        case .paused(let frame): handle(.paused(frame: frame))
        case .ended(let end):
            if let limit, end.cause == .limitReached { tell(.noticed(.limitReached(limit))) }
            handle(.captured(end, isEmpty: account.capturedFrames == 0))
            checkLimits()
        }
    }

    /// Reports once that the service's longest recording is nearly reached.
    private func tellLimit() {
        guard let limit else { return }
        let rest = limit - StreamFormat.speech.duration(ofFrames: account.encodedFrames)
        guard rest <= DeliveryPlan.limitWarning, meter.isFirstOfLimit() else { return }
        // A limit so short leaves no time to warn.
        if limit > DeliveryPlan.limitWarning {
            tell(.noticed(.limitNear(rest: rest, limit: limit)))
        }
    }

    /// Breaks off the delivery of a recording that the service does not take, before a request can end
    /// with it: what has ended is recognised, and billed.
    private func checkLimits() {
        if let failure = plan.limitFailure(
            frames: account.encodedFrames, byteCount: account.encodedBytes)
        {
            handle(.unsendable(failure))
        }
    }

    /// On the thread that has sealed the journal, or on the sync thread after a failure.
    func didComplete() {
        let isSent = meter.noteComplete(journal?.byteCount ?? 0)
        // The outcome says of a write that failed just now that the take is not safe.
        reportJournal()
        tellProgress()
        if isSent { tell(.sent) }
    }

    /// On the sync thread.
    func didTend() {
        reportJournal()
        warnOfLength()
        record?.unlockOnceSettled()
    }

    /// Only of a take that fills a tenth of the spool by itself: what others hold was asked at its start.
    private func warnOfLength() {
        guard let journal, let spool = pipeline.spool, record != nil, !journal.isSealed,
            journal.byteCount > spool.rules.limits.bytes / 10,
            // It is open: the take is in it.
            let near = try? spool.rules.nearness(of: spool.store(), recording: journal.byteCount)
        else { return }
        handle(.protection(.spoolNearlyFull(near.warning)))
    }

    /// Counts bytes of requests that each send a part; below 0 for those sent for nothing.
    func didSend(more byteCount: Int) { didSend(byteCount: meter.sentByteCount(adding: byteCount)) }

    /// On the transfer thread; only once the journal is complete, before that its thread reports.
    func didSend(byteCount: Int) {
        let (isDue, isWhole) = meter.noteSent(byteCount)
        if isDue { tellProgress() }
        if isWhole { tell(.sent) }
    }

    private func reportJournal() {
        if let journal { handle(.protection(.journal(journal.condition))) }
    }

    private func tellProgress() {
        guard plan.reportsProgress, let journal else { return }
        var progress = meter.progress(of: journal)
        progress.isEnding = control.isStopRequested && !progress.isComplete
        tell(.progress(progress))
    }
}
