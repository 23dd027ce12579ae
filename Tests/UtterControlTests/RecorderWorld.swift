// SPDX-License-Identifier: Apache-2.0

@testable import LinuxPlatform
@testable import Utter
@testable import UtterControl

/// What surrounds a recorder's machine: a dictation, takes and clients, each of which moves alone.
struct RecorderWorld {
    enum Move: Equatable {
        case ask(ControlRequest.Command, take: Int? = nil, waits: Bool = false)
        /// A start or toggle of another press, or for another service of a daemon.
        case askOtherwise(ControlRequest.Command)
        /// A start of a process whose beginning is known has waited for a stop.
        case overdue(Int)
        /// A text is where its press said, or is not.
        case place(Int, isTaken: Bool)
        /// It says what its key does; one that goes up was held, or tapped.
        case key(ControlRequest.Command, isHeld: Bool = false)
        /// The client has not asked for which the recorder was begun.
        case unasked
        case signal(ControlRequest.Command)
        /// The dictation carries out what is next.
        case carryOut(canRecord: Bool)
        case step(Int, DictationStep)
        case conclude(Int)
        /// A recorder that listens again hears of the end of a take before its dictation does.
        case told(Int)
        /// Nothing more is waited for after a take.
        case waited(Int)
        case leave(Int, hasPrinted: Bool)
        case end
    }

    enum Purpose: CaseIterable {
        case daemon, command, client
        /// As `client`, of a press that has said where the text goes.
        case placed
        /// The same, and silence ends a take that is followed by another.
        case looping
    }

    enum Client: Equatable {
        case asking, waiting
        case given(Int)
        case gone
    }

    /// A take, as far as it has come.
    struct Recorded {
        var isHeard = false
        var isCaptured = false
        var isResuming = false
        var isPausing = false
        var isCancelled = false
        var isConcluded = false
        var isAwaited = false
        var isPrinted = false
        var isTold = false
        var isPlaced = false
        /// The dictation knows that it is captured.
        var isFollowed = false
        /// The machine knows nothing of it any more, or never did.
        var isForgotten = false
    }

    /// The moves so far, the last one first: worlds that have moved alike share them.
    private final class Path {
        let move: Move
        let before: Path?

        init(_ move: Move, after before: Path?) { (self.move, self.before) = (move, before) }

        var moves: [Move] { Array(sequence(first: self, next: \.before).map(\.move).reversed()) }
    }

    private(set) var machine: RecorderMachine
    private var path: Path?
    private(set) var faults: [String] = []
    private(set) var clients: [Client] = []
    private(set) var takes: [Recorded] = []
    private(set) var talk = TalkMachine()
    private(set) var orders: [Order] = []
    /// What is answered once the take of a number has said whether it goes on.
    private(set) var resuming: [(order: Order, take: Int)] = []
    private(set) var signals = 0
    private(set) var isFinished = false
    private(set) var hasGivenUp = false
    /// Whether a press has come that would record otherwise: one of them is enough.
    private(set) var hasOther = false
    /// Starts that are held until a time.
    private(set) var timed: [Int] = []
    let purpose: Purpose
    /// Whether clients have keys, which they move; others give commands of every kind.
    let hasKeys: Bool
    private let now = ContinuousClock.now

    struct Order {
        let request: ControlRequest
        let take: Int?
        let client: ControlClientID?
        /// The command's place among all.
        let command: Int

        init(request: ControlRequest, take: Int?, client: ControlClientID?) {
            (self.request, self.take, self.client) = (request, take, client)
            command = ControlRequest.Command.allCases.firstIndex(of: request.command) ?? -1
        }
    }

    /// As many clients ask.
    static let crowd = 3

    init(_ purpose: Purpose, hasKeys: Bool) {
        (self.purpose, self.hasKeys) = (purpose, hasKeys)
        switch purpose {
        case .daemon: machine = RecorderMachine(.daemon, process: 1)
        case .client, .command, .placed, .looping:
            let hasPlaces = [.placed, .looping].contains(purpose)
            let request = RecorderMachine.Purpose.request(nil, press: "own", hasPlaces: hasPlaces)
            machine = RecorderMachine(request, process: 1)
        }
        talk = TalkMachine(listensAgain: purpose == .looping)
        if purpose == .command { tell(.asked(ControlRequest(.start), nil)) }
    }

    static func id(_ number: Int) -> TakeID { ids[number - 1] }

    private static func number(of id: TakeID) -> Int { (ids.firstIndex(of: id) ?? 0) + 1 }

    static let phases = Dictation.Phase.allCases
    private static let late = ProcessBeginning(ticks: 9, process: 9)
    private static let end = CaptureEnd(cause: .finished)
    private static let ids = (1...9).compactMap { TakeID("20261122-101100-00000000000\($0)") }

