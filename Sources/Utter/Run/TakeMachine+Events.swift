// SPDX-License-Identifier: Apache-2.0

internal import Capture
internal import SpeechService
internal import TakeStore

extension TakeMachine {
    enum Event: Sendable {
        /// There is a journal, on the disk or in memory; the disk knows of the service what this exchange
        /// begins with.
        case opened((any Exchange)?)
        /// There is no journal yet, so long after the beginning.
        case diskIsSlow(Duration)
        case began
        /// No more audio is captured; `isEmpty` if none was.
        case captured(CaptureEnd, isEmpty: Bool)
        /// The journal holds all that was captured, or as much as there was room for.
        case sealed(JournalSeal)
        case noted(part: Int)
        case connected(part: Int)
        case heard(part: Int, Transcript)
        case ended(part: Int, Reply)
        case digested(part: Int, String?)
        /// The take is safe on the disk, or not, or damaged.
        case protection(Protection.Report)
        case full
        case unsendable(TakeFailure)
        /// The secrets are known, with which this exchange begins; or they cannot be had.
        case secrets(Swift.Result<any Exchange, TakeFailure>)
        /// The recording shall end; the answer is wanted.
        case stop
        /// The recording shall go on after all.
        case resume
        case resumed
        /// The service has found the end by itself.
        case heardEnd
        case cancel
        /// The take shall be delivered another time.
        case leave
        /// Nothing can be recorded.
        case unrecordable(TakeFailure, CaptureEnd)
        /// The loops have ended: no event follows.
        case abandoned
    }

    /// What to do, in this order.
    enum Action: Sendable {
        /// Write down that a request is about to begin, then say `noted`.
        case note(part: Int, ExchangeRequest)
        case start(part: Int, ExchangeRequest, Pause)
        /// End the pause of a part's request, as far as it is the speaker's.
        case hurry(part: Int)
        case breakOff(part: Int)
        /// Ask for the secrets, then say `secrets`; once more if the service has refused them.
        case ask(after: TakeFailure?)
        /// Compute the digest of a part, then say `digested`.
        case digest(part: Int)
        case rememberLength
        case endCapture(CaptureStop)
        /// Go on with the recording, if its tail is not over; then say `resumed`.
        case resumeCapture
        /// Write down how an attempt ended, with what is written next.
        case saveAttempt(TakeAttempt)
        /// Write down how far a job has come, with what is written next.
        case saveProgress(ExchangeProgress?)
        /// Write down that the audio is complete, and whether it is on its way.
        case saveSeal(JournalSeal, isWhole: Bool, isSending: Bool)
        /// Write everything once more: the place may be a new one.
        case saveAgain
        case tell(TakeEvent)
        case settle(Ending)
    }

    enum CaptureStop { case withTail, withoutTail, cancelled }
}

extension TakeMachine {
    struct Ending: Sendable {
        /// What was understood, or why nothing was.
        var result: Result
        var capture: CaptureEnd
        /// What the journal holds; nil when it was never sealed.
        var seal: JournalSeal?
        /// From the end of the recording to the last answer; nil without one.
        var answerDelay: Duration?
    }
}
