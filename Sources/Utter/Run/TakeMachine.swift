// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import Capture
internal import LinuxPlatform
internal import SpeechService
internal import TakeStore
internal import Upload

/// A take from its first sample to its outcome: told what has happened, it says what to do.
///
/// Pure. Two things go on side by side, the recording and its delivery, which has a lane for each
/// request that may be under way:
///
/// ```
/// phase  recording ──captured──▶ sealing ──sealed──▶ delivering ──all lanes done──▶ settled
///
/// lane   waiting ──opened, grown, sealed──▶ noting ──noted──▶ sending ──ended──▶ idle, done
///        awaitingToken ──another ended────▶
///                                              ▲                  │
///                                              └──one more request┘
///        cancel, leave, and what makes a delivery pointless:
///        waiting, idle ──▶ done     noting ──▶ withdrawing ──noted──▶ done
///                                   sending ──▶ breakingOff ──ended──▶ done
/// ```
///
/// A request is noted in the ring or on the disk before it begins, so that a program that is killed
/// leaves no attempt unmarked; a body ends only while its lane is `sending`. The first result counts.
/// The take settles once, when the journal is sealed and every lane is done.
struct TakeMachine: Sendable {
    enum Phase: Sendable {
        case recording
        /// No more audio is captured since that moment; the ring goes into the journal.
        case sealing(CaptureEnd, since: Duration)
        case delivering(Recorded)
        case settled
    }

    struct Recorded: Sendable {
        var end: CaptureEnd
        var seal: JournalSeal
        /// When the recording ended, since the take began.
        var endedAt: Duration
    }

    typealias Result = TakeDelivery.Result

    private(set) var phase = Phase.recording
    var delivery: TakeDelivery
    private(set) var attempts: [TakeAttempt] = []
    var protection = Protection()
    /// The recording ends, and no person can change that.
    private var isEndFinal = false
    /// The take has its place on the disk or in memory; the disk is late with it, and not waited for.
    var (isOpened, isDiskLate) = (false, false)
    private var (savedProgress, savedTraits) = (nil as ExchangeProgress?, ServiceTraits())
    private var hasSound = true
    /// The frame at which the recording pauses; nil while it goes on.
    var pausedAt: Int?
    /// That pause lasts for longer than a request should wait for sound.
    var isResting = false
    var secrets = Secrets.known
    var actions: [Action] = []

    /// A new recording.
    ///
    /// `awaitsSound`: no request begins before the first sample, so that silence is not billed.
    /// `wantsSecrets`: none begins before they are known.
    init(_ delivery: TakeDelivery, awaitsSound: Bool = false, wantsSecrets: Bool = false) {
        self.delivery = delivery
        hasSound = !awaitsSound
        if wantsSecrets { secrets = .wanted }
    }

    init(_ delivery: TakeDelivery, recorded: JournalSeal, wantsSecrets: Bool = false) {
        self.delivery = delivery
        savedProgress = delivery.exchange.progress
        self.delivery.complete(byteCount: recorded.byteCount)
        if wantsSecrets { secrets = .wanted }
        phase = .delivering(
            Recorded(end: CaptureEnd(cause: .finished), seal: recorded, endedAt: .zero))
    }

