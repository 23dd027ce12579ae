// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService

@Suite("AnswerRule")
struct AnswerRuleTests {
    @Test(
        arguments: [
            ("application/json", "{\"text\":\" Hello there.\"}", "Hello there."),
            ("application/json; charset=utf-8", "\"Hello\"", "Hello"),
            ("application/vnd.wit.20200513+json", Samples.dictation, "Größe zehn und 🎤 weiter"),
            ("application/json", Samples.typedSpeech, "set an alarm"),
            ("application/x-ndjson", Samples.endpoint, "go forward ten meters"),
            ("application/json-seq", "\u{1E}{\"type\":\"final\",\"text\":\"a\"}\n", "a"),
            ("text/plain", "go forward\n ten meters\n", "go forward ten meters"),
            ("text/html", " And so my fellow Americans\n", "And so my fellow Americans"),
            ("text/html; charset=utf-8", "  {\"text\": \"json as html\"}", "json as html"),
            ("text/plain", "[BLANK_AUDIO]", "[BLANK_AUDIO]"),
            ("text/plain", "\u{FEFF}with a mark", "with a mark"),
            ("application/octet-stream", "\u{FEFF}\n{\"text\":\"a\"}", "a"),
            (nil, "plain", "plain"),
            (nil, "{\"text\":\"json\"}", "json"),
            ("text/plain", "\n", ""),
            ("application/json", "{\"text\":\"\"}", ""),
        ] as [(String?, String, String)])
    func theMediaTypeAndTheFirstByteDecide(type: String?, body: String, text: String) {
        let bytes = Array(body.utf8)
        for chunks in [[bytes], bytes.map { [$0] }] {
            let decoded = decode(.automatic, chunks: chunks, mediaType: type)
            #expect(decoded.error == nil)
            #expect(decoded.transcript.text == text)
            #expect(decoded.hypotheses.last?.isFinal == true)
        }
    }

    @Test(
        arguments: [
            ("application/json", "", AnswerError.empty),
            ("text/plain", "", .empty),
            (nil, "", .empty),
            ("application/json", "oops", .notJSON(offset: 0, excerpt: "oops")),
            ("audio/wav", "RIFF", .unsupportedMediaType("audio/wav")),
            (
                "text/html", "<!DOCTYPE html>\n<html><head><title>Log in</title>",
                .webPage(title: "Log in")
            ),
            ("text/html", "\n <HTML></HTML>", .webPage(title: nil)),
        ] as [(String?, String, AnswerError)])
    func whatIsNoTranscriptIsRefused(type: String?, body: String, error: AnswerError) {
        #expect(decode(.automatic, body, mediaType: type).error == error)
    }

    @Test(arguments: [
        ("text", "{\"text\":\" hi\\n there \"}", "hi there"),
        ("DisplayText", "{\"RecognitionStatus\":\"Success\",\"DisplayText\":\"Hi.\"}", "Hi."),
        ("NBest[0].Display", "{\"NBest\":[{\"Display\":\"Hi.\"},{\"Display\":\"High.\"}]}", "Hi."),
        (
            "results[].alternatives[0].transcript",
            "{\"results\":[{\"alternatives\":[{\"transcript\":\"one \"}]},"
                + "{\"alternatives\":[{\"transcript\":\"two\"}]}],\"result_index\":0}", "one two"
        ),
        ("results[].alternatives[0].transcript", "{\"results\":[]}", ""),
        (
            "hypotheses[0].utterance",
            "{\"status\":0,\"hypotheses\":[{\"utterance\":\"hi\"}],\"id\":\"x\"}", "hi"
        ),
        (
            "results.channels[0].alternatives[0].transcript",
            "{\"results\":{\"channels\":[{\"alternatives\":[{\"transcript\":\"\"}]}]}}", ""
        ),
        ("result[]", "{\"err_no\":0,\"result\":[\"one\",\"two\"]}", "one two"),
        (".", "\"alone\"", "alone"),
    ])
    func aPathFindsTheTextOfOneDocument(path: String, body: String, text: String) throws {
        let decoded = decode(try AnswerRule("json:\(path)"), body)
        #expect(decoded.error == nil)
        #expect(decoded.transcript.text == text)
    }

    @Test(arguments: [
        ("", AnswerError.empty),
        ("\u{FEFF} ", .empty),
        ("null", .missingText(path: "text", excerpt: "null")),
        ("[]", .missingText(path: "text", excerpt: "[]")),
        ("{\"text\":null}", .missingText(path: "text", excerpt: "{\"text\":null}")),
        ("{\"text\":", .truncated(byteCount: 8)),
        ("{\"text\":\"a\"}{", .notJSON(offset: 12, excerpt: "{")),
        ("{\"text\":\"a\",}", .notJSON(offset: 12, excerpt: "}")),
        ("{\"text\":\"a\u{7}\"}", .notJSON(offset: 10, excerpt: "\"}")),
        ("{\"text\":\"\\x\"}", .notJSON(offset: 10, excerpt: "x\"}")),
        ("{\"text\":01}", .notJSON(offset: 9, excerpt: "1}")),
        ("{\"error\":\"no quota\"}", .serviceReported(message: "no quota")),
        ("{\"status\":2,\"message\":\"No workers\"}", .serviceReported(message: "No workers")),
        ("{\"error\":\"late\",\"text\":\"a\"}", .serviceReported(message: "late")),
    ])
    func aDocumentWithoutTextIsAnError(body: String, error: AnswerError) {
        #expect(decode(.json(path: JSONPath(dotted: "text")), body).error == error)
    }

    @Test func escapesAreRead() {
        let body = #"{"text":"\"\\\/\b\f\n\r\t\u00e9 \ud83d\ude00 \ud83d \ud83d\u0041"}"#
        let decoded = decode(.json(path: JSONPath(dotted: "text")), body)
        let expected = "\"\\/\u{8}\u{C}\n\r\té 😀 \u{FFFD} \u{FFFD}A"
        #expect(decoded.hypotheses.first?.text == expected)
    }

    @Test func everyWayCanBeNamed() throws {
        #expect(try AnswerRule("auto") == .automatic)
        #expect(try AnswerRule("text") == AnswerRule(framing: .text))
        #expect(try AnswerRule("sequence") == AnswerRule(framing: .sequence))
        #expect(try AnswerRule("json:a.b") == .json(path: JSONPath(dotted: "a.b")))
        #expect(throws: ServiceError.invalidAnswerRule(text: "xml")) { try AnswerRule("xml") }
        #expect(throws: ServiceError.self) { try AnswerRule("json:") }
    }
}
