// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import Capture
internal import SpeechService
internal import TakeStore
internal import Upload

/// How far a running take has come at each of its stages.
///
/// A value: `TakeRun` guards it.
struct TakeState {
    /// The least time between two reports of progress that no period of audio brings.
    static let progressInterval = Duration.milliseconds(50)

    /// Decides what follows each transfer.
    var delivery: Delivery
    /// The latest transfer.
    var transfer: TransferID?
    /// Whether the next transfer begins with the seal.
    var awaitsSeal = false
    /// Whether a transfer has begun, or waits to begin, and has not ended.
    var isTransferring = false
    /// The transfers that have ended.
    var attempts: [TakeAttempt] = []
    /// The audio, once there is a place for it.
    var journal: Journal?
    /// The file of a kept take that travels in another form than it is kept in.
    var audioPath: String?
    /// Folder and manifest, when the take is kept on the disk.
    var record: TakeRecord?
    /// How safe the take is on the disk.
    var protection = Protection()
    /// How the recording ended, once it has.
    var captureEnd: CaptureEnd?
    /// What the journal holds, once it is complete.
    var seal: JournalSeal?
    /// When that was.
    var sealedAt: ContinuousClock.Instant?
    /// The SHA-256 of the body, once somebody needs it.
    var bodyDigest: String?
    /// What became of the transfers, once that is settled.
    var delivered: Result<Transcript, TakeFailure>?
    /// When that was.
    var answeredAt: ContinuousClock.Instant?
    /// When the progress of sending what has been recorded is told again.
    var nextProgress = ContinuousClock.now
    /// Whether somebody has begun to end the take.
    var isEnding = false

    init(delivery: Delivery) { self.delivery = delivery }

    /// What the take ends with, once recording, journal and delivery have all ended.
    ///
    /// The last transfer too, though nobody wants it any more: the account tells what it sent.
    var complete: (Result<Transcript, TakeFailure>, CaptureEnd)? {
        guard let captureEnd, let delivered, seal != nil, !isTransferring else { return nil }
        return (delivered, captureEnd)
    }

    /// Whether it is told now how much of a complete recording has been sent: often enough for
    /// eyes, and when it is all of it.
    ///
    /// While the journal grows, its thread tells.
    mutating func tellsProgress(
        sent: Int, of body: Int, at now: ContinuousClock.Instant
    ) -> Bool {
        guard seal != nil, now >= nextProgress || sent >= body else { return false }
        nextProgress = now + Self.progressInterval
        return true
    }

    /// Sums the take up.
    func outcome(
        of id: TakeID, _ result: Result<Transcript, TakeFailure>, capture end: CaptureEnd,
        _ account: CaptureAccount, bodyOffset: Int
    ) -> TakeOutcome {
        var delay: Duration?
        if case .success = result, let answeredAt, let sealedAt { delay = answeredAt - sealedAt }
        let last = attempts.last?.result
        var answeredAfter: Duration?
        let bodyByteCount = (journal?.byteCount ?? 0) - bodyOffset
        if case .success = result, let last, !last.isBodyComplete, bodyByteCount > 0 {
            let share = Double(last.sentByteCount) / Double(bodyByteCount)
            answeredAfter =
                StreamFormat.speech.duration(ofFrames: account.encodedFrames) * share
        }
        return TakeOutcome(
            id: id, result: result, capture: end,
            account: TakeAccount(account, seal, bodyOffset: bodyOffset, attempts.last),
            attempts: attempts, takenCount: delivery.takenCount,
            audioPath: audioPath ?? journal?.path,
            unprotected: protection.unprotected, cutShort: protection.endReason,
            notices: protection.notices, peakDecibels: account.peak?.peakDecibels,
            answeredAfter: answeredAfter, answerDelay: delay)
    }
}