    mutating func handle(_ event: Event, at now: Moment) -> [Action] {
        if case .settled = phase { return [] }
        actions = []
        now.measure(&delivery.extent)
        switch event {
        case .opened(let exchange):
            isOpened = true
            if let exchange, !delivery.hasBegun { use(exchange) }
            if isSealed { ask() }
            beginAll()
        case .began:
            ask()
            noteSound()
        case .captured(let end, let isEmpty): capture(end, isEmpty: isEmpty, now)
        case .sealed(let seal): complete(seal, now)
        case .grew(let byteCount): grow(to: byteCount)
        case .cut(let cuts, let start): learn(cuts, of: start)
        case .noted(let lane): note(lane)
        case .connected(let lane):
            let number = delivery.exchange.request(of: lane).number
            actions.append(.tell(.connected(attempt: number)))
        case .learned(let lane, let head): learn(lane, head)
        case .heard(let lane, let words): hear(lane, words)
        case .ended(let lane, let reply): end(lane, reply, now)
        case .digested(let digest):
            (delivery.digest, delivery.isDigested) = (digest, digest != nil)
        case .protection(let report): protect(report)
        case .diskIsSlow(let wait, let isAwaited): noteSlowDisk(after: wait, isAwaited: isAwaited)
        case .full:
            protect(.full)
            endCapture(.withTail)
        case .unsendable(let failure): conclude(.failure(failure), now)
        case .secrets(let answer): take(answer, now)
        case .stop: actions.append(.endCapture(.withTail))
        case .heardEnd: endCapture(.withTail)
        case .endTail: actions.append(.endCapture(.withoutTail))
        case .resume:
            if isRecording, !isEndFinal { actions.append(.resumeCapture) }
        case .resumed: resume()
        case .pause: if isRecording, !isEndFinal { actions.append(.pauseCapture) }
        case .paused(let frame): pause(at: frame)
        case .pauseLasts(let frame): rest(at: frame)
        case .cancel: giveUp(.cancelled, .cancelled, now)
        case .leave: giveUp(.left, .withoutTail, now)
        case .unrecordable(let failure, let end): settle(.failure(failure), end)
        case .abandoned: settle(.failure(.left), CaptureEnd(cause: .cancelled))
        }
        meetNeed()
        if isSealed, delivery.exchange.isAnswered { conclude(.success(answeredText), now) }
        settleIfComplete()
        return actions
    }

    // MARK: - The recording

