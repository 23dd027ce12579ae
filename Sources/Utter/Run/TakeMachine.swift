// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import Capture
internal import LinuxPlatform
internal import SpeechService
internal import TakeStore
internal import Upload

/// One take from its first sample to its outcome: told what has happened, it says what to do.
///
/// Pure. Two things go on side by side, the recording and the delivery of each part of it:
///
/// ```
/// phase      recording ──captured──▶ sealing ──sealed──▶ delivering ──all parts done──▶ settled
///
/// delivery   waiting ──opened, sealed──▶ noting ──noted──▶ sending ──ended──▶ done
///                                           ▲                  │
///                                           └──one more request┘
///            cancel, leave, and what makes a delivery pointless:
///            waiting ──▶ done     noting ──▶ withdrawing ──noted──▶ done
///                                 sending ──▶ breakingOff ──ended──▶ done
/// ```
///
/// A request is written down before it begins, so that a program that is killed leaves no attempt
/// unmarked; a body ends only while its part is `sending`. The first result of a part is its result.
/// The take settles once, when the journal is sealed and every part is done.
struct TakeMachine: Sendable {
    enum Phase: Sendable {
        case recording
        /// No more audio is captured; the ring goes into the journal.
        case sealing(CaptureEnd)
        /// Answers are awaited.
        case delivering(Recorded)
        case settled
    }

    struct Recorded: Sendable {
        var end: CaptureEnd
        var seal: JournalSeal
        /// Since the take began.
        var instant: Duration
    }

    typealias Result = TakePart.Result

    private(set) var phase = Phase.recording
    var parts: [TakePart]
    private(set) var attempts: [TakeAttempt] = []
    private(set) var protection = Protection()
    /// The recording ends, and no person can change that.
    private var isEndFinal = false
    private var hasJournal = false
    /// There may be something to send.
    private var hasSound = true
    /// No request begins before they are known.
    var secrets = Secrets.known
    var actions: [Action] = []

    /// A new recording.
    ///
    /// `awaitsSound`: no request begins before the first sample, so that silence is not billed.
    /// `wantsSecrets`: none begins before they are known.
    init(parts: [TakePart], awaitsSound: Bool = false, wantsSecrets: Bool = false) {
        self.parts = parts
        hasSound = !awaitsSound
        if wantsSecrets { secrets = .wanted }
    }

    /// A recording of an earlier run, whose digests are known.
    init(parts: [TakePart], recorded: JournalSeal, wantsSecrets: Bool = false) {
        self.parts = parts
        if wantsSecrets { secrets = .wanted }
        phase = .delivering(
            Recorded(end: CaptureEnd(cause: .finished), seal: recorded, instant: .zero))
    }

    /// - Returns: what to do, in order.
    mutating func handle(_ event: Event, at now: Moment) -> [Action] {
        if case .settled = phase { return [] }
        actions = []
        switch event {
        case .opened(let exchange):
            hasJournal = true
            if let exchange { parts[0].exchange = exchange }
            if isSealed { ask() }
            beginAll()
        case .began:
            ask()
            noteSound()
        case .captured(let end, let isEmpty): capture(end, isEmpty: isEmpty, now)
        case .sealed(let seal): complete(seal, now)
        case .noted(let index): note(index)
        case .connected(let index):
            actions.append(.tell(.connected(attempt: parts[index].exchange.request.number)))
        case .learned(let index, let head): learn(index, head)
        case .heard(let index, let words): hear(index, words)
        case .ended(let index, let reply): end(index, reply, now)
        case .digested(let index, let digest):
            (parts[index].digest, parts[index].isDigested) = (digest, digest != nil)
        case .protection(let report): protect(report)
        case .diskIsSlow(let wait):
            if !hasJournal { protect(.slowFolder(wait)) }
        case .full:
            protect(.full)
            endCapture(.withTail)
        case .unsendable(let failure): concludeAll(failure, now)
        case .secrets(let answer): take(answer, now)
        case .stop: actions.append(.endCapture(.withTail))
        case .heardEnd: endCapture(.withTail)
        case .resume:
            if isRecording, !isEndFinal { actions.append(.resumeCapture) }
        case .resumed: actions.append(.tell(.resumed))
        case .cancel: giveUp(.cancelled, .cancelled, now)
        case .leave: giveUp(.left, .withoutTail, now)
        case .unrecordable(let failure, let end): settle(.failure(failure), end)
        case .abandoned: settle(.failure(.left), CaptureEnd(cause: .cancelled))
        }
        settleIfComplete()
        return actions
    }

    // MARK: - What is asked for now

    /// Whether the body of a part may end: what ends is recognised, and billed.
    func isWanted(_ index: Int) -> Bool {
        if case .settled = phase { return false }
        if case .sending = parts[index].delivery { return true }
        return false
    }

