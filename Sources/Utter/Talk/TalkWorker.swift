// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// What the talk's thread does: it asks the machine, and carries out what that says.
struct TalkWorker: Worker {
    /// What comes in.
    enum Message {
        /// What has happened, and when.
        case event(Happening)
        /// A question how far the newest take has come.
        case look(@Sendable (TalkMachine.Phase) -> Void)
    }

    /// What has happened.
    struct Happening {
        let event: TalkMachine.Event
        let instant: ContinuousClock.Instant
        /// The only take that it is for; nil is any.
        var onlyTake: Int?
        /// Told what has come of it.
        var reply: (@Sendable (TalkReply?) -> Void)?
    }

    /// What a person sees.
    private struct Shown: Equatable {
        var phase: TalkMachine.Phase
        var take: Int?
        var isLatched: Bool
    }

    private var machine: TalkMachine
    private let delegate: any TalkDelegate
    private var takes: [Int: Take] = [:]
    private var shown = Shown(phase: .idle, take: nil, isLatched: false)
    private var messages: [Message] = []

    init(_ machine: TalkMachine, _ delegate: any TalkDelegate) {
        self.machine = machine
        self.delegate = delegate
    }

    mutating func receive(_ message: Message) { messages.append(message) }

    mutating func turn(isLast: Bool) -> WorkerPause {
        while !messages.isEmpty {
            switch messages.removeFirst() {
            case .event(let happening): handle(happening)
            case .look(let body): body(machine.phase)
            }
        }
        if let time = machine.nextTime, time <= .now { handle(.time, at: .now) }
        return WorkerPause(until: machine.nextTime)
    }

    mutating func refuse(_ message: Message) {
        if case .event(let happening) = message { happening.reply?(nil) }
    }

    private mutating func handle(_ happening: Happening) {
        guard happening.onlyTake == nil || happening.onlyTake == machine.take else {
            happening.reply?(.nothing)
            return
        }
        let actions = handle(happening.event, at: happening.instant)
        happening.reply?(TalkReply(actions))
    }

    @discardableResult
    private mutating func handle(
        _ event: TalkMachine.Event, at instant: ContinuousClock.Instant
    ) -> [TalkMachine.Action] {
        let actions = machine.handle(event, at: instant)
        if case .settled(let number, _) = event { takes[number] = nil }
        for action in actions { perform(action) }
        // Those that could not begin.
        for case .start(let number) in actions where takes[number] == nil {
            handle(.settled(number, .dropped), at: instant)
        }
        let now = Shown(phase: machine.phase, take: machine.take, isLatched: machine.isLatched)
        if now != shown {
            shown = now
            delegate.show(now.phase, of: now.take, isLatched: now.isLatched)
        }
        return actions
    }

    private mutating func perform(_ action: TalkMachine.Action) {
        switch action {
        case .start(let number): takes[number] = delegate.startTake(number)
        case .stop(let number): takes[number]?.stop()
        case .resume(let number): takes[number]?.resume()
        case .cancel(let number): takes[number]?.cancel()
        case .tell(let news): delegate.tell(news)
        }
    }
}
