// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs
@testable import SpeechService
@testable import TakeStore
@testable import Upload
@testable import Utter

/// Answers to the stretches of a recording, of which one is not as the others.
extension StretchExchangeTests {
    @Test func aStretchWithoutTimesIsOneCueBesideOthersWithTimes() throws {
        var exchange = try Self.cut(25)
        let whole = Self.recording(25, isComplete: true)
        var cues: [SubtitleText.Cue] = []
        for (text, isTimed) in [("a b", true), ("c d e", false), ("f", true)] {
            var heard = Hypothesis(text: text, isFinal: true)
            // A word a second.
            let words = text.split(separator: " ").enumerated().map { index, word in
                RecognizedWord(text: String(word), start: Double(index), end: Double(index) + 0.8)
            }
            if isTimed { heard.words = words }
            var answer = Self.answer("")
            answer.transcript = Transcript()
            answer.transcript.apply(heard)
            _ = exchange.begin(lane: 0, of: whole)
            let all = exchange.transcript(with: answer.transcript, of: 0)
            cues = SubtitleText.cues(segments: all.segments, words: all.words)
            _ = exchange.end(answer)
        }
        #expect(cues.map(\.text) == ["a b", "c d e", "f"])
        #expect(cues.map(\.start) == [0, 10, 20] && cues.map(\.end) == [1.8, 20, 20.8])
    }

    /// A service that answers before it has a stretch, whose length it knows, is asked again.
    @Test func aStretchThatIsAnsweredEarlyIsAskedForAgain() throws {
        let policy = RetryPolicy.standard
        var exchange = try Self.cut(20, retry: policy)
        _ = exchange.begin(lane: 0, of: Self.recording(20, isComplete: true))
        let early = Self.answer("half", isBodyComplete: false)
        let failure = TakeFailure.unavailable(
            status: 200, message: "it answered before it had all")
        for _ in policy.pausesAfterRelease {
            let step = exchange.end(early)
            guard case .request(let pause) = step else {
                Issue.record("\(step)")
                return
            }
            #expect(pause.cause == failure && exchange.takenCount == 0)
        }
        #expect(exchange.end(early) == .failed(failure))
        #expect(exchange.transcript(with: Transcript(), of: .max).text.isEmpty)
    }

    /// Which of two answers is there first decides nothing: the other may have heard something.
    @Test(arguments: [true, false])
    func anEmptyAnswerBesideAnotherRequestIsSilence(_ isHeard: Bool) throws {
        var exchange = try Self.cut(20)
        let whole = Self.recording(20, isComplete: true)
        for lane in 0..<2 { _ = exchange.begin(lane: lane, of: whole) }
        #expect(exchange.end(Self.empty, lane: 1) == .idle)
        let last = exchange.end(isHeard ? Self.answer("a") : Self.empty)
        #expect(last == (isHeard ? .answered : .failed(.answerUnusable(.empty))))
        #expect(exchange.text == (isHeard ? "a" : ""))
        // Where nothing was heard, all of it is asked for again.
        let kept = [Stretch](in: exchange.progress)
        #expect(kept.allSatisfy { $0.answer == nil } == !isHeard)
    }
}