    // MARK: - Moves

    mutating func make(_ move: Move) {
        path = Path(move, after: path)
        switch move {
        case .unasked: tell(.unasked)
        case .ask(let command, let take, let waits):
            var request = ControlRequest(command)
            request.wait = waits ? true : nil
            request.take = take.map { Self.id($0).text }
            ask(request)
        case .askOtherwise(let command):
            var request = ControlRequest(command)
            (request.press, request.service, hasOther) = ("other", "other", true)
            if command == .start { request.begun = Self.late }
            ask(request)
        case .overdue(let client):
            timed.removeAll { $0 == client }
            tell(.overdue(ControlClientID(number: client)))
        case .place(let number, let isTaken):
            takes[number - 1].isPlaced = isTaken
            tell(.given(Self.id(number), complaints: isTaken ? [] : [.error("no")]))
        case .key(let command, let isHeld):
            var request = ControlRequest(command)
            request.key = "key"
            request.time = isHeld ? 1 : 0
            if [.stop, .cancel].contains(command) { request.take = Self.id(1).text }
            ask(request)
        case .signal(let command):
            signals += 1
            tell(.asked(ControlRequest(command), nil))
        case .carryOut(let canRecord): carryOut(canRecord)
        case .step(let number, let step):
            switch step {
            case .listening: takes[number - 1].isHeard = true
            case .captured:
                (takes[number - 1].isCaptured, takes[number - 1].isFollowed) = (true, true)
            case .paused: takes[number - 1].isPausing = false
            case .fellSilent: break
            default: takes[number - 1].isResuming = false
            }
            let reply = Dictation.Reply(hear(.take(number, step)))
            if step == .captured, purpose != .looping {
                tell(.told(.captured(Self.end), Self.id(number)))
            }
            if step == .captured, takes[number - 1].isConcluded {
                _ = hear(.take(number, .settled))
            }
            switch step {
            case .listening, .fellSilent: break
            case .resumed: answer(number, .resumed(number))
            case .paused: answer(number, .paused(number))
            default: answer(number, reply)
            }
        case .conclude(let number): conclude(number)
        case .told(let number):
            takes[number - 1].isCaptured = true
            tell(.told(.captured(Self.end), Self.id(number)))
        case .waited(let number):
            takes[number - 1].isAwaited = false
            let isLingering = machine.lingering(Self.id(number)) != nil
            tell(isLingering ? .outwaited(number) : .placed)
        case .leave(let client, let hasPrinted):
            if hasPrinted, case .given(let take) = clients[client] {
                if takes[take - 1].isPrinted { fault("text \(take) is printed twice") }
                takes[take - 1].isPrinted = true
            }
            clients[client] = .gone
            let id = ControlClientID(number: client)
            let held = machine.entries.first { $0.holder == id && !$0.isCaptured }?.number
            tell(.left(id, hasPrinted: hasPrinted))
            let isEnded = orders.contains { $0.request.command == .stop && $0.take == held }
            if let held, !isEnded { fault("take \(held) is held by a key whose client has gone") }
        case .end:
            signals += 1
            tell(.leave)
        }
    }

    private mutating func ask(_ request: ControlRequest) {
        clients.append(.asking)
        tell(.asked(request, ControlClientID(number: clients.count - 1)))
    }

    private mutating func fault(_ text: String) {
        faults.append("\(text), after \(path?.moves ?? [])")
    }

    private mutating func conclude(_ number: Int) {
        takes[number - 1].isConcluded = true
        takes[number - 1].isAwaited = true
        let isCancelled = takes[number - 1].isCancelled
        tell(
            .concluded(
                TakeConclusion(
                    take: Self.id(number), exit: isCancelled ? 130 : 0,
                    text: isCancelled ? nil : "go", lines: [], report: "", isSettled: true)))
        guard takes[number - 1].isFollowed || purpose != .looping else { return }
        answer(number, Dictation.Reply(hear(.take(number, .settled))))
    }

    // MARK: - The dictation

    private mutating func carryOut(_ canRecord: Bool) {
        let order = orders.removeFirst()
        var reply = Dictation.Reply.nothing
        if order.take == nil || order.take == talk.take, let input = order.request.command.input {
            let instant = order.request.time == 1 ? now + .seconds(1) : now
            reply = Dictation.Reply(hear(.input(input), canRecord, at: instant))
        }
        switch reply {
        case .resumed(let number), .paused(let number): return resuming.append((order, number))
        default: break
        }
        tell(.carriedOut(order.request, reply, order.client))
    }

