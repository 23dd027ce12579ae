// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// A take as a dictation begins and ends it: a `Take`, or a test's.
///
/// Called on the thread of the dictation, in order.
protocol Dictated: Sendable {
    func stop()
    /// The tail may be over already; `resumed` or `captured` follows.
    func resume()
    /// `paused` follows, or what follows `resume`.
    func pause()
    func cancel()
    /// Calls `tell` for each step in order, earlier ones first.
    func follow(_ tell: @escaping @Sendable (DictationStep) -> Void)
}

enum DictationStep: Sendable {
    /// The first frame was captured.
    case listening
    /// Before its tail was over.
    case resumed
    /// The microphone is closed.
    case paused
    /// For the time that was asked for.
    case fellSilent
    case captured
    case sent
    case settled
}

extension Take: Dictated {
    func follow(_ tell: @escaping @Sendable (DictationStep) -> Void) {
        run.events.observe { event in
            switch event {
            case .began: tell(.listening)
            case .resumed: tell(.resumed)
            case .paused: tell(.paused)
            case .quiet: tell(.fellSilent)
            case .captured: tell(.captured)
            case .sent: tell(.sent)
            case nil: tell(.settled)
            default: break
            }
        }
    }
}

/// The thread of a dictation: asks the machine, and does what it says.
struct DictationWorker: Worker {
    enum Message {
        case event(Happening)
        case look(@Sendable (Dictation.Phase) -> Void)
        case observe(Dictation.Observer)
        case finish
    }

    struct Happening {
        let event: TalkMachine.Event
        let instant: ContinuousClock.Instant
        /// The take that the event is for; nil: any.
        var onlyTake: Int?
        var first: (@Sendable () -> Void)?
        /// The answer; it is told nil after the last turn.
        var reply: (@Sendable (Dictation.Reply?) -> Void)?
    }

    private struct Held {
        let isForPause: Bool
        let answer: @Sendable (Dictation.Reply?) -> Void
    }

    private var machine: TalkMachine
    private let dictation: Dictation
    private let start: @Sendable (Int) -> (any Dictated)?
    private var takes: [Int: any Dictated] = [:]
    private var shown = Dictation.State()
    private var observers: [Dictation.Observer] = []
    private var isFinished = false
    /// Replies that wait for a take to say whether it goes on, by its number.
    private var held: [Int: [Held]] = [:]
    private var messages: [Message] = []

    init(
        _ machine: TalkMachine, for dictation: Dictation,
        _ start: @escaping @Sendable (Int) -> (any Dictated)?
    ) {
        (self.machine, self.dictation, self.start) = (machine, dictation, start)
    }

    mutating func receive(_ message: Message) { messages.append(message) }

    mutating func turn(isLast: Bool) -> WorkerPause {
        while !messages.isEmpty {
            switch messages.removeFirst() {
            case .event(let happening): handle(happening)
            case .look(let body): body(machine.phase)
            case .observe(let observer): observers.append(observer)
            case .finish: finish()
            }
        }
        if let time = machine.nextTime, time <= .now { handle(.time, at: .now) }
        return WorkerPause(until: machine.nextTime)
    }

    mutating func end() {
        for held in held.values.joined() { held.answer(nil) }
        dictation.begun.finish()
        dictation.shown.finish()
        dictation.told.finish()
    }

    mutating func refuse(_ message: Message) {
        if case .event(let happening) = message { happening.reply?(nil) }
    }

    private mutating func finish() {
        isFinished = true
        dictation.begun.finish()
    }

    private mutating func handle(_ happening: Happening) {
        guard happening.onlyTake == nil || happening.onlyTake == machine.take else {
            happening.reply?(.nothing)
            return
        }
        happening.first?()
        let reply = Dictation.Reply(handle(happening.event, at: happening.instant))
        switch (happening.event, reply) {
        case (.take(let number, .resumed), _):
            // A pause that was asked for again is still to come.
            let isPaused = machine.phase == .paused && machine.take == number
            answer(number, .resumed(number)) { !isPaused || !$0.isForPause }
        case (.take(let number, .paused), _): answer(number, .paused(number)) { $0.isForPause }
        // The tail was over: the next take began, unless it was ended meanwhile.
        case (.take(let number, .captured), _), (.take(let number, .settled), _):
            answer(number, reply) { _ in true }
        case (_, .resumed(let number)): hold(number, isForPause: false, happening.reply)
        case (_, .paused(let number)): hold(number, isForPause: true, happening.reply)
        default: happening.reply?(reply)
        }
    }

    private mutating func hold(
        _ number: Int, isForPause: Bool, _ answer: (@Sendable (Dictation.Reply?) -> Void)?
    ) {
        guard let answer else { return }
        held[number, default: []].append(Held(isForPause: isForPause, answer: answer))
    }

    private mutating func answer(
        _ number: Int, _ reply: Dictation.Reply, to isMeant: (Held) -> Bool
    ) {
        let all = held.removeValue(forKey: number) ?? []
        let rest = all.filter { !isMeant($0) }
        if !rest.isEmpty { held[number] = rest }
        for held in all where isMeant(held) { held.answer(reply) }
    }

    @discardableResult
    private mutating func handle(
        _ event: TalkMachine.Event, at instant: ContinuousClock.Instant
    ) -> [TalkMachine.Action] {
        let actions = machine.handle(event, at: instant)
        if case .take(let number, .settled) = event { forget(number) }
        for action in actions { perform(action) }
        // Takes that could not begin have ended.
        for case .start(let number) in actions where takes[number] == nil {
            handle(.take(number, .settled), at: instant)
        }
        let now = Dictation.State(
            phase: machine.phase, take: machine.take, isLatched: machine.isLatched,
            isListening: machine.isListening)
        if now != shown {
            shown = now
            dictation.shown.add(now)
            for observer in observers { observer.show(now) }
        }
        return actions
    }

    private mutating func perform(_ action: TalkMachine.Action) {
        switch action {
        case .start(let number): begin(number)
        case .stop(let number): takes[number]?.stop()
        case .resume(let number): takes[number]?.resume()
        case .pause(let number): takes[number]?.pause()
        case .cancel(let number): takes[number]?.cancel()
        case .tell(let news):
            dictation.told.add(news)
            for observer in observers { observer.tell(news) }
        }
    }

    private mutating func begin(_ number: Int) {
        guard !isFinished, let take = start(number) else { return }
        takes[number] = take
        take.follow { [dictation] in dictation.send(.take(number, $0)) }
        if let take = take as? Take { dictation.begun.add(take) }
        if machine.isForOne { finish() }
    }

    private mutating func forget(_ number: Int) {
        guard let take = takes.removeValue(forKey: number) as? Take else { return }
        dictation.begun.forget { $0 === take }
    }
}

extension Dictation.Reply {
    init(_ actions: [TalkMachine.Action]) {
        for action in actions {
            switch action {
            case .start(let number): self = .started(number)
            case .stop(let number): self = .stopped(number)
            case .resume(let number): self = .resumed(number)
            case .pause(let number): self = .paused(number)
            case .cancel(let number): self = .cancelled(number)
            case .tell: continue
            }
            return
        }
        self = .nothing
    }
}
