// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Utter

@Suite("Push to talk: every order of events")
struct TalkOrdersTests {
    /// What the world knows of one take that it was told to start.
    private struct ModelTake {
        var isHeard = false
        var isStopped = false
        var isResumable = false
        var isPaused = false
        var isCaptured = false
        var isSent = false
        var isCancelled = false
    }

    /// A machine, and what it has asked for so far.
    private struct World {
        var machine: TalkMachine
        var takes: [Int: ModelTake] = [:]
        var started = 0
        var now: ContinuousClock.Instant

        /// What may happen next: any key, any command, and what takes can do.
        func possible(_ inputs: [Dictation.Input]) -> [(Duration, TalkMachine.Event)] {
            var events: [(Duration, TalkMachine.Event)] = [
                (.milliseconds(600), .keyDown), (.milliseconds(600), .keyUp),
                (.seconds(2_000), .time),
            ]
            for input in inputs {
                events.append(
                    (
                        input == .keyDown || input == .keyUp ? .milliseconds(50) : .zero,
                        .input(input)
                    ))
            }
            // In one order, so that a seed always means the same.
            for (number, take) in takes.sorted(by: { $0.key < $1.key }) {
                if !take.isHeard { events.append((.zero, .take(number, .listening))) }
                if take.isPaused, !take.isCaptured {
                    events.append((.zero, .take(number, .paused)))
                }
                if take.isResumable { events.append((.zero, .take(number, .resumed))) }
                if !take.isCaptured { events.append((.zero, .take(number, .captured))) }
                if take.isCaptured && !take.isSent { events.append((.zero, .take(number, .sent))) }
                if take.isHeard && !take.isCaptured {
                    events.append((.zero, .take(number, .fellSilent)))
                }
                events.append((.zero, .take(number, .settled)))
            }
            return events
        }

        /// Lets an event happen; says what is wrong with what it causes.
        mutating func handle(_ pause: Duration, _ event: TalkMachine.Event) -> String? {
            now = now.advanced(by: pause)
            switch event {
            case .take(let number, .listening): takes[number]?.isHeard = true
            case .take(let number, .resumed): takes[number]?.isResumable = false
            case .take(let number, .captured):
                takes[number]?.isCaptured = true
                takes[number]?.isResumable = false
            case .take(let number, .sent): takes[number]?.isSent = true
            case .take(let number, .settled): takes[number] = nil
            default: break
            }
            for action in machine.handle(event, at: now) {
                if let fault = carryOut(action) { return fault }
            }
            return fault
        }

        private mutating func carryOut(_ action: TalkMachine.Action) -> String? {
            switch action {
            case .start(let number):
                started += 1
                if number != started { return "take \(number) is the start number \(started)" }
                if takes.values.contains(where: { !$0.isCaptured && !$0.isCancelled }) {
                    return "two takes are recorded"
                }
                takes[number] = ModelTake()
            case .stop(let number):
                guard let take = takes[number], !take.isCaptured, !take.isStopped else {
                    return "nothing to stop of \(number)"
                }
                takes[number]?.isStopped = true
            case .pause(let number):
                guard let take = takes[number], !take.isCaptured, !take.isStopped, !take.isPaused
                else { return "nothing to pause of \(number)" }
                takes[number]?.isPaused = true
            case .resume(let number):
                guard let take = takes[number], take.isStopped || take.isPaused, !take.isCaptured
                else { return "nothing to resume of \(number)" }
                takes[number]?.isStopped = false
                takes[number]?.isPaused = false
                takes[number]?.isResumable = true
            case .cancel(let number):
                guard let take = takes[number], !take.isCancelled else {
                    return "nothing to cancel of \(number)"
                }
                takes[number]?.isCancelled = true
            case .tell: break
            }
            return nil
        }

        /// What is wrong with the machine as it stands.
        private var fault: String? {
            let isRunning = takes.values.contains { !$0.isCancelled }
            if (machine.phase == .idle) == isRunning { return "\(machine.phase) with \(takes)" }
            if (machine.take == nil) == isRunning { return "take \(machine.take ?? 0)" }
            if let newest = machine.take, let take = takes[newest] {
                let isRecorded = machine.phase == .arming || machine.phase == .recording
                if isRecorded && (take.isStopped || take.isCaptured) { return "not recorded" }
                if machine.phase == .tail && !take.isStopped { return "a tail without an end" }
                if (machine.phase == .paused)
                    != (take.isPaused && !take.isStopped && !take.isCaptured)
                {
                    return "\(machine.phase) of a take whose pause is \(take.isPaused)"
                }
            }
            var stopped = machine
            _ = stopped.handle(.input(.stop), at: now)
            if [.arming, .recording, .paused].contains(stopped.phase) { return "does not stop" }
            var begun = machine
            _ = begun.handle(.input(.start), at: now)
            if ![.arming, .recording].contains(begun.phase) { return "does not start" }
            return nil
        }
    }

    /// Lets everything happen that can, `depth` events deep.
    private func explore(
        _ world: World, depth: Int, path: [TalkMachine.Event], count: inout Int
    ) -> String? {
        guard depth > 0 else { return nil }
        // `pauseOrResume` does the work of both.
        let inputs = Dictation.Input.allCases.filter { $0 != .pause && $0 != .resume }
        for (pause, event) in world.possible(inputs) {
            var next = world
            count += 1
            if let fault = next.handle(pause, event) {
                return "\(fault) after \(path + [event])"
            }
            if let fault = explore(next, depth: depth - 1, path: path + [event], count: &count) {
                return fault
            }
        }
        return nil
    }

    @Test func noOrderOfFiveEventsConfusesIt() {
        var count = 0
        let world = World(machine: TalkMachine(), now: .now)
        #expect(explore(world, depth: 5, path: [], count: &count) == nil)
        #expect(count > 200_000)
    }

    @Test(arguments: 0..<8) func noLongOrderConfusesIt(seed: Int) {
        var generator = SeededRandom(seed: UInt64(seed) + 1)
        for _ in 0..<100 {
            var world = World(machine: TalkMachine(), now: .now)
            var path: [TalkMachine.Event] = []
            for _ in 0..<40 {
                let possible = world.possible(Dictation.Input.allCases)
                let index = generator.next() % UInt64(possible.count)
                let (pause, event) = possible[Int(index)]
                path.append(event)
                if let fault = world.handle(pause, event) {
                    Issue.record("\(fault) after \(path)")
                    return
                }
            }
        }
    }
}

extension TalkMachine.Event {
    static let keyDown = Self.input(.keyDown)
    static let keyUp = Self.input(.keyUp)
    static let focusLost = Self.input(.focusLost)
    static let start = Self.input(.start)
    static let stop = Self.input(.stop)
    static let toggle = Self.input(.toggle)
    static let cancel = Self.input(.cancel)
}
