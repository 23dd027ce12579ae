// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import AudioDevices
@testable import Utter

@Suite(.serialized) struct DictationTests {
    /// Writes down what a dictation says to its listeners.
    private final class Listener: Sendable {
        struct Seen: Sendable {
            var states: [Dictation.State] = []
            var news: [Dictation.News] = []
            var outcomes: [TakeOutcome] = []
            var ends = 0

            var phases: [Dictation.Phase] { states.map(\.phase) }
        }

        let seen = Observed(Seen())

        init(_ dictation: Dictation) {
            let (takes, states, news) = (dictation.takes, dictation.states, dictation.news)
            let seen = seen
            Task {
                for await take in takes {
                    Task {
                        let outcome = await take.outcome
                        seen.update { $0.outcomes.append(outcome) }
                    }
                }
                seen.update { $0.ends += 1 }
            }
            Task {
                for await state in states { seen.update { $0.states.append(state) } }
                seen.update { $0.ends += 1 }
            }
            Task {
                for await news in news { seen.update { $0.news.append(news) } }
                seen.update { $0.ends += 1 }
            }
        }

        func wait(until condition: @escaping @Sendable (Seen) -> Bool) async -> Bool {
            await seen.wait(within: .patience) { condition($0) ? true : nil } ?? false
        }

        func wait(for phase: Dictation.Phase) async -> Bool {
            await wait { $0.phases.last == phase }
        }

        func wait(for news: [Dictation.News]) async -> Bool { await wait { $0.news == news } }

        /// Waits for so many outcomes, and that no take is left.
        func wait(forOutcomes count: Int) async -> Bool {
            await wait { $0.phases.last == .idle && $0.outcomes.count == count }
        }
    }

    /// A take that does what the test says.
    private final class Puppet: Dictated {
        let calls = Observed<[String]>([])
        private let steps = Broadcast<DictationStep>()

        func stop() { calls.update { $0.append("stop") } }
        func pause() { calls.update { $0.append("pause") } }
        func resume() { calls.update { $0.append("resume") } }
        func cancel() { calls.update { $0.append("cancel") } }
        func follow(_ tell: @escaping @Sendable (DictationStep) -> Void) {
            steps.observe { if let step = $0 { tell(step) } }
        }

        func step(_ step: DictationStep) { steps.add(step) }
    }

    @Test func aKeyThatIsHeldBecomesATextForAllListeners() async throws {
        let card = try VirtualMicrophone()
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let url = server.url()
        let dictation = try Dictation { _ in
            // No take is what the closure answers when it cannot start one.
            try? bench.start(Microphone(device: card.deviceName), to: url)
        }
        let listeners = [Listener(dictation), Listener(dictation)]
        let press = ContinuousClock.now
        dictation.handle(.keyDown, at: press)
        #expect(await listeners[0].wait(for: .recording))
        dictation.handle(.keyUp, at: press + .seconds(1))
        for listener in listeners {
            #expect(await listener.wait(forOutcomes: 1))
            let seen = listener.seen.value
            #expect(seen.phases == [.arming, .recording, .tail, .sending, .waiting, .idle])
            #expect(seen.states.map(\.take) == [1, 1, 1, 1, 1, nil])
            #expect(try seen.outcomes.first?.result.get().text == "heard")
            #expect(seen.news.isEmpty)
        }
        dictation.shutDown()
        for listener in listeners { #expect(await listener.wait { $0.ends == 3 }) }
    }

    @Test func aPauseIsAnsweredOnceTheMicrophoneIsClosed() async throws {
        let card = try VirtualMicrophone()
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let url = server.url()
        let dictation = try Dictation { _ in
            // No take is what the closure answers when it cannot start one.
            try? bench.start(Microphone(device: card.deviceName), to: url)
        }
        defer { dictation.shutDown() }
        let listener = Listener(dictation)
        #expect(await dictation.reply(to: .start) == .started(1))
        #expect(await listener.wait(for: .recording))
        #expect(await dictation.reply(to: .pause) == .paused(1))
        #expect(card.account.closes == 1)
        #expect(await dictation.reply(to: .pause) == .nothing)
        #expect(await dictation.reply(to: .pauseOrResume) == .resumed(1))
        #expect(await dictation.reply(to: .pauseOrResume) == .paused(1))
        #expect(card.account.closes == 2)
        // A recording shall run.
        #expect(await dictation.reply(to: .start) == .resumed(1))
        #expect(await dictation.reply(to: .resume) == .nothing)
        #expect(await dictation.reply(to: .stop) == .stopped(1))
        #expect(await listener.wait(forOutcomes: 1))
        let outcome = try #require(listener.seen.value.outcomes.first)
        #expect(outcome.text == "heard" && outcome.capture.pauses.count == 2)
        #expect(
            listener.seen.value.phases == [
                .arming, .recording, .paused, .recording, .paused, .recording, .tail, .sending,
                .waiting, .idle,
            ])
    }

