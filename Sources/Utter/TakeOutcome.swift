// SPDX-License-Identifier: Apache-2.0

public import AudioCapture
public import ChunkedUpload
public import SpeechService
public import TakeStore

/// How a take ended, and the account of every sample.
public struct TakeOutcome: Sendable {
    /// The take's name.
    public var id: TakeID
    /// What was understood, or why nothing was.
    public var result: Result<Transcript, TakeFailure>
    /// How the recording ended.
    public var capture: CaptureEnd
    /// What was captured, encoded, stored and sent.
    public var account: TakeAccount
    /// Every transfer, in order.
    public var attempts: [TakeAttempt]
    /// How many attempts the service may have taken whole, those of earlier runs included: they
    /// were sent to the end, and the answer was a good one or never came.
    public var takenCount: Int
    /// The file that holds the audio, or nil when it lives in memory only.
    public var audioPath: String?
    /// Why the take is not safe on the disk, or nil when it is.
    public var unprotected: String?
    /// Why the recording had to end before anybody wanted it to, or nil when it had not.
    ///
    /// What was captured until then was sent.
    public var cutShort: String?
    /// What the disk did meanwhile, in order; at most the newest 100.
    public var notices: [TakeNotice]
    /// From the end of the recording to the complete answer; nil without an answer.
    public var answerDelay: Duration?
}

extension TakeOutcome {
    /// Whether the service may have had the whole take more than once.
    public var mayBeDoubled: Bool { takenCount > 1 }

    /// What is wrong with the take's account, or nil when every sample is accounted for.
    public var imbalance: String? {
        var circumstances = TakeAccount.Circumstances()
        if !capture.gaps.isEmpty {
            circumstances.listedGapFrames = capture.gaps.reduce(0) { $0 + $1.frames }
        }
        circumstances.isEncodedWhole = capture.cause != .cancelled
        if case .encoder = capture.cause { circumstances.isEncodedWhole = false }
        switch result {
        case .failure(.journal), .failure(.left): circumstances.isJournaledWhole = false
        case .failure: break
        case .success:
            circumstances.isSentWhole = attempts.last?.result.isBodyComplete ?? false
        }
        // What had no room any more ended the recording.
        if cutShort != nil { circumstances.isJournaledWhole = false }
        return account.imbalance(circumstances)
    }

    /// Whether nobody can know if the service has the take: it was sent whole, and no answer
    /// came that could be read.
    public var isUnknown: Bool {
        guard case .failure(let failure) = result, takenCount > 0 else { return false }
        return failure.leavesOutcomeOpen
    }
}

/// One transfer of a take.
public struct TakeAttempt: Sendable {
    /// Its number, from 1, as the request has named it; earlier runs have made those before.
    public var number: Int
    /// Where it went, without query.
    public var url: String
    /// How it ended.
    public var result: TransferResult
}
