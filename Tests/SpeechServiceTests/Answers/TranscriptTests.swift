// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService

@Suite struct TranscriptTests {
    @Test func partialsReplaceAndFinalsStay() {
        var transcript = Transcript()
        transcript.apply(Hypothesis(text: "go", isFinal: false))
        transcript.apply(Hypothesis(text: " go for", isFinal: false))
        #expect(transcript.partial == "go for")
        #expect(transcript.text.isEmpty)
        #expect(transcript.displayText == "go for")
        transcript.apply(Hypothesis(text: "go forward ", isFinal: true))
        transcript.apply(Hypothesis(text: "", isFinal: true))
        transcript.apply(Hypothesis(text: "ten", isFinal: false))
        #expect(transcript.finals == ["go forward"])
        #expect(transcript.displayText == "go forward ten")
        transcript.apply(Hypothesis(text: "ten\n meters", isFinal: true))
        #expect(transcript.text == "go forward ten meters")
        #expect(transcript.partial.isEmpty)
    }

    @Test func controlsInTheTextDoNotReachTheDisplay() {
        var transcript = Transcript()
        transcript.apply(Hypothesis(text: "a\u{1B}[2Jb", isFinal: true))
        #expect(transcript.text == "a\u{1B}[2Jb")
        #expect(transcript.displayText == "ab")
    }

    @Test func onlyWhatIsNewIsTold() {
        var transcript = Transcript()
        let said = [("go", false), ("go", false), ("go", true), ("on", true)]
        let isNew = said.map { transcript.apply(Hypothesis(text: $0, isFinal: $1)) }
        #expect(isNew == [true, false, true, true])
        let again = transcript.apply(Hypothesis(text: "go", isFinal: true, merge: .replace))
        let twice = transcript.apply(Hypothesis(text: "go", isFinal: true, merge: .replace))
        #expect(again && !twice)
    }
}

@Suite struct SubtitleTextTests {
    private let cues = [
        SubtitleText.Cue(start: 0, end: 59.9995, text: "a <b> & c --> d", speaker: nil),
        SubtitleText.Cue(start: 3_661.5, end: 3_662, text: "yes", speaker: "Anna"),
    ]

    @Test func subRipHasNumbersAndCommas() {
        #expect(
            SubtitleText.srt(cues) == """
                1
                00:00:00,000 --> 00:01:00,000
                a <b> & c -> d

                2
                01:01:01,500 --> 01:01:02,000
                Anna: yes

                """)
    }

    @Test func aCueEndsWithTheRecordingAndWordsWithoutTimesAreCounted() {
        let said = [("one,", 0.0, 0.5), ("two", 0.6, 360_000), ("no", 2, 1), ("three.", 9, 10)]
        let words = said.map { RecognizedWord(text: $0.0, start: $0.1, end: $0.2) }
        let cues = SubtitleText.cues(segments: [], words: words, within: 2.8)
        #expect(cues.map(\.text) == ["one, two three."])
        #expect(cues.map(\.end) == [2.8])
        for (text, count) in [
            ("One, two, three.", 0), ("one two – no three", 1), ("one, two three. Four five", 2),
            ("onetwothree", 0), ("one twothree", 0), ("", 0),
        ] {
            #expect(SubtitleText.missingWordCount(of: text, in: cues) == count, "\(text)")
        }
    }

    @Test func webVTTEscapesAndNamesVoices() {
        #expect(
            SubtitleText.vtt(cues) == """
                WEBVTT

                00:00:00.000 --> 00:01:00.000
                a &lt;b&gt; &amp; c --&gt; d

                01:01:01.500 --> 01:01:02.000
                <v Anna>yes

                """)
    }
}
