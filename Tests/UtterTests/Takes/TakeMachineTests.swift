// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import Capture
@testable import SpeechService
@testable import TakeStore
@testable import Upload
@testable import Utter

/// Every order in which a take's stages, loops and its person can act.
@Suite struct TakeMachineTests {
    struct Way: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var framing = BodyFraming.auto
        var policy = RetryPolicy.standard
        var wantsLength = false
        var detectsEnd = false
        var isKept = false
        var wantsSecrets = false
        var diskMayBeSlow = false
        var mayPause = false
        var depth = 7

        func makeWorld() throws -> TakeWorld {
            TakeWorld(try makeMachine(), diskMayBeSlow: diskMayBeSlow, mayPause: mayPause)
        }

        private func makeMachine() throws -> TakeMachine {
            let url = try ServiceURL("http://127.0.0.1:9/")
            let delivery = TakeDelivery(
                start: 44,
                exchange: PostOnce(
                    url: url, allowed: [], policy: policy, framing: framing,
                    wantsLength: wantsLength, detectsEnd: detectsEnd))
            guard isKept else { return TakeMachine(delivery, wantsSecrets: wantsSecrets) }
            return TakeMachine(
                delivery, recorded: JournalSeal(byteCount: 1_000, sha256: "", loss: nil),
                wantsSecrets: wantsSecrets)
        }
    }

    /// The first pause is longer than what the end of the recording leaves of it.
    private static let patient = RetryPolicy(
        pausesWhileSpeaking: [.seconds(20)], pausesAfterRelease: [.seconds(1), .seconds(3)],
        longestRetryAfter: .seconds(30), unknownOutcome: .resend)

    static let ways = [
        Way(testDescription: "while speaking", depth: 8),
        Way(testDescription: "after a long pause", policy: patient),
        Way(testDescription: "chunks only", framing: .chunked),
        Way(testDescription: "with its length", framing: .length),
        Way(testDescription: "complete soon", wantsLength: true),
        Way(testDescription: "without a second try", policy: .never),
        Way(testDescription: "the service finds the end", detectsEnd: true),
        Way(testDescription: "kept before", isKept: true),
        Way(testDescription: "secrets are asked for", wantsSecrets: true, depth: 8),
        Way(testDescription: "kept, secrets are asked for", isKept: true, wantsSecrets: true),
        Way(testDescription: "the speaker may pause", mayPause: true, depth: 6),
        Way(testDescription: "the disk may be slow", diskMayBeSlow: true),
    ]

    @Test(arguments: ways) func everyOrderIsHandled(_ way: Way) throws {
        var tree = Tree(way.depth)
        tree.grow(from: try way.makeWorld())
        #expect(tree.faults.isEmpty)
        #expect(tree.count > 1_000, "\(tree.count) orders")
    }

    /// The answer may come before the disk has the end of the recording, and its delay counts from there.
    @Test func anAnswerMayComeBeforeTheSeal() throws {
        var world = try Self.ways[0].makeWorld()
        for move in [TakeWorld.Move.opened, .noted(0), .captured, .ended(0, .answered), .sealed] {
            #expect(world.legal.contains(move) && world.ending == nil)
            world.make(move)
        }
        #expect(world.faults == [])
        #expect(world.ending?.answerDelay == .seconds(1))
    }

    /// Longer stories than can all be told.
    @Test(arguments: ways) func ordersAtRandomAreHandled(_ way: Way) throws {
        var random = SeededRandom()
        let first = try way.makeWorld()
        var faults: [String] = []
        for _ in 0..<1_000 where faults.isEmpty {
            var world = first
            for _ in 0..<60 {
                let moves = world.legal.filter { $0 != .abandoned }
                guard let move = moves.randomElement(using: &random) else { break }
                world.make(move)
            }
            faults = Tree.finished(world)
        }
        #expect(faults.isEmpty, "seed \(random.seed)")
    }
}

/// A take that a busy service has asked to wait, and whose speaker ends meanwhile.
@Suite struct TakeMachineWaitTests {
    private func makeMachine() throws -> TakeMachine {
        let exchange = PostOnce(
            url: try ServiceURL("http://127.0.0.1:9/"), allowed: [], policy: .standard)
        return TakeMachine(TakeDelivery(start: 44, exchange: exchange))
    }

    /// - Returns: what follows the end of the recording, and the machine.
    private func end(
        at seconds: Int, busyFor wait: Int, isNoted: Bool
    ) throws -> (TakeMachine, [TakeMachine.Action]) {
        var machine = try makeMachine()
        func handle(_ event: TakeMachine.Event, at seconds: Int) -> [TakeMachine.Action] {
            machine.handle(event, at: Moment(elapsed: .seconds(seconds)))
        }
        _ = handle(.opened(nil), at: 0)
        _ = handle(.noted(lane: 0), at: 0)
        var busy = TransferResult.test(.answered, status: 503, isBodyComplete: false)
        busy.retryAfter = .seconds(wait)
        _ = handle(.ended(lane: 0, Reply(result: busy)), at: 10)
        if isNoted { _ = handle(.noted(lane: 0), at: 10) }
        _ = handle(.captured(CaptureEnd(cause: .finished), isEmpty: false), at: seconds)
        let seal = JournalSeal(byteCount: 1_000, sha256: "", loss: nil)
        let actions = handle(.sealed(seal), at: seconds)
        return (machine, actions)
    }

