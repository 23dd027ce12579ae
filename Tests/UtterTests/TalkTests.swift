// SPDX-License-Identifier: Apache-2.0

import AudioDevices
import Synchronization
import TestSupport
import Testing

@testable import Utter

@Suite("Push to talk, carried out on a sound card", .serialized) struct TalkTests {
    /// Starts takes on a virtual microphone, and writes down what it is told.
    private final class Talker: TalkDelegate {
        struct Seen: Sendable {
            var phases: [TalkMachine.Phase] = []
            var news: [TalkMachine.News] = []
            var outcomes: [TakeOutcome] = []
        }

        let seen = Observed(Seen())
        private let talk = Mutex<Talk?>(nil)
        private let start: @Sendable () throws -> Take

        init(start: @escaping @Sendable () throws -> Take) { self.start = start }

        func begin(_ machine: TalkMachine = TalkMachine()) throws -> Talk {
            let talk = try Talk(machine, delegate: self)
            self.talk.withLock { $0 = talk }
            return talk
        }

        func startTake(_ number: Int) -> Take? {
            guard let talk = talk.withLock({ $0 }) else { return nil }
            // No take is what the delegate answers then, and the machine goes on.
            guard let take = try? start() else { return nil }
            Task {
                for await event in take.events { talk.note(event, of: number) }
                let outcome = await take.outcome
                seen.update { $0.outcomes.append(outcome) }
                talk.settle(number, outcome)
            }
            return take
        }

        func tell(_ news: TalkMachine.News) { seen.update { $0.news.append(news) } }

        func show(_ phase: TalkMachine.Phase, of take: Int?, isLatched: Bool) {
            seen.update { $0.phases.append(phase) }
        }

        func wait(until condition: @escaping @Sendable (Seen) -> Bool) async -> Bool {
            await seen.wait(within: .patience) { condition($0) ? true : nil } ?? false
        }
    }

    @Test func aKeyThatIsHeldBecomesAText() async throws {
        let card = try VirtualMicrophone()
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let url = server.url()
        let talker = Talker { try bench.start(Microphone(device: card.deviceName), to: url) }
        let talk = try talker.begin()
        defer { talk.shutDown() }
        let press = ContinuousClock.now
        talk.handle(.keyDown, at: press)
        #expect(await talker.wait { $0.phases.last == .recording })
        talk.handle(.keyUp, at: press + .seconds(1))
        #expect(await talker.wait { $0.phases.last == .idle })
        let seen = talker.seen.value
        #expect(seen.phases == [.arming, .recording, .tail, .sending, .waiting, .idle])
        #expect(try seen.outcomes.first?.result.get().text == "heard")
        #expect(seen.news.isEmpty)
    }

    @Test func aPressInsideTheTailGoesOnWithTheSameTake() async throws {
        let card = try VirtualMicrophone()
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let url = server.url()
        let talker = Talker {
            try bench.start(Microphone(device: card.deviceName), to: url) {
                $0.capture.tail = Tail(usual: .seconds(600))
            }
        }
        let talk = try talker.begin()
        defer { talk.shutDown() }
        talk.handle(.start)
        #expect(await talker.wait { $0.phases.last == .recording })
        talk.handle(.stop)
        #expect(await talker.wait { $0.phases.last == .tail })
        talk.handle(.start)
        #expect(await talker.wait { $0.phases == [.arming, .recording, .tail, .recording] })
        card.unplug(.afterRing)
        #expect(await talker.wait { $0.phases.last == .idle })
        #expect(talker.seen.value.outcomes.count == 1)
        #expect(server.requests.count == 1)
    }

    @Test func aTakeThatCannotBeginIsDropped() async throws {
        struct Refusal: Error {}
        let talker = Talker { throw Refusal() }
        let talk = try talker.begin()
        defer { talk.shutDown() }
        talk.handle(.toggle)
        talk.handle(.stop)
        #expect(await talker.wait { $0.news == [.notRecording] })
    }
}
