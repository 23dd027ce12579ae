// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RecognitionEndpoint

@Suite struct AnswerTextTests {
    private let recognition = Recognition(
        text: "go \"on\"", duration: 2.786,
        words: [RecognisedWord(text: "go", start: 0.1, end: 1, probability: 0.99999)])

    @Test func aFinalTextInEachForm() {
        let words = #"[{"end":1,"probability":1,"start":0.1,"word":"go"}]"#
        let fields = #""duration":2.79,"text":"go \"on\"""#
        #expect(
            AnswerFormat.lines.final(recognition)
                == "{\(fields),\"type\":\"final\",\"words\":\(words)}\n")
        #expect(AnswerFormat.object.final(recognition) == "{\(fields),\"words\":\(words)}\n")
        #expect(AnswerFormat.text.final(recognition) == "go \"on\"\n")
    }

    @Test func otherLines() {
        let partial = PartialRecognition(text: "go", time: 0.5)
        #expect(
            AnswerFormat.partial(partial) == "{\"text\":\"go\",\"time\":0.5,\"type\":\"partial\"}\n"
        )
        #expect(AnswerFormat.error("why") == "{\"message\":\"why\",\"type\":\"error\"}\n")
        #expect(AnswerFormat.refusal("why") == "{\"error\":{\"message\":\"why\"}}\n")
    }

    @Test func controlCharactersNeverReachATerminal() {
        #expect(
            AnswerFormat.error("a\u{1B}[2J\r\n\u{9B}\u{7F}\\é/")
                == #"{"message":"a\u001b[2J\r\n\u009b\u007f\\é/","type":"error"}"# + "\n")
    }

    @Test(arguments: [
        (0.0, "0"), (0.004, "0"), (0.005, "0.01"), (12.3, "12.3"), (7.999, "8"), (1.05, "1.05"),
    ])
    func numbersAreShort(value: Double, text: String) {
        let line = AnswerFormat.partial(PartialRecognition(text: "", time: value))
        #expect(line.contains("\"time\":\(text),"))
    }

    @Test func cuesEndAtPausesAndWhenTheyAreLong() {
        func word(_ text: String, _ start: Double) -> RecognisedWord {
            RecognisedWord(text: text, start: start, end: start + 0.5)
        }
        var recognition = Recognition(text: "one two three four", duration: 10)
        recognition.words = [
            word("one", 0), word("two", 0.5), word("three", 2.5), word("four", 9),
        ]
        recognition.wantedFormat = "srt"
        #expect(
            AnswerFormat.object.final(recognition) == """
                1
                00:00:00,000 --> 00:00:01,000
                one two

                2
                00:00:02,500 --> 00:00:03,000
                three

                3
                00:00:09,000 --> 00:00:09,500
                four

                """)
        // A recogniser need not know when words are said.
        recognition.words = []
        recognition.wantedFormat = "vtt"
        #expect(
            AnswerFormat.object.final(recognition)
                == "WEBVTT\n\n00:00:00.000 --> 00:00:10.000\none two three four\n")
    }
}
