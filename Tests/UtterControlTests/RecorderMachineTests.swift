// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LinuxPlatform
@testable import SpeechService
@testable import Utter
@testable import UtterControl

/// Every order in which the clients of a recorder, its dictation and its takes can act.
@Suite struct RecorderMachineTests {
    @Test(arguments: RecorderWorld.Purpose.allCases, [false, true])
    func everyOrderIsHandled(_ purpose: RecorderWorld.Purpose, hasKeys: Bool) {
        let first = RecorderWorld(purpose, hasKeys: hasKeys)
        var known = [first.key: 0]
        var worlds = [(first, number: 0)]
        // The state that follows each by itself.
        var followers: [Int?] = [nil]
        var faults = first.faults
        while let (world, number) = worlds.popLast(), faults.isEmpty {
            let last = world.next
            if last == nil { faults = world.faultsAtTheEnd }
            for move in world.legal {
                var next = world
                next.make(move)
                faults += next.faults
                let key = next.key
                let follower = known[key] ?? followers.count
                if follower == followers.count {
                    known[key] = follower
                    followers.append(nil)
                    worlds.append((next, follower))
                }
                if move == last { followers[number] = follower }
            }
        }
        #expect(faults.isEmpty)
        #expect(Self.statesWithoutEnd(followers) == 0)
        #expect(known.count > 1_000, "\(known.count) states")
    }

    /// How many states come to no end by themselves: one leads to another of them for ever.
    private static func statesWithoutEnd(_ followers: [Int?]) -> Int {
        var hasEnd = followers.map { $0 == nil }
        for state in followers.indices {
            var way = [state]
            while let last = way.last, !hasEnd[last], let next = followers[last],
                way.count <= followers.count
            {
                way.append(next)
            }
            if let last = way.last, hasEnd[last] { for state in way { hasEnd[state] = true } }
        }
        return hasEnd.count { !$0 }
    }
}

/// For how long a recorder knows a take, and who gets its text.
@Suite struct RecorderClaimTests {
    private let clients = (0..<3).map { ControlClientID(number: $0) }
    private let id = RecorderWorld.id(1)
    private var machine = RecorderMachine(.daemon, process: 1)

    /// One take, whose text the first client waits for.
    init() {
        _ = machine.handle(.began(1, id))
        ask(0)
        _ = carryOut(.stopped(1), 0)
    }

    private mutating func ask(_ client: Int) {
        _ = machine.handle(.asked(ControlRequest(.stop), clients[client]))
    }

    private mutating func carryOut(_ reply: Dictation.Reply, _ client: Int) -> [String] {
        machine.handle(.carriedOut(ControlRequest(.stop), reply, clients[client])).map(words)
    }

    private mutating func leave(_ client: Int, hasPrinted: Bool) -> [String] {
        machine.handle(.left(clients[client], hasPrinted: hasPrinted)).map(words)
    }

    private mutating func conclude() -> [String] {
        machine.handle(
            .concluded(
                TakeConclusion(
                    take: id, exit: 0, text: "go", lines: [], report: "",
                    isSettled: true))
        ).map(words)
    }

    private func words(_ action: RecorderMachine.Action) -> String {
        switch action {
        case .reply(.answer(let answer), let client): "\(client.number): \(answer.message ?? "")"
        case .reply(.wait, let client): "\(client.number) waits"
        case .result(_, let client, _): "\(client.number) gets it"
        case .release: "release"
        case .forget: "forget"
        case .sweep: "sweep"
        case .tell: "tell"
        default: "\(action)"
        }
    }

    @Test mutating func aTakeStaysForTheRequestsThatCameBeforeItsEnd() {
        ask(1)
        ask(2)
        #expect(conclude() == ["0 gets it"])
        // Their turn comes after the text was printed: the talk has not been told of the end yet.
        #expect(leave(0, hasPrinted: true) == ["release", "sweep"])
        #expect(carryOut(.resumed(1), 1) == ["1: recording goes on in take \(id.text)"])
        let message =
            "take \(id.text) was stopped already; its text goes to the one who stopped it"
        #expect(carryOut(.stopped(1), 2) == ["2: \(message)", "forget"])
    }