    private mutating func capture(_ end: CaptureEnd, isEmpty: Bool, _ now: Moment) {
        guard isRecording else { return }
        phase = .sealing(end, since: now.elapsed)
        actions.append(.tell(.captured(end)))
        if let warning = end.warning { protect(.source(warning)) }
        // A recording that never began has nothing to be sent.
        switch end.cause {
        case .source(let error) where isEmpty:
            conclude(.failure(.capture(error)), now)
            // A service that has answered already was sent nothing.
            delivery.overrule(by: .capture(error))
        case .encoder(let error) where isEmpty: conclude(.failure(.encoding(error)), now)
        case .tooShort(let frames):
            let length = StreamFormat.speech.duration(ofFrames: frames)
            conclude(.failure(.tooShort(length)), now)
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
        guard case .sealing(let end, let instant) = phase else { return }
        phase = .delivering(Recorded(end: end, seal: seal, endedAt: instant))
        delivery.complete(byteCount: seal.byteCount)
        if let loss = seal.loss, seal.byteCount <= delivery.start {
            conclude(.failure(.journal(reason: loss.description)), now)
        }
        actions.append(.saveSeal(seal, end, isSending: delivery.result == nil))
        // A person who waits for the text does not wait for a pause that was made for a speaker.
        for lane in delivery.lanes.indices {
            switch delivery.lanes[lane] {
            case .awaitingToken(let pause, _), .noting(let pause), .sending(_, let pause):
                guard pause.isForSpeaker else { break }
                if let cause = pause.cause, now.elapsed < pause.waitableFrom {
                    conclude(.failure(cause), now)
                } else if case .sending = delivery.lanes[lane] {
                    actions.append(.hurry(lane: lane))
                }
            default: break
            }
        }
        beginWaiting(for: [.seal, .growth])
        if delivery.exchange.request.number > 1 { digest() }
    }

    private mutating func grow(to byteCount: Int) {
        guard !isSealed else { return }
        delivery.extent.byteCount = max(
            delivery.extent.byteCount, delivery.bodyByteCount(byteCount, isWhole: false))
        beginWaiting(for: [.growth])
    }

    // MARK: - The delivery

    /// Begins what waits for the disk or the secrets, once they are there.
    mutating func beginAll() {
        if mayBegin { beginWaiting(for: [.disk, .secrets]) }
    }

    var mayBegin: Bool { (isOpened || isDiskLate) && hasSound && secrets.areKnown }

    mutating func beginWaiting(for waits: [TakeDelivery.Lane.Wait]) {
        for lane in delivery.lanes.indices {
            if case .waiting(let wait) = delivery.lanes[lane], waits.contains(wait) { begin(lane) }
        }
        beginIdle()
    }

    /// Gives lanes without a request one, as many as the exchange wants.
    private mutating func beginIdle() {
        guard delivery.result == nil, mayBegin else { return }
        for lane in delivery.lanes.indices {
            guard case .awaitingToken(let pause, let start) = delivery.lanes[lane] else { continue }
            begin(lane, after: pause.rest(after: delivery.extent.elapsed - start))
        }
        while delivery.lanes.count < delivery.exchange.laneCount { delivery.lanes.append(.idle) }
        for lane in 0..<delivery.exchange.laneCount {
            if case .idle = delivery.lanes[lane] { begin(lane) }
        }
    }

    /// Notes the next request of a lane, if there is one by now.
    private mutating func begin(_ lane: Int, after pause: Pause = Pause()) {
        let beginning = delivery.exchange.begin(lane: lane, of: delivery.extent)
        saveProgress()
        switch beginning {
        case .idle: delivery.lanes[lane] = .idle
        case .token:
            delivery.lanes[lane] = .awaitingToken(pause, since: delivery.extent.elapsed)
        case .sealed: delivery.lanes[lane] = .waiting(for: .seal)
        case .growth(let byteCount):
            delivery.lanes[lane] = .waiting(for: .growth)
            actions.append(.await(byteCount: delivery.start + byteCount))
        case .request(let request):
            delivery.lanes[lane] = .noting(pause)
            actions.append(.note(lane: lane, request))
        }
    }

    private mutating func note(_ lane: Int) {
        switch delivery.lanes[lane] {
        case .noting(let pause):
            let number = delivery.exchange.request(of: lane).number
            // The recording may have ended meanwhile, or what it was for is gone.
            guard
                case .request(let request) = delivery.exchange.begin(
                    lane: lane, of: delivery.extent),
                request.number == number
            else { return begin(lane, after: pause) }
            let rest = pause.fitted(to: request, of: delivery.extent)
            if rest.atLeast > max(pause.atLeast, rest.duration) {
                actions.append(.tell(.paced(pause: rest.atLeast)))
            }
            delivery.lanes[lane] = .sending(request, rest)
            actions.append(.start(lane: lane, request, rest))
        case .withdrawing:
            save(delivery.exchange.request(of: lane), .unstarted(.cancelled))
            delivery.lanes[lane] = .done
        case .idle, .waiting, .awaitingToken, .sending, .breakingOff, .done: break
        }
    }

    private mutating func learn(_ lane: Int, _ head: AnswerHead) {
        guard case .sending = delivery.lanes[lane] else { return }
        let count = actions.count
        delivery.exchange.learn(from: head)
        saveProgress()
        if actions.count > count { actions.append(.saveAgain) }
    }

    private mutating func end(_ lane: Int, _ reply: Reply, _ now: Moment) {
        switch delivery.lanes[lane] {
        case .sending(let request, _):
            save(request, reply.result)
            delivery.transcript = delivery.exchange.transcript(with: reply.transcript, of: lane)
            let step = delivery.exchange.next(
                after: reply, lane: lane, isSpeaking: isRecording, at: now)
            saveProgress()
            follow(lane, step, reply, now)
            beginIdle()
        case .breakingOff(let request):
            save(request, reply.result)
            delivery.exchange.record(reply.result, lane: lane)
            saveProgress()
            delivery.lanes[lane] = .done
        case .idle, .waiting, .awaitingToken, .noting, .withdrawing, .done: return
        }
    }

    mutating func saveProgress() {
        let traits = delivery.exchange.traits
        if traits != savedTraits { actions.append(.remember(traits)) }
        savedTraits = traits
        let progress = delivery.exchange.progress
        guard progress != savedProgress else { return }
        savedProgress = progress
        actions.append(.saveProgress(progress))
        // Nothing else is written while it pauses.
        if pausedAt != nil { actions.append(.saveAgain) }
    }

    private mutating func follow(
        _ lane: Int, _ step: ExchangeStep, _ reply: Reply, _ now: Moment
    ) {
        delivery.lanes[lane] = .idle
        if case .request(let pause) = step, let notice = pause.notice { protect(.answer(notice)) }
        switch step {
        case .answered:
            // A service that finds the end by itself has heard enough: what is said now would go
            // nowhere.
            if isRecording { endCapture(.withTail) }
            conclude(.success(delivery.transcript), now)
        case .answeredInPart:
            tellEarlyAnswer(reply.result, isResent: false)
            conclude(.success(delivery.transcript), now)
        case .idle: break
        case .request(let pause) where pause.isOfNextStep: begin(lane, after: pause)
        case .request(let pause):
            if let cause = pause.cause {
                actions.append(.tell(.interrupted(cause, pause: pause.duration)))
            }
            if pause.isForLength { tellEarlyAnswer(reply.result, isResent: true) }
            let next = delivery.exchange.request(of: lane)
            actions.append(.tell(.resending(attempt: next.number, url: next.shownURL)))
            digest()
            begin(lane, after: pause)
        case .failed(let failure):
            guard !askAgain(for: lane, after: failure) else { return }
            if isRecording { actions.append(.tell(.refused(failure))) }
            conclude(.failure(failure), now)
        }
    }

    /// Sets the result, whatever requests do; the first result counts.
    mutating func conclude(_ result: Result, _ now: Moment) {
        guard delivery.result == nil else { return }
        (delivery.result, delivery.resultAt) = (result, now.elapsed)
        if case .success(let transcript) = result { noteUnreadable(in: transcript) }
        for lane in delivery.lanes.indices {
            switch delivery.lanes[lane] {
            case .idle, .waiting, .awaitingToken: delivery.lanes[lane] = .done
            case .noting: delivery.lanes[lane] = .withdrawing
            case .sending(let request, _):
                delivery.lanes[lane] = .breakingOff(request)
                actions.append(.breakOff(lane: lane))
            case .withdrawing, .breakingOff, .done: break
            }
        }
    }

    private mutating func save(_ request: ExchangeRequest, _ result: TransferResult) {
        guard !request.isForToken else { return }
        let attempt = TakeAttempt(
            number: request.number, url: request.shownURL, result: result,
            carriesRecording: request.carriesRecording, isPiece: request.isPart,
            stretchStart: delivery.exchange.progress == nil ? nil : request.stretch?.start.frame)
        // Polls share a number: keep the last.
        if let last = attempts.last, last.number == attempt.number { attempts.removeLast() }
        attempts.append(attempt)
        actions.append(.saveAttempt(attempt))
    }

    // MARK: - The take

    /// Breaks the delivery off before the recording ends: a body that is sealed first might be sent
    /// to its end, and recognised for nothing.
    private mutating func giveUp(_ failure: TakeFailure, _ stop: CaptureStop, _ now: Moment) {
        conclude(.failure(failure), now)
        endCapture(stop)
    }

    private mutating func endCapture(_ stop: CaptureStop) {
        isEndFinal = true
        actions.append(.endCapture(stop))
    }

    private mutating func settleIfComplete() {
        guard case .delivering(let recorded) = phase, let result = delivery.result,
            delivery.lanes.allSatisfy({ if case .done = $0 { true } else { false } })
        else { return }
        settle(result, recorded.end)
    }

    private mutating func settle(_ result: Result, _ end: CaptureEnd) {
        var ending = Ending(result: result, capture: end)
        if case .delivering(let recorded) = phase {
            ending.seal = recorded.seal
            if case .success = result {
                ending.answerDelay = delivery.resultAt.map { $0 - recorded.endedAt }
            }
        }
        phase = .settled
        actions.append(.settle(ending))
    }
}
