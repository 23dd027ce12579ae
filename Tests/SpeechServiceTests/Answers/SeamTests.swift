// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService

/// Two parts of a recording, of which the second repeats the end of the first, become one text.
@Suite struct SeamTests {
    private static func heard(_ text: String) -> Transcript {
        var transcript = Transcript()
        transcript.apply(Hypothesis(text: text, isFinal: true))
        return transcript
    }

    /// A word a second, from one second on.
    private static func timed(_ words: String, from start: Double) -> Transcript {
        var hypothesis = Hypothesis(text: words, isFinal: true)
        hypothesis.words = words.split(separator: " ").enumerated().map { index, word in
            let begin = start + Double(index)
            return RecognizedWord(text: String(word), start: begin, end: begin + 0.8)
        }
        var transcript = Transcript()
        transcript.apply(hypothesis)
        return transcript
    }

    @Test(
        arguments: [
            ("one two three", "three four", "one two three four"),
            // Marks and capitals depend on what stands beside a word.
            ("so we said one, two.", "Two three.", "so we said one, two. three."),
            // Words that are broken off at the cut.
            (
                "call the bank to mor", "row the bank tomorrow at nine",
                "call the bank tomorrow at nine"
            ),
            ("it is a long sen", "a long sentence", "it is a long sentence"),
            // It is really said twice.
            ("the number is nine nine", "nine nine five", "the number is nine nine five"),
            ("and he said no no", "no no never", "and he said no no never"),
            ("four nine nine", "nine five", "four nine nine five"),
            // Nothing agrees: nothing is taken away.
            ("one two", "three four", "one two three four"),
            ("", "three four", "three four"), ("one two", "", "one two"),
            // A script without spaces.
            ("今日は天気が", "天気がいいです", "今日は天気がいいです"),
            ("今天很好。", "我们走吧", "今天很好。我们走吧"), ("我用 Swift", "语言", "我用 Swift 语言"),
        ])
    func textsAreJoinedWhereTheyAgree(_ first: String, _ second: String, _ whole: String) {
        var transcript = Self.heard(first)
        transcript.append(Self.heard(second), at: 10, overlap: 2)
        #expect(transcript.text == whole)
    }

    /// A time may differ a little between the two.
    @Test(arguments: [-0.1, 0, 0.1]) func timesSayWhichWordsAreTheSame(_ difference: Double) {
        var transcript = Self.timed("a b c d e", from: 0)
        // From the third second on, it repeats two.
        transcript.append(Self.timed("d e f g", from: difference), at: 3, overlap: 2)
        #expect(transcript.text == "a b c d e f g")
        #expect(transcript.words.map(\.text) == ["a", "b", "c", "d", "e", "f", "g"])
        #expect(transcript.words.map { ($0.start ?? -1).rounded() } == [0, 1, 2, 3, 4, 5, 6])
    }

    /// Services tell the times of one word as it were said a little earlier or later, or whole seconds.
    @Test(arguments: [0, 0.1, 0.2, 0.3], [0.3, 0.5]) func jitterOfTimesCostsNoWord(
        _ jitter: Double, _ period: Double
    ) {
        var random = SeededRandom()
        for _ in 0..<200 {
            let said = (0..<40).map { _ in "w\(Int.random(in: 0..<6, using: &random))" }
            func part(_ range: Range<Int>, from start: Double) -> Transcript {
                var hypothesis = Hypothesis(
                    text: said[range].joined(separator: " "), isFinal: true)
                hypothesis.words = range.map { index in
                    let begin =
                        Double(index) * period - start
                        + .random(in: -jitter...jitter, using: &random)
                    return RecognizedWord(text: said[index], start: begin, end: begin + 0.2)
                }
                var transcript = Transcript()
                transcript.apply(hypothesis)
                return transcript
            }
            let cut = Int.random(in: 15..<25, using: &random)
            let first = cut - Int(2 / period)
            var transcript = part(0..<cut, from: 0)
            let start = Double(first) * period
            transcript.append(part(first..<40, from: start), at: start, overlap: 2)
            #expect(transcript.text == said.joined(separator: " "), "seed \(random.seed)")
            #expect(transcript.words.map(\.text) == said, "seed \(random.seed)")
        }
    }

