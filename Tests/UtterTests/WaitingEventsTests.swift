// SPDX-License-Identifier: Apache-2.0

import SpeechService
import Testing

@testable import Utter

@Suite struct WaitingEventsTests {
    private func transcript(_ count: Int, bytes: Int) -> Transcript {
        var transcript = Transcript()
        for number in 0..<count {
            let text = "\(number)" + String(repeating: "x", count: bytes)
            transcript.apply(Hypothesis(text: text, isFinal: true))
        }
        return transcript
    }

    private func all(_ events: WaitingEvents) async -> [TakeEvent] {
        var all: [TakeEvent] = []
        for await event in events.stream { all.append(event) }
        return all
    }

    @Test func ofLongTranscriptsTheNewestAloneWaits() async {
        let events = WaitingEvents()
        var long = transcript(1, bytes: 300 << 10)
        for count in 1...200 {
            long.apply(Hypothesis(text: "\(count)", isFinal: true))
            events.add(.heard(long))
            events.add(.connected(attempt: count))
        }
        events.finish()
        let waiting = await all(events)
        let heard = waiting.compactMap { event -> Transcript? in
            if case .heard(let transcript) = event { transcript } else { nil }
        }
        #expect(heard.count == 1 && heard.first?.finals.count == 201)
        #expect(waiting.count == 201)
    }

    @Test func shortTranscriptsAllWaitInTheirOrder() async {
        let events = WaitingEvents()
        for count in 1...100 { events.add(.heard(transcript(count, bytes: 1))) }
        events.finish()
        let counts = await all(events).map { event in
            if case .heard(let transcript) = event { transcript.finals.count } else { 0 }
        }
        #expect(counts == Array(1...100))
    }

    @Test func theOldestOfTooManyAreDropped() async {
        let events = WaitingEvents()
        for number in 1...300 { events.add(.connected(attempt: number)) }
        events.finish()
        let numbers = await all(events).map { event in
            if case .connected(let attempt) = event { attempt } else { 0 }
        }
        #expect(numbers == Array(45...300))
    }

    @Test func aListenerThatWaitsIsHandedTheNextAndTheEnd() async {
        let events = WaitingEvents()
        let listening = Task { await all(events).count }
        for _ in 1...3 {
            events.add(.quiet)
            await Task.yield()
        }
        events.finish()
        #expect(await listening.value == 3)
    }

    @Test func aListenerMayGoAway() async {
        let events = WaitingEvents()
        let listening = Task { await all(events).count }
        listening.cancel()
        #expect(await listening.value == 0)
        events.add(.quiet)
    }
}