    @Test(arguments: [true, false])
    func aStartInsideATailIsAnsweredOnceTheTakeSaysWhetherItGoesOn(_ goesOn: Bool) async throws {
        let puppets = Observed<[Puppet]>([])
        let dictation = try Dictation(TalkMachine()) { _ in
            let puppet = Puppet()
            puppets.update { $0.append(puppet) }
            return puppet
        }
        let listener = Listener(dictation)
        #expect(await dictation.reply(to: .start) == .started(1))
        let puppet = try #require(puppets.value.first)
        puppet.step(.listening)
        #expect(await listener.wait(for: .recording))
        #expect(await dictation.reply(to: .stop) == .stopped(1))
        async let reply = dictation.reply(to: .start)
        #expect(
            await puppet.calls.wait(within: .patience) { $0.last == "resume" ? true : nil } == true)
        puppet.step(goesOn ? .resumed : .captured)
        #expect(await reply == (goesOn ? .resumed(1) : .started(2)))
        #expect(puppets.value.count == (goesOn ? 1 : 2))
        if goesOn {
            #expect(await listener.wait { $0.phases == [.arming, .recording, .tail, .recording] })
        }
        dictation.shutDown()
    }

    @Test func aStartThatIsStoppedBeforeTheTailIsKnownToBeOverBeginsNothing() async throws {
        let puppet = Puppet()
        let dictation = try Dictation(TalkMachine()) { _ in puppet }
        _ = await dictation.reply(to: .start)
        _ = await dictation.reply(to: .stop)
        async let reply = dictation.reply(to: .start)
        #expect(
            await puppet.calls.wait(within: .patience) { $0.last == "resume" ? true : nil } == true)
        #expect(await dictation.reply(to: .stop) == .stopped(1))
        puppet.step(.captured)
        #expect(await reply == .nothing)
        dictation.shutDown()
    }

    @Test func aListenerThatComesLateBeginsWithWhatRuns() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let url = server.url()
        let speakers = [try Speaker(), try Speaker()]
        let dictation = try Dictation { number in
            // No take is what the closure answers when it cannot start one.
            try? bench.start(speakers[number - 1].source, to: url)
        }
        defer { dictation.shutDown() }
        let first = Listener(dictation)
        #expect(await dictation.reply(to: .start) == .started(1))
        speakers[0].fallSilent()
        #expect(await first.wait(forOutcomes: 1))
        #expect(await dictation.reply(to: .start) == .started(2))
        let late = Listener(dictation)
        speakers[1].fallSilent()
        #expect(await late.wait(forOutcomes: 1))
        // Each listener hears it in its own time.
        #expect(await first.wait { $0.outcomes.count == 2 })
        #expect(late.seen.value.outcomes.first?.id == first.seen.value.outcomes.last?.id)
    }

    @Test func aTakeThatCannotBeginIsNone() async throws {
        let dictation = try Dictation { _ in nil }
        let listener = Listener(dictation)
        #expect(await dictation.reply(to: .toggle) == .started(1))
        #expect(await dictation.reply(to: .stop) == .nothing)
        #expect(await listener.wait(for: [.notRecording]))
        #expect(listener.seen.value.states.isEmpty)
        dictation.shutDown()
        #expect(await dictation.reply(to: .start) == .nothing)
    }

    @Test func silenceEndsASentenceAndTheNextIsListenedFor() async throws {
        let puppets = Observed<[Puppet]>([])
        let dictation = try Dictation(TalkMachine(listensAgain: true)) { _ in
            let puppet = Puppet()
            puppets.update { $0.append(puppet) }
            return puppet
        }
        defer { dictation.shutDown() }
        dictation.handle(.start)
        for count in 1...3 {
            let puppet = try #require(
                await puppets.wait(within: .patience) { $0.count == count ? $0.last : nil })
            puppet.step(.listening)
            puppet.step(.fellSilent)
            #expect(
                await puppet.calls.wait(within: .patience) { $0 == ["stop"] ? true : nil } == true)
            puppet.step(.captured)
        }
        // What is ended otherwise is the last.
        let last = try #require(
            await puppets.wait(within: .patience) { $0.count == 4 ? $0.last : nil })
        #expect(await dictation.reply(to: .cancel) == .cancelled(4))
        #expect(last.calls.value == ["cancel"])
        #expect(await dictation.reply(to: .stop) == .nothing)
        #expect(puppets.value.count == 4)
    }

    @Test func anInputForAnotherTakeDoesNothing() async throws {
        let puppet = Puppet()
        let dictation = try Dictation(starting: { _ in puppet })
        defer { dictation.shutDown() }
        #expect(await dictation.reply(to: .start) == .started(1))
        #expect(await dictation.reply(to: .cancel, onlyFor: 2) == .nothing)
        #expect(await dictation.reply(to: .stop, onlyFor: 1) == .stopped(1))
        #expect(puppet.calls.value == ["stop"])
    }

    @Test func aTapLatchesAndIsSaid() async throws {
        let dictation = try Dictation(starting: { _ in Puppet() })
        defer { dictation.shutDown() }
        let listener = Listener(dictation)
        let press = ContinuousClock.now
        dictation.handle(.keyDown, at: press)
        dictation.handle(.keyUp, at: press + .milliseconds(100))
        let isLatched = await listener.wait { seen in
            guard seen.news == [.latched], let last = seen.states.last else { return false }
            return last.isLatched
        }
        #expect(isLatched)
        #expect(await dictation.reply(to: .start) == .nothing)
        #expect(await listener.wait(for: [.latched, .alreadyRecording]))
    }

    @Test func afterTheEndNoTakeBegins() async throws {
        let starts = Atomic(0)
        let dictation = try Dictation(starting: { _ in
            starts.add(1, ordering: .relaxed)
            return Puppet()
        })
        defer { dictation.shutDown() }
        let listener = Listener(dictation)
        dictation.finish()
        #expect(await listener.wait { $0.ends == 1 })
        #expect(await dictation.reply(to: .start) == .started(1))
        #expect(await dictation.reply(to: .start) == .started(2))
        #expect(starts.load(ordering: .relaxed) == 0)
    }

    @Test func anObserverIsToldBeforeTheReply() async throws {
        let told = Mutex<[String]>([])
        let dictation = try Dictation(starting: { _ in Puppet() })
        dictation.observe(
            show: { state in told.withLock { $0.append("\(state.phase)") } },
            tell: { news in told.withLock { $0.append("\(news)") } })
        for input in [Dictation.Input.start, .start, .stop] {
            dictation.handle(input) { _ in told.withLock { $0.append("reply") } }
        }
        dictation.look { phase in told.withLock { $0.append("looked: \(phase)") } }
        dictation.shutDown()
        #expect(
            told.withLock { $0 } == [
                "arming", "reply", "alreadyRecording", "reply", "tail", "reply", "looked: tail",
            ])
    }
}