    /// Five words a second and less, said again and again, and no times.
    @Test(arguments: [1, 2, 4], [1, 2, 5, 10]) func whatIsSaidAgainAndAgainIsNotLost(
        _ rate: Int, _ period: Int
    ) {
        let said = (0..<60).map { "w\($0 % period)" }
        for cut in 25..<35 {
            var transcript = Self.heard(said[..<cut].joined(separator: " "))
            let second = said[(cut - 2 * rate)...].joined(separator: " ")
            transcript.append(
                Self.heard(second), at: 20, overlap: 2, rate: Double(rate))
            #expect(transcript.text == said.joined(separator: " "))
        }
    }

    /// The second part may have missed what it repeats, or all of it.
    @Test func aWordThatOnlyOnePartHasStays() {
        var transcript = Self.timed("a b c d e", from: 0)
        transcript.append(Transcript(), at: 3, overlap: 2)
        #expect(transcript.text == "a b c d e" && transcript.words.count == 5)
        transcript.append(Self.timed("f g", from: 2), at: 3, overlap: 2)
        #expect(transcript.text == "a b c d e f g" && transcript.words.count == 7)
    }

    @Test func theLengthIsThatOfTheWhole() {
        var (first, second) = (Self.timed("a b c", from: 0), Self.timed("c d", from: 0))
        (first.duration, second.duration) = (3, 2.5)
        first.append(second, at: 2, overlap: 1)
        #expect(first.duration == 4.5)
    }

    @Test func behindAPauseAllIsNew() {
        var transcript = Self.timed("no no", from: 0)
        transcript.append(Self.timed("no no", from: 0.5), at: 10, overlap: 0)
        #expect(transcript.text == "no no no no")
        #expect(transcript.words.map(\.start) == [0, 1, 10.5, 11.5])
    }

    /// Its text stands between the times of the others, as much of it as the whole text has.
    @Test func aPartWithoutTimesIsOnePieceBesideOthersWithTimes() {
        let parts = [
            (Self.timed("a b c d e f g h i j", from: 0), at: 0.0, overlap: 0.0, end: 10.0),
            (Self.heard("i j k l m n o p qu"), at: 8, overlap: 2, end: 18),
            (Self.timed("p q r s", from: 0), at: 16, overlap: 2, end: 20),
            (Self.heard("t"), at: 20, overlap: 0, end: 30),
            (Self.timed("u v", from: 0), at: 28, overlap: 2, end: 32),
        ]
        func joined(_ parts: [(Transcript, at: Double, overlap: Double, end: Double)]) -> Transcript
        {
            var all = Transcript()
            for part in parts {
                all.append(
                    part.0, at: part.at, overlap: part.overlap, end: part.end,
                    beside: parts.map(\.0))
            }
            return all
        }
        let transcript = joined(parts)
        #expect(transcript.text == "a b c d e f g h i j k l m n o p q r s t u v")
        let words = transcript.words
        #expect(words.map(\.text).joined(separator: " ") == transcript.text)
        #expect(words[10] == RecognizedWord(text: "k l m n o p", start: 10, end: 18))
        #expect(words[14] == RecognizedWord(text: "t", start: 20, end: 30))
        #expect(transcript.segments.isEmpty)
        // Where no part has times, there are none.
        #expect(joined([parts[1], parts[3]]).words.isEmpty)
    }

    @Test func theNotesOfATakeHoldIt() throws {
        let transcript = Self.timed("a b", from: 0)
        #expect(Transcript(notes: transcript.notes) == transcript)
        #expect(Transcript(notes: "{") == nil)
    }
}
