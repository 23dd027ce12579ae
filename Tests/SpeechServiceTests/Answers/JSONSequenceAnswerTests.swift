// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService

@Suite struct JSONSequenceAnswerTests {
    private let rule = AnswerRule(framing: .sequence)

    @Test func linesOfOurEndpointGivePartialsThenAFinalWithWords() {
        let decoded = decode(rule, Samples.endpoint)
        #expect(decoded.error == nil)
        #expect(decoded.hypotheses.map(\.text) == ["go", "go forward", "go forward ten meters"])
        #expect(decoded.hypotheses.map(\.isFinal) == [false, false, true])
        #expect(decoded.hypotheses.last?.duration == 2.84)
        #expect(
            decoded.transcript.words == [
                RecognizedWord(text: "go", start: 0.3, end: 0.5, probability: 0.9),
                RecognizedWord(text: "forward", start: 0.5, end: 1.04, probability: 1),
            ])
    }

    @Test func segmentsOfADictationAreJoined() {
        let decoded = decode(rule, Samples.dictation)
        #expect(decoded.text == "Größe zehn und 🎤 weiter")
        #expect(decoded.hypotheses.count(where: \.isFinal) == 2)
    }

    @Test(arguments: [Samples.oldSpeech, Samples.flaggedSpeech, Samples.typedSpeech])
    func aFinalThatIsSaidTwiceCountsOnce(body: String) {
        #expect(decode(rule, body).text == "set an alarm")
    }

    @Test(arguments: [
        Samples.endpoint, Samples.dictation, Samples.oldSpeech, Samples.typedSpeech,
        "\u{FEFF}12\r\n{\"text\":\"a\"}\r\n\u{1E}{\"type\":\"error\",\"message\":\"no\"}\n",
        "{\"type\":\"final\",\"text\":\"kept\"}{\"text\": nope}", "{\"text\":\"cut", "\u{1E}tru x",
    ])
    func chunksMayEndAtAnyByte(body: String) {
        expectSameForEverySplit(rule, body)
    }

    @Test func aPartialIsKnownBeforeTheBodyEnds() throws {
        var decoder = rule.makeDecoder(AnswerHead())
        let bytes = Array("{\"type\":\"partial\",\"text\":\"go\"}".utf8)
        let before = try decoder.accumulate(Array(bytes.dropLast()).span)
        #expect(before.isEmpty)
        let after = try decoder.accumulate(Array(bytes.suffix(1)).span)
        #expect(after == [Hypothesis(text: "go", isFinal: false)])
    }

    @Test func anErrorAfterFinalsComesAfterThem() throws {
        let body =
            "{\"type\":\"final\",\"text\":\"one\"}\n"
            + "{\"code\":\"wit\",\"error\":\"An error occurred in speech recognition.\"}"
        var decoder = rule.makeDecoder(AnswerHead())
        let hypotheses = try decoder.accumulate(Array(body.utf8).span)
        #expect(hypotheses.map(\.text) == ["one"])
        let expected = AnswerError.serviceReported(
            message: "An error occurred in speech recognition.", code: "wit")
        #expect(throws: expected) { try decoder.finish() }
        #expect(throws: expected) { try decoder.finish() }
        let nothing: [UInt8] = []
        #expect(throws: expected) { try decoder.accumulate(nothing.span) }
    }

    @Test(arguments: [
        ("", AnswerError.empty),
        (" \r\n\u{1E}", .empty),
        ("{\"type\":\"partial\",\"text\":\"go\"}", .noFinal(partial: "go")),
        ("{\"text\":\"go\",\"is_final\":false}\n{\"text\":\"go f", .truncated(byteCount: 44)),
        (
            "{\"type\":\"error\",\"message\":\"model\\u001b[31m gone\"}",
            .serviceReported(message: "model gone")
        ),
        ("{\"error\":{\"message\":\"quota\"},\"text\":\"hi\"}", .serviceReported(message: "quota")),
        ("{\"error\":true}", .serviceReported(message: "{\"error\":true}")),
        (
            "{\"text\":null,\"result\":\"error\"}",
            .serviceReported(message: "{\"text\":null,\"result\":\"error\"}")
        ),
        ("null", .missingText(path: "text", excerpt: "null")),
        ("[1]", .missingText(path: "text", excerpt: "[1]")),
        ("42", .missingText(path: "text", excerpt: "42")),
        (
            "{\"result\":\"hi\"}",
            .missingText(path: "text", excerpt: "{\"result\":\"hi\"}", places: ["result"])
        ),
        ("<html>", .notJSON(offset: 0, excerpt: "<html>")),
        ("{\"text\" \"a\"}", .notJSON(offset: 8, excerpt: "\"a\"}")),
        ("tru {}", .notJSON(offset: 0, excerpt: "tru")),
        ("tru", .truncated(byteCount: 3)),
    ])
    func whatIsNoAnswerIsAnError(body: String, error: AnswerError) {
        #expect(decode(rule, body).error == error)
    }

    @Test func anEmptyTextIsAnAnswerAndLengthsBetweenValuesAreSkipped() {
        #expect(decode(rule, "{\"text\":\"\"}").text == "")
        #expect(decode(rule, "{\"text\":\"a\",\"error\":null}").transcript.text == "a")
        let body =
            "30\n{\"text\":\"a\",\"is_final\":false}\n21\n{\"text\":\"b\",\"is_final\":true}\n"
        #expect(decode(rule, body).text == "b")
    }

    @Test func anHourOfPartialsIsNoTooLargeAnswer() {
        let partial = Array("{\"type\":\"partial\",\"text\":\"so it goes on\"}\n".utf8)
        let final = Array("{\"type\":\"final\",\"text\":\"end\"}".utf8)
        let chunks = Array(repeating: partial, count: 2000) + [final]
        #expect(decode(rule, chunks: chunks, byteLimit: 1000).text == "end")
    }
}
