// SPDX-License-Identifier: Apache-2.0

internal import Capture
internal import SpeechService
internal import TakeStore

extension TakeMachine {
    enum Event: Sendable {
        /// A journal on the disk or in memory; the exchange begins with what the disk knows of the
        /// service.
        case opened((any Exchange)?)
        /// There is no journal yet, after this time.
        case diskIsSlow(Duration)
        case began
        /// No more audio is captured; `isEmpty` without any.
        case captured(CaptureEnd, isEmpty: Bool)
        /// The journal holds all captured audio, or as much as there was room for.
        case sealed(JournalSeal)
        case noted(part: Int)
        case connected(part: Int)
        /// An interim answer to a request says where its upload can be gone on with.
        case learned(part: Int, AnswerHead)
        case heard(part: Int, Transcript)
        case ended(part: Int, Reply)
        case digested(part: Int, String?)
        /// A change of how safe the take is.
        case protection(Protection.Report)
        case full
        case unsendable(TakeFailure)
        /// The exchange begins with the secrets; the failure says why they cannot be had.
        case secrets(Swift.Result<any Exchange, TakeFailure>)
        /// Ends the recording; the answer is wanted.
        case stop
        /// The recording goes on after all.
        case resume
        case resumed
        /// The service has found the end by itself.
        case heardEnd
        case cancel
        /// The take is delivered another time.
        case leave
        /// Nothing can be recorded.
        case unrecordable(TakeFailure, CaptureEnd)
        /// The loops have ended: no event follows.
        case abandoned
    }

    /// Carried out in order.
    enum Action: Sendable {
        /// Note the beginning of a request on the disk, then report `noted`.
        case note(part: Int, ExchangeRequest)
        case start(part: Int, ExchangeRequest, Pause)
        /// End the pause before a part's request, except for what the service asked for.
        case hurry(part: Int)
        case breakOff(part: Int)
        /// Ask for the secrets, then report `secrets`; again if the service has refused them.
        case ask(after: TakeFailure?)
        /// Compute a part's digest, then report `digested`.
        case digest(part: Int)
        case rememberLength
        case endCapture(CaptureStop)
        /// Resume the recording, if its tail is not over; then report `resumed`.
        case resumeCapture
        /// Note the end of an attempt, with the next write.
        case saveAttempt(TakeAttempt)
        /// Note the progress of a job, with the next write.
        case saveProgress(ExchangeProgress?)
        /// The audio is complete; `isSending`: on its way.
        case saveSeal(JournalSeal, isWhole: Bool, isSending: Bool)
        /// Write everything again: the place may be a new one.
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
        /// Nil when the journal was never sealed.
        var seal: JournalSeal?
        /// From the end of the recording to the last answer; nil without one.
        var answerDelay: Duration?
    }
}

/// A range of a take's journal, its exchange, and the result.
struct TakePart: Sendable {
    typealias Result = Swift.Result<Transcript, TakeFailure>

    enum Delivery: Sendable {
        enum Wait { case journal, seal, secrets }

        case waiting(for: Wait)
        /// The next request is being noted, and begins after the pause.
        case noting(Pause)
        /// Under way, or in its pause.
        case sending(ExchangeRequest, Pause)
        /// A request is being noted that will not begin.
        case withdrawing(Result)
        /// A request is being broken off; its end is awaited.
        case breakingOff(ExchangeRequest, Result)
        case done(Result)
    }

    /// In bytes of the journal; the part ends with the journal.
    let start: Int
    var exchange: any Exchange
    var delivery = Delivery.waiting(for: .journal)
    var transcript = Transcript()
    /// Since the take began.
    var resultAt: Duration?
    /// `Content-Digest`, once it is known.
    var digest: String?
    /// Known, or being computed.
    var isDigested = false

    init(start: Int, exchange: any Exchange, digest: String? = nil) {
        self.start = start
        self.exchange = exchange
        (self.digest, isDigested) = (digest, digest != nil)
    }

    /// Replaces what a service has said, but not what the person wanted.
    mutating func overrule(by failure: TakeFailure) {
        guard case .done(let result) = delivery else { return }
        if case .failure(let before) = result, before.isUnwanted || before == .left { return }
        delivery = .done(.failure(failure))
    }
}