    /// Answers those who wait to hear whether a take goes on.
    private mutating func answer(_ number: Int, _ reply: Dictation.Reply) {
        let answered = resuming.filter { $0.take == number }
        resuming.removeAll { $0.take == number }
        for (order, _) in answered { tell(.carriedOut(order.request, reply, order.client)) }
    }

    private mutating func hear(
        _ event: TalkMachine.Event, _ canRecord: Bool = true,
        at instant: ContinuousClock.Instant? = nil
    ) -> [TalkMachine.Action] {
        let actions = talk.handle(event, at: instant ?? now)
        for action in actions {
            switch action {
            case .start(let number):
                if hasGivenUp { fault("a take without the socket") }
                takes.append(Recorded())
                if canRecord, !machine.isLeaving {
                    tell(.began(number, Self.id(number)))
                } else {
                    // It was never there.
                    takes[number - 1].isCaptured = true
                    takes[number - 1].isConcluded = true
                    takes[number - 1].isFollowed = true
                    takes[number - 1].isForgotten = true
                    tell(.failed(ControlFailure("no", status: .internalError)))
                    _ = hear(.take(number, .settled))
                }
            case .cancel(let number):
                takes[number - 1].isCancelled = true
                takes[number - 1].isCaptured = true
            case .resume(let number):
                (takes[number - 1].isResuming, takes[number - 1].isPausing) = (true, false)
            case .pause(let number): takes[number - 1].isPausing = true
            case .tell(let news): tell(.news(news))
            case .stop: break
            }
        }
        tell(
            .shown(
                Dictation.State(
                    phase: talk.phase, take: talk.take, isLatched: talk.isLatched,
                    isListening: talk.isListening)))
        return actions
    }

    // MARK: - What the machine says

    private mutating func tell(_ event: RecorderMachine.Event) {
        for action in machine.handle(event) { perform(action) }
    }

    private mutating func perform(_ action: RecorderMachine.Action) {
        switch action {
        case .reply(let reply, let client): answer(client.number, reply)
        case .result(let conclusion, let client, _):
            if clients[client.number] != .waiting { fault("a result for one that does not wait") }
            let number = Self.number(of: conclusion.take)
            if clients.contains(.given(number)) { fault("a text for two") }
            if takes[number - 1].isForgotten { fault("a text of a take that is forgotten") }
            clients[client.number] = .given(number)
        case .obey(let request, let take, let client):
            if isFinished { fault("an order after the end") }
            orders.append(Order(request: request, take: take, client: client))
        case .tell(let conclusion):
            let index = Self.number(of: conclusion.take) - 1
            let take = takes[index]
            if take.isTold || take.isPrinted || take.isForgotten { fault("told once too often") }
            takes[index].isTold = true
        case .forget(let number):
            let take = takes[number - 1]
            if !take.isConcluded { fault("forgotten too early") }
            if take.isForgotten { fault("forgotten twice") }
            takes[number - 1].isForgotten = true
            if !take.isTold, !take.isPrinted, !take.isPlaced { fault("neither given nor told") }
            if clients.contains(.given(number)) { fault("forgotten before it was printed") }
        case .finish:
            if isFinished { fault("finished twice") }
            if !orders.isEmpty || !resuming.isEmpty { fault("finished before all was done") }
            if takes.contains(where: { !$0.isConcluded }) { fault("a take was left") }
            isFinished = true
        case .news(_, _, let client):
            if let client, clients[client.number] != .waiting { fault("news for one that is gone") }
        case .hold(let client): timed.append(client.number)
        case .endTail(let number):
            if talk.phase != .tail || talk.take != number { fault("a tail ends that is none") }
        case .giveUp:
            if hasGivenUp || purpose == .daemon { fault("the socket is given up again") }
            if takes.contains(where: { !$0.isCaptured }) { fault("a microphone is open") }
            hasGivenUp = true
        case .show, .release, .sweep, .report: break
        }
    }

    private mutating func answer(_ client: Int, _ reply: ControlReply) {
        switch (clients[client], reply) {
        // What it waited for is there.
        case (.asking, _), (.waiting, .answer): break
        default: fault("a second answer")
        }
        if case .wait = reply { clients[client] = .waiting } else { clients[client] = .gone }
        if reply == .leave, !isFinished, !hasGivenUp { fault("turned away too early") }
    }

    // MARK: - The end

    /// What is wrong where everything that is owed has happened, and all have printed.
    var faultsAtTheEnd: [String] {
        var world = self
        if clients.contains(where: { $0 != .gone }) { world.fault("a client waits") }
        if !machine.entries.isEmpty { world.fault("a take is left") }
        let isToEnd = purpose != .daemon || machine.isLeaving
        if isFinished != isToEnd { world.fault("no end") }
        if !machine.held.isEmpty { world.fault("a request is held") }
        return world.faults
    }
}