    @Test mutating func aTextThatWasNotPrintedGoesToTheNextWhoAsks() {
        ask(1)
        #expect(conclude() == ["0 gets it"])
        #expect(leave(0, hasPrinted: false) == ["sweep"])
        #expect(leave(0, hasPrinted: true) == [])
        #expect(carryOut(.nothing, 1) == ["1 waits", "1 gets it"])
        #expect(leave(1, hasPrinted: true) == ["release", "sweep", "forget"])
    }

    @Test func theFailuresOfALoopAreToldWithTheNextResult() {
        var machine = RecorderMachine(.request(nil, hasPlaces: true), process: 1)
        for (number, exit) in [(1, 76), (2, 130), (3, 0), (4, 75)] as [(Int, Int32)] {
            _ = machine.handle(.began(number, RecorderWorld.id(number)))
            let conclusion = TakeConclusion(
                take: RecorderWorld.id(number), exit: exit, text: exit == 0 ? "go" : nil,
                lines: [], report: "", isSettled: true)
            if number == 4 {
                _ = machine.handle(
                    .carriedOut(ControlRequest(.stop), .stopped(number), clients[0]))
            }
            let told = machine.handle(.concluded(conclusion)).flatMap { action -> [ToldLine] in
                if case .result(let conclusion, _, _) = action {
                    conclusion.answer.lines ?? []
                } else {
                    []
                }
            }
            let words = "take \(id.text), before this one, has no text: utter show \(id.shortName)"
            #expect(told == (number == 4 ? [.line("warning: \(words)")] : []))
        }
    }

    @Test mutating func aClientThatLeavesEarlyHasPrintedNothing() {
        #expect(leave(0, hasPrinted: true) == [])
        #expect(conclude() == [])
        #expect(machine.handle(.placed).map(words) == ["tell", "forget"])
    }

    /// The order in which two stops come does not matter.
    @Test func aStartThatIsOlderThanAStopRecordsNothing() {
        var machine = RecorderMachine(.daemon, process: 1)
        let requests: [(UInt64, ControlRequest.Command, Bool)] = [
            (5, .stop, true), (3, .stop, true), (4, .start, false), (6, .start, true),
        ]
        for (number, request) in requests.enumerated() {
            var asked = ControlRequest(request.1)
            asked.begun = ProcessBeginning(ticks: request.0, process: 5)
            let client = ControlClientID(number: number)
            let actions = machine.handle(.asked(asked, client))
            let isObeyed = actions.contains { if case .obey = $0 { true } else { false } }
            #expect(isObeyed == request.2, "\(number)")
            if asked.command == .stop { _ = machine.handle(.carriedOut(asked, .nothing, client)) }
        }
    }

    @Test mutating func aTakeThatBeginsShowsNoneOfTheLastOnesWords() {
        var state = Dictation.State()
        (state.phase, state.take) = (.recording, 1)
        _ = machine.handle(.shown(state))
        _ = machine.handle(.told(.heard(Transcript(plain: "go")), id))
        _ = machine.handle(.began(2, RecorderWorld.id(2)))
        for (take, words) in [(1, "go"), (2, "")] {
            state.take = take
            let texts = machine.handle(.shown(state)).compactMap { action in
                if case .show(let status) = action { status.text } else { nil }
            }
            #expect(texts == [words])
        }
    }

    @Test func aStopThatIsOlderThanTheTakeDoesNotEndIt() {
        var machine = RecorderMachine(.daemon, process: 1)
        var start = ControlRequest(.start)
        start.begun = ProcessBeginning(ticks: 5, process: 5)
        _ = machine.handle(.asked(start, clients[0]))
        _ = machine.handle(.began(1, id))
        _ = machine.handle(.carriedOut(start, .started(1), clients[0]))
        for (ticks, isObeyed) in [(4, false), (6, true)] as [(UInt64, Bool)] {
            var stop = ControlRequest(.stop)
            stop.begun = ProcessBeginning(ticks: ticks, process: 5)
            let actions = machine.handle(.asked(stop, clients[1]))
            #expect(isObeyed == actions.contains { if case .obey = $0 { true } else { false } })
        }
    }
}
