// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// What the talk's thread does: it asks the machine, and carries out what that says.
struct TalkWorker: Worker {
    /// What comes in.
    enum Message {
        /// What has happened, and when.
        case event(TalkMachine.Event, ContinuousClock.Instant)
        /// A question how far the newest take has come.
        case look(@Sendable (TalkMachine.Phase) -> Void)
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
    private var messages: ArraySlice<Message> = []

    init(_ machine: TalkMachine, _ delegate: any TalkDelegate) {
        self.machine = machine
        self.delegate = delegate
    }

    mutating func receive(_ message: Message) { messages.append(message) }

    mutating func turn(isLast: Bool) -> WorkerPause {
        while let message = messages.popFirst() {
            switch message {
            case .event(let event, let instant): handle(event, at: instant)
            case .look(let body): body(machine.phase)
            }
        }
        if let time = machine.nextTime, time <= .now { handle(.time, at: .now) }
        return WorkerPause(until: machine.nextTime)
    }

    private mutating func handle(_ event: TalkMachine.Event, at instant: ContinuousClock.Instant) {
        let actions = machine.handle(event, at: instant)
        if case .settled(let number, _) = event { takes[number] = nil }
        for action in actions { perform(action) }
        // Those that could not begin.
        for case .start(let number) in actions where takes[number] == nil {
            handle(.settled(number, .dropped), at: instant)
        }
        let now = Shown(phase: machine.phase, take: machine.take, isLatched: machine.isLatched)
        guard now != shown else { return }
        shown = now
        delegate.show(now.phase, of: now.take, isLatched: now.isLatched)
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
