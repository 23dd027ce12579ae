// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import SpeechService
@testable import Utter

@Suite struct BroadcastTests {
    private func makeEvents() -> Broadcast<TakeEvent> {
        Broadcast(adding: { TakeEvent.add($1, to: &$0) })
    }

    private func transcript(_ count: Int, bytes: Int) -> Transcript {
        var transcript = Transcript()
        for number in 0..<count {
            let text = "\(number)" + String(repeating: "x", count: bytes)
            transcript.apply(Hypothesis(text: text, isFinal: true))
        }
        return transcript
    }

    private func all<Element>(_ stream: AsyncStream<Element>) async -> [Element] {
        var all: [Element] = []
        for await element in stream { all.append(element) }
        return all
    }

    private func attempts(_ events: [TakeEvent]) -> [Int] {
        events.compactMap { if case .connected(let attempt) = $0 { attempt } else { nil } }
    }

    @Test func ofLongTranscriptsTheNewestAloneWaits() async {
        let events = makeEvents()
        var long = transcript(1, bytes: 300 << 10)
        for count in 1...200 {
            long.apply(Hypothesis(text: "\(count)", isFinal: true))
            events.add(.heard(long))
            events.add(.connected(attempt: count))
        }
        events.finish()
        let waiting = await all(events.stream)
        let heard = waiting.compactMap { event -> Transcript? in
            if case .heard(let transcript) = event { transcript } else { nil }
        }
        #expect(heard.count == 1 && heard.first?.finals.count == 201)
        #expect(waiting.count == 201)
    }

    @Test func shortTranscriptsAllWaitInTheirOrder() async {
        let events = makeEvents()
        for count in 1...100 { events.add(.heard(transcript(count, bytes: 1))) }
        events.finish()
        let counts = await all(events.stream).map { event in
            if case .heard(let transcript) = event { transcript.finals.count } else { 0 }
        }
        #expect(counts == Array(1...100))
    }

    @Test func theNewestTranscriptOutlastsManyEvents() async {
        let events = makeEvents()
        events.add(.heard(transcript(1, bytes: 1)))
        for number in 1...300 { events.add(.connected(attempt: number)) }
        events.finish()
        let waiting = await all(events.stream)
        #expect(waiting.first?.isHeard == true)
        #expect(attempts(waiting) == Array(46...300))
    }

    @Test func ofManyTranscriptsAndProgressTheEndOfTheRecordingIsNotLost() async {
        let events = makeEvents()
        events.add(.captured(CaptureEnd(cause: .finished)))
        for count in 1...1_000 {
            events.add(.heard(transcript(count % 3, bytes: 1)))
            events.add(.progress(progress(count)))
        }
        events.finish()
        let waiting = await all(events.stream)
        #expect(waiting.first?.isCaptured == true && waiting.count == 256)
        let counts = waiting.compactMap { event -> Int? in
            if case .progress(let progress) = event { progress.sentByteCount } else { nil }
        }
        #expect(counts == [1_000])
    }

    private func progress(_ sent: Int) -> TakeProgress {
        TakeProgress(
            elapsed: .zero, level: CaptureAccount().level, journaledByteCount: 0, bodyByteCount: 0,
            sentByteCount: sent, isComplete: false)
    }

    @Test func eachListenerHasAllOfItAtItsOwnPace() async {
        let events = makeEvents()
        let slow = events.stream
        let fast = Task { [stream = events.stream] in attempts(await all(stream)) }
        for number in 1...100 { events.add(.connected(attempt: number)) }
        let late = events.stream
        for number in 101...300 { events.add(.connected(attempt: number)) }
        events.finish()
        #expect(await fast.value.suffix(100) == Array(201...300))
        #expect(attempts(await all(slow)) == Array(45...300))
        #expect(attempts(await all(late)) == Array(45...300))
        #expect(attempts(await all(events.stream)) == Array(45...300))
    }

    @Test func aListenerMayGoAway() async {
        let events = makeEvents()
        let staying = events.stream
        let listening = Task { await all(events.stream).count }
        listening.cancel()
        #expect(await listening.value == 0)
        events.add(.quiet)
        events.finish()
        #expect(await all(staying).count == 1)
    }

    @Test func aListenerThatIsDroppedKeepsNothing() {
        final class Thing: Sendable {}
        let things = Broadcast<Thing>(remembering: 0)
        weak var kept: Thing?
        do {
            let stream = things.stream
            let thing = Thing()
            kept = thing
            things.add(thing)
            _ = stream
        }
        #expect(kept == nil)
    }

    @Test func aLateListenerBeginsWithWhatIsRemembered() async {
        let numbers = Broadcast<Int>(remembering: 2)
        let early = numbers.stream
        for number in 1...4 { numbers.add(number) }
        let late = numbers.stream
        numbers.forget { $0 == 4 }
        let later = numbers.stream
        numbers.finish()
        #expect(await all(early) == [1, 2, 3, 4])
        #expect(await all(late) == [3, 4])
        #expect(await all(later) == [3])
    }

    @Test func anObserverIsToldAllInOrderAndTheEndOnce() {
        let numbers = Broadcast<Int>()
        let told = Mutex<[Int?]>([])
        numbers.add(1)
        numbers.observe { number in told.withLock { $0.append(number) } }
        numbers.add(2)
        numbers.finish()
        numbers.finish()
        numbers.observe { number in told.withLock { $0.append(number) } }
        #expect(told.withLock { $0 } == [1, 2, nil, 1, 2, nil])
    }
}