    /// A voice is sent although the disk does not answer; what the disk says later of the service
    /// changes no request that is under way.
    @Test(arguments: [true, false]) func aSlowDiskHoldsUpNoRequest(_ isSlow: Bool) throws {
        var machine = try makeMachine()
        func notes(_ event: TakeMachine.Event) -> [Bool] {
            machine.handle(event, at: Moment()).compactMap { action in
                if case .note(_, let request) = action { request.saysLength } else { nil }
            }
        }
        let byTheDisk = PostOnce(
            url: try ServiceURL("http://127.0.0.1:9/"), allowed: [], policy: .standard,
            wantsLength: true)
        if isSlow { #expect(notes(.diskIsSlow(.seconds(1))) == [false]) }
        #expect(notes(.opened(byTheDisk)) == [])
        #expect(machine.delivery.exchange.request.saysLength == !isSlow)
        #expect(notes(.diskIsSlow(.seconds(1))) == [])
    }

    /// Of a ring that goes with the process nothing can be sent before the disk has it.
    @Test func aRequestThatNeedsTheDiskWaitsForIt() throws {
        var machine = try makeMachine()
        func notes(_ event: TakeMachine.Event) -> Int {
            machine.handle(event, at: Moment()).count { if case .note = $0 { true } else { false } }
        }
        #expect(notes(.diskIsSlow(.seconds(1), isAwaited: true)) == 0)
        #expect(notes(.opened(nil)) == 1)
    }

    @Test(arguments: [true, false]) func aLongWaitKeepsTheTakeAtTheRelease(_ isNoted: Bool) throws {
        let (machine, actions) = try end(at: 60, busyFor: 600, isNoted: isNoted)
        let isBrokenOff = actions.contains { if case .breakOff = $0 { true } else { false } }
        #expect(isBrokenOff == isNoted)
        // The service may have a request that the machine is breaking off.
        #expect(machine.delivery.isSending == isNoted)
        let failure = TakeFailure.unavailable(status: 503, message: "it asks to wait 10 min")
        #expect(machine.delivery.result == .failure(failure))
        switch machine.delivery.lanes[0] {
        case .breakingOff, .withdrawing: break
        default: Issue.record("\(machine.delivery.lanes[0])")
        }
    }

    @Test func whatIsLeftOfALongWaitIsWaitedForAfterTheRelease() throws {
        let (_, actions) = try end(at: 585, busyFor: 600, isNoted: true)
        #expect(actions.contains { if case .hurry = $0 { true } else { false } })
    }

    @Test func chanceIsAskedForByAPauseAfterTheReleaseAlone() throws {
        let asked = Atomic(0)
        var machine = try makeMachine()
        func handle(_ event: TakeMachine.Event) {
            _ = machine.handle(
                event,
                at: Moment(jitter: Double(asked.add(1, ordering: .relaxed).newValue) * 0.1))
        }
        let lost = TransferResult.test(.connectionLost("x"), isBodyComplete: false)
        handle(.opened(nil))
        for _ in 0..<100 { handle(.protection(.manifest(nil))) }
        handle(.noted(lane: 0))
        handle(.ended(lane: 0, Reply(result: lost)))
        handle(.noted(lane: 0))
        handle(.captured(CaptureEnd(cause: .finished), isEmpty: false))
        handle(.sealed(JournalSeal(byteCount: 1_000, sha256: "", loss: nil)))
        #expect(asked.load(ordering: .relaxed) == 0)
        handle(.ended(lane: 0, Reply(result: lost)))
        #expect(asked.load(ordering: .relaxed) == 1)
    }
}

/// All that may happen from somewhere on.
private struct Tree {
    private let depth: Int
    private(set) var count = 0
    private(set) var faults: [String] = []

    init(_ depth: Int) { self.depth = depth }

    mutating func grow(from world: TakeWorld) {
        guard faults.isEmpty else { return }
        let moves = world.moves.count < depth ? world.legal : []
        // Wherever it stands: what ends a take that is stuck may come much later, or never. What is
        // owed is one of the moves, so that of a way that goes on its end tells.
        let goesOn = world.ending == nil && world.next.map(moves.contains) == true
        faults = goesOn ? world.faults : Self.finished(world)
        guard !moves.isEmpty else { return count += 1 }
        for move in moves {
            var next = world
            next.make(move)
            grow(from: next)
        }
    }

    /// Lets happen what is owed, after which there is an outcome, and one only.
    static func finished(_ world: TakeWorld) -> [String] {
        if world.moves.last == .abandoned { return world.faults }
        var world = world
        for _ in 0..<20 {
            guard world.ending == nil, let move = world.next else { break }
            world.make(move)
        }
        return world.faults + (world.ending == nil ? ["no end after \(world.moves)"] : [])
    }
}