    private var transcript: Transcript {
        parts.dropFirst().reduce(into: parts[0].transcript) { $0.append($1.transcript) }
    }

    var isRecording: Bool { if case .recording = phase { true } else { false } }
    private var isSealed: Bool { if case .delivering = phase { true } else { false } }

    // MARK: - The recording

    private mutating func capture(_ end: CaptureEnd, isEmpty: Bool, _ now: Moment) {
        guard isRecording else { return }
        phase = .sealing(end)
        actions.append(.tell(.captured(end)))
        // What never began has nothing to be sent.
        switch end.cause {
        case .source(let error) where isEmpty:
            concludeAll(.capture(error), now)
            // A service that has answered already was sent nothing.
            for index in parts.indices { parts[index].overrule(by: .capture(error)) }
        case .encoder(let error) where isEmpty: concludeAll(.encoding(error), now)
        case .tooShort(let frames):
            concludeAll(.tooShort(StreamFormat.speech.duration(ofFrames: frames)), now)
        default: break
        }
        ask()
        noteSound()
    }

    private mutating func noteSound() {
        guard !hasSound else { return }
        hasSound = true
        beginAll()
    }

    private mutating func complete(_ seal: JournalSeal, _ now: Moment) {
        guard case .sealing(let end) = phase else { return }
        phase = .delivering(Recorded(end: end, seal: seal, instant: now.elapsed))
        if let loss = seal.loss, seal.byteCount <= parts[0].start {
            concludeAll(.journal(reason: loss.description), now)
        }
        let isSending = parts.indices.contains { isUndecided($0) }
        actions.append(.saveSeal(seal, isWhole: end.isWhole, isSending: isSending))
        for index in parts.indices {
            // What is awaited by a person does not wait for a pause that was made for a speaker.
            switch parts[index].delivery {
            case .waiting(.seal): begin(index)
            case .noting(let pause), .sending(_, let pause):
                guard pause.isForSpeaker else { break }
                if let cause = pause.cause, now.elapsed < pause.waitableFrom {
                    conclude(index, .failure(cause.naming(wait: pause.atLeast)), now)
                } else if case .sending = parts[index].delivery {
                    actions.append(.hurry(part: index))
                }
            default: break
            }
            if parts[index].exchange.request.number > 1 { digest(index) }
        }
    }

    // MARK: - The delivery of a part

    /// Begins what waits for the journal or the secrets, once they are there.
    mutating func beginAll() {
        guard hasJournal, hasSound, secrets.areKnown else { return }
        for index in parts.indices {
            switch parts[index].delivery {
            case .waiting(.journal), .waiting(.secrets): begin(index)
            default: break
            }
        }
    }

    /// Notes the next request, unless its length is not known yet.
    private mutating func begin(_ index: Int, after pause: Pause = Pause()) {
        let request = parts[index].exchange.begin(isComplete: isSealed)
        guard isSealed || !request.saysLength else {
            return parts[index].delivery = .waiting(for: .seal)
        }
        parts[index].delivery = .noting(pause)
        actions.append(.note(part: index, request))
    }

    private mutating func note(_ index: Int) {
        switch parts[index].delivery {
        case .noting(let pause):
            // The recording may have ended meanwhile.
            let request = parts[index].exchange.begin(isComplete: isSealed)
            let rest = isSealed ? pause.hurried : pause
            parts[index].delivery = .sending(request, rest)
            actions.append(.start(part: index, request, rest))
        case .withdrawing(let result):
            save(parts[index].exchange.request, .unstarted(.cancelled))
            parts[index].delivery = .done(result)
        case .waiting, .sending, .breakingOff, .done: break
        }
    }

    private mutating func learn(_ index: Int, _ head: AnswerHead) {
        guard case .sending = parts[index].delivery else { return }
        let before = parts[index].exchange.progress
        parts[index].exchange.learn(from: head)
        guard parts[index].exchange.progress != before else { return }
        saveProgress(of: index, unless: before)
        actions.append(.saveAgain)
    }

    private mutating func hear(_ index: Int, _ words: Transcript) {
        guard case .sending = parts[index].delivery else { return }
        parts[index].transcript = words
        actions.append(.tell(.heard(transcript)))
    }

    private mutating func end(_ index: Int, _ reply: Reply, _ now: Moment) {
        let before = parts[index].exchange.progress
        switch parts[index].delivery {
        case .sending(let request, _):
            save(request, reply.result)
            parts[index].transcript = reply.transcript
            let step = parts[index].exchange.next(
                after: reply, isSpeaking: isRecording, at: now)
            saveProgress(of: index, unless: before)
            follow(index, step, reply, now)
        case .breakingOff(let request, let result):
            save(request, reply.result)
            parts[index].exchange.record(reply.result)
            saveProgress(of: index, unless: before)
            parts[index].delivery = .done(result)
        case .waiting, .noting, .withdrawing, .done: return
        }
        if parts[index].exchange.needsLength { actions.append(.rememberLength) }
    }

