// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs
@testable import SpeechService
@testable import TakeStore
@testable import Upload
@testable import Utter

/// Answers to the stretches of a recording, of which one is not as the others.
@Suite struct StretchAnswerTests {
    private static func place(_ seconds: Int) -> RecordingPlace {
        RecordingPlace(frame: seconds * 16_000, offset: 44 + seconds * 32_000)
    }

    /// A word a second.
    private static func heard(_ words: String, isTimed: Bool) -> Transcript {
        var hypothesis = Hypothesis(text: words, isFinal: true)
        let timed = words.split(separator: " ").enumerated().map { index, word in
            RecognizedWord(text: String(word), start: Double(index), end: Double(index) + 0.8)
        }
        if isTimed { hypothesis.words = timed }
        var transcript = Transcript()
        transcript.apply(hypothesis)
        return transcript
    }

    /// A recording of so many seconds that is cut at these.
    private static func exchange(
        of seconds: Int, cutAt cuts: [Int], retry: RetryPolicy = .never
    ) throws -> (StretchExchange, RecordingExtent) {
        let plan = try Bench.plan(
            by: "url = 'http://127.0.0.1:9/'\nlimits.seconds = 12", format: .pcm, retry: retry)
        var exchange = StretchExchange(plan)
        let end = place(seconds)
        let whole = RecordingExtent(
            byteCount: end.offset - 44, frameCount: end.frame, encodedByteCount: end.offset,
            isComplete: true)
        #expect(exchange.need(of: whole) != nil)
        exchange.learn(cuts.map { StretchCut(end: place($0), next: place($0)) }, of: 0)
        return (exchange, whole)
    }

    private static func reply(_ words: Transcript, isBodyComplete: Bool) -> Reply {
        var result = TransferResult.unstarted(.answered)
        (result.status, result.isBodyComplete) = (200, isBodyComplete)
        var reply = Reply(result: result)
        reply.transcript = words
        return reply
    }

    @Test func aStretchWithoutTimesIsOneCueBesideOthersWithTimes() throws {
        var (exchange, whole) = try Self.exchange(of: 25, cutAt: [10, 20])
        var cues: [SubtitleText.Cue] = []
        for (words, isTimed) in [("a b", true), ("c d e", false), ("f", true)] {
            _ = exchange.begin(lane: 0, of: whole)
            let reply = Self.reply(Self.heard(words, isTimed: isTimed), isBodyComplete: true)
            let all = exchange.transcript(with: reply.transcript, of: 0)
            cues = SubtitleText.cues(segments: all.segments, words: all.words)
            _ = exchange.next(after: reply, lane: 0, isSpeaking: false, at: Moment())
        }
        #expect(cues.map(\.text) == ["a b", "c d e", "f"])
        #expect(cues.map(\.start) == [0, 10, 20] && cues.map(\.end) == [1.8, 20, 20.8])
    }

    /// A service that answers before it has a stretch, whose length it knows, is asked again.
    @Test func aStretchThatIsAnsweredEarlyIsAskedForAgain() throws {
        let policy = RetryPolicy.standard
        var (exchange, whole) = try Self.exchange(of: 20, cutAt: [10], retry: policy)
        _ = exchange.begin(lane: 0, of: whole)
        let reply = Self.reply(Self.heard("half", isTimed: false), isBodyComplete: false)
        let failure = TakeFailure.unavailable(
            status: 200, message: "it answered before it had all")
        for _ in policy.pausesAfterRelease {
            let step = exchange.next(after: reply, lane: 0, isSpeaking: false, at: Moment())
            guard case .request(let pause) = step else {
                Issue.record("\(step)")
                return
            }
            #expect(pause.cause == failure && exchange.takenCount == 0)
        }
        let step = exchange.next(after: reply, lane: 0, isSpeaking: false, at: Moment())
        #expect(step == .failed(failure))
        #expect(exchange.transcript(with: Transcript(), of: .max).text.isEmpty)
    }
}
