// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform

@Suite struct WorkerLoopTests {
    /// What the worker of a test has done.
    private struct Diary: Sendable {
        var received: [Int] = []
        var refused: [Int] = []
        var turns = 0
        var lastTurns = 0
        var hasEnded = false
    }

    /// Writes down what it is asked for.
    private struct Scribe: Worker {
        let diary: Observed<Diary>
        /// How many turns say that there is more to do.
        var busyTurns = 0
        /// Called in the first turn.
        var onFirstTurn: @Sendable () -> Void = {}

        mutating func receive(_ message: Int) { diary.update { $0.received.append(message) } }

        mutating func turn(isLast: Bool) -> WorkerPause {
            let isFirst = diary.value.turns == 0
            diary.update { diary in
                diary.turns += 1
                diary.lastTurns += isLast ? 1 : 0
            }
            if isFirst { onFirstTurn() }
            guard isLast, busyTurns > 0 else { return .untilWoken }
            busyTurns -= 1
            return .goesOn
        }

        mutating func end() { diary.update { $0.hasEnded = true } }

        mutating func refuse(_ message: Int) { diary.update { $0.refused.append(message) } }
    }

    private let diary = Observed(Diary())

    @Test func messagesAreReceivedInTheirOrder() async throws {
        let loop = try WorkerLoop(name: "scribe") { [diary] in Scribe(diary: diary) }
        for number in 0..<1_000 { #expect(loop.send(number)) }
        #expect(
            await diary.wait(within: .patience) { $0.received.count == 1_000 ? true : nil }
                == true)
        loop.shutDown()
        #expect(diary.value.received == Array(0..<1_000))
    }

    @Test func aLoopWithNothingToDoTakesNoTurn() async throws {
        let loop = try WorkerLoop(name: "scribe") { [diary] in Scribe(diary: diary) }
        #expect(await diary.wait(within: .patience) { $0.turns == 1 ? true : nil } == true)
        loop.wake()
        #expect(await diary.wait(within: .patience) { $0.turns == 2 ? true : nil } == true)
        loop.send(1)
        loop.shutDown()
        let end = diary.value
        // One more for the message, unless it was in the last turn.
        #expect((3...4).contains(end.turns))
        #expect(end.received == [1])
    }

    @Test func whatIsSentBeforeTheShutDownIsDoneAndWhatIsSentLaterIsRefused() async throws {
        let (isInTurn, mayGoOn) = (Gate(), Gate())
        let loop = try WorkerLoop(name: "scribe") { [diary] in
            Scribe(
                diary: diary, busyTurns: 3,
                onFirstTurn: {
                    isInTurn.open()
                    _ = mayGoOn.waitBlocking()
                })
        }
        #expect(await isInTurn.wait())
        #expect(loop.send(1))
        let shutDown = try NamedThread(name: "test") { loop.shutDown() }
        mayGoOn.open()
        await onOwnThread { shutDown.join() }
        #expect(!loop.send(2))
        #expect(diary.value.received == [1])
        #expect(diary.value.refused == [])
        #expect(diary.value.lastTurns == 4)
        #expect(diary.value.hasEnded)
    }

    @Test func aMessageThatIsSentTooLateKeepsNothingAlive() throws {
        struct Idle: Worker {
            mutating func receive(_ message: @Sendable () -> Void) {}
            mutating func turn(isLast: Bool) -> WorkerPause { .untilWoken }
        }
        let loop = try WorkerLoop(name: "idle") { Idle() }
        loop.shutDown()
        weak var kept: Wakeup?
        do {
            let wakeup = try Wakeup()
            kept = wakeup
            #expect(!loop.send { wakeup.signal() })
        }
        #expect(kept == nil)
    }

    @Test func aLoopThatIsShutDownAtAnyMomentEnds() async throws {
        let rounds = 500
        let ended = await onOwnThread {
            var ended = 0
            for round in 0..<rounds {
                // A loop that cannot start ends as well.
                let loop = try? WorkerLoop(name: "scribe") { [diary] in Scribe(diary: diary) }
                // Meets the thread at another place of its first turn each time.
                for _ in 0..<round { sched_yield() }
                loop?.shutDown()
                ended += 1
            }
            return ended
        }
        #expect(ended == rounds)
    }
}