    private mutating func saveProgress(of index: Int, unless before: ExchangeProgress?) {
        let progress = parts[index].exchange.progress
        if progress != before { actions.append(.saveProgress(progress)) }
    }

    private mutating func follow(
        _ index: Int, _ step: ExchangeStep, _ reply: Reply, _ now: Moment
    ) {
        switch step {
        case .answered:
            // A service that finds the end by itself has heard enough: what is said now would go
            // nowhere.
            if isRecording { endCapture(.withTail) }
            decide(index, .success(reply.transcript), now)
        case .answeredInPart:
            tellEarlyAnswer(reply.result, isResent: false)
            decide(index, .success(reply.transcript), now)
        case .request(let pause) where pause.isOfNextStep:
            begin(index, after: pause)
        case .request(let pause):
            if let cause = pause.cause {
                actions.append(.tell(.interrupted(cause, pause: pause.duration)))
            }
            if pause.isForLength { tellEarlyAnswer(reply.result, isResent: true) }
            let next = parts[index].exchange.request
            actions.append(.tell(.resending(attempt: next.number, url: next.shownURL)))
            digest(index)
            begin(index, after: pause)
        case .failed(let failure):
            guard !askAgain(for: index, after: failure) else { return }
            if isRecording { actions.append(.tell(.refused(failure))) }
            decide(index, .failure(failure), now)
        }
    }

    private mutating func decide(_ index: Int, _ result: Result, _ now: Moment) {
        parts[index].delivery = .done(result)
        parts[index].resultAt = now.elapsed
    }

    /// Sets the result of a part, whatever its request does; the first result counts.
    private mutating func conclude(_ index: Int, _ result: Result, _ now: Moment) {
        switch parts[index].delivery {
        case .waiting: parts[index].delivery = .done(result)
        case .noting: parts[index].delivery = .withdrawing(result)
        case .sending(let request, _):
            parts[index].delivery = .breakingOff(request, result)
            actions.append(.breakOff(part: index))
        case .withdrawing, .breakingOff, .done: return
        }
        parts[index].resultAt = now.elapsed
    }

    mutating func concludeAll(_ failure: TakeFailure, _ now: Moment) {
        for index in parts.indices { conclude(index, .failure(failure), now) }
    }

    func isUndecided(_ index: Int) -> Bool { parts[index].resultAt == nil }

    /// For the next request of a complete part.
    mutating func digest(_ index: Int) {
        guard isSealed, !parts[index].isDigested else { return }
        parts[index].isDigested = true
        actions.append(.digest(part: index))
    }

    private mutating func save(_ request: ExchangeRequest, _ result: TransferResult) {
        guard !request.isForToken else { return }
        let attempt = TakeAttempt(
            number: request.number, url: request.shownURL, result: result,
            carriesRecording: request.carriesRecording)
        // Of a question that is asked again and again the last counts.
        if let last = attempts.last, last.number == attempt.number { attempts.removeLast() }
        attempts.append(attempt)
        actions.append(.saveAttempt(attempt))
    }

    private mutating func tellEarlyAnswer(_ result: TransferResult, isResent: Bool) {
        actions.append(
            .tell(
                .answeredEarly(
                    status: result.status ?? 0, sentByteCount: result.sentByteCount,
                    isResent: isResent)))
    }

    // MARK: - The take

    /// Breaks the delivery off before the recording ends: a body that is sealed first might be sent
    /// to its end, and recognised for nothing.
    private mutating func giveUp(_ failure: TakeFailure, _ stop: CaptureStop, _ now: Moment) {
        concludeAll(failure, now)
        endCapture(stop)
    }

    private mutating func endCapture(_ stop: CaptureStop) {
        isEndFinal = true
        actions.append(.endCapture(stop))
    }

    private mutating func protect(_ report: Protection.Report) {
        for notice in protection.take(report) {
            actions.append(.tell(.noticed(notice)))
            // The file may be a new one, in a new folder.
            if notice == .protectedAgain { actions.append(.saveAgain) }
        }
    }

    private mutating func settleIfComplete() {
        guard case .delivering(let recorded) = phase else { return }
        var failure: TakeFailure?
        for part in parts {
            guard case .done(let result) = part.delivery else { return }
            if case .failure(let reason) = result { failure = failure ?? reason }
        }
        settle(failure.map { .failure($0) } ?? .success(transcript), recorded.end)
    }

    private mutating func settle(_ result: Result, _ end: CaptureEnd) {
        var ending = Ending(result: result, capture: end)
        if case .delivering(let recorded) = phase {
            ending.seal = recorded.seal
            if case .success = result {
                ending.answerDelay = parts.compactMap(\.resultAt).max().map {
                    $0 - recorded.instant
                }
            }
        }
        phase = .settled
        actions.append(.settle(ending))
    }
}
