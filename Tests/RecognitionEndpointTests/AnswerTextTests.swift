// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RecognitionEndpoint

/// The bytes of answers.
@Suite struct AnswerTextTests {
    private let recognition = Recognition(
        text: "go \"on\"", duration: 2.786,
        words: [RecognisedWord(text: "go", start: 0.1, end: 1, probability: 0.99999)])

    @Test func aFinalTextInEachForm() {
        let words = #"[{"word":"go","start":0.1,"end":1,"probability":1}]"#
        let fields = #""text":"go \"on\"","duration":2.79,"words":"# + words
        #expect(AnswerFormat.lines.final(recognition) == "{\"type\":\"final\",\(fields)}\n")
        #expect(AnswerFormat.object.final(recognition) == "{\(fields)}\n")
        #expect(AnswerFormat.text.final(recognition) == "go \"on\"\n")
    }

    @Test func otherLines() {
        let partial = PartialRecognition(text: "go", time: 0.5)
        #expect(
            AnswerFormat.partial(partial) == "{\"type\":\"partial\",\"text\":\"go\",\"time\":0.5}\n"
        )
        #expect(AnswerFormat.error("why") == "{\"type\":\"error\",\"message\":\"why\"}\n")
        #expect(AnswerFormat.refusal("why") == "{\"error\":{\"message\":\"why\"}}\n")
    }

    @Test func controlCharactersNeverReachATerminal() {
        #expect(
            JSONText.string("a\u{1B}[2J\r\n\u{9B}\u{7F}\\é")
                == #""a\u001b[2J\u000d\n\u009b\u007f\\é""#)
    }

    @Test(arguments: [
        (0.0, 2, "0"), (0.004, 2, "0"), (0.005, 2, "0.01"), (12.3, 2, "12.3"), (7.999, 2, "8"),
        (1.05, 2, "1.05"), (0.00004, 4, "0"),
    ])
    func numbersAreShort(value: Double, places: Int, text: String) {
        #expect(JSONText.number(value, places: places) == text)
    }

    @Test(
        arguments: [
            ("a(2)", "a"), ("meters", "meters"), ("<sil>", nil), ("</s>", nil), ("[NOISE]", nil),
            ("(NULL)", nil), ("++COUGH++", nil), ("", nil), ("f(x)", "f(x)"), ("(2)", "(2)"),
        ] as [(String, String?)])
    func marksAreNoPartOfAWord(marked: String, word: String?) {
        #expect(RecognisedWord.plainWord(of: marked[...]) == word)
    }

    @Test func aHypothesisWithoutMarks() {
        #expect(
            RecognisedWord.plainText(of: "<s> a(2) real <sil> boy [SPEECH] </s>") == "a real boy")
    }
}
