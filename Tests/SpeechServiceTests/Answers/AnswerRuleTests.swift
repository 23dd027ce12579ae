// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService

@Suite struct AnswerRuleTests {
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
            ("text/html", "go on", "go on"),
            ("text/plain", "<unk> go", "<unk> go"),
        ] as [(String?, String, String)])
    func theMediaTypeAndTheFirstByteDecide(type: String?, body: String, text: String) {
        let bytes = Array(body.utf8)
        for chunks in [[bytes], bytes.map { [$0] }] {
            let decoded = decode(.automatic, chunks: chunks, mediaType: type)
            #expect(decoded.text == text)
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
            ("text/html", "\n<p>Log in</p>", .webPage(title: "<p>Log in</p>")),
            (nil, "<meta http-equiv='refresh' content='0;url=/login'>", .webPage(title: nil)),
            ("text/plain", "<script>location = '/login'</script>", .webPage(title: nil)),
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
        #expect(decode(try AnswerRule("json:\(path)"), body).text == text)
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

@Suite struct JSONPathTests {
    @Test(arguments: [
        ("", 0, "it is empty"), ("a..b", 2, "a name is missing"), ("a.", 2, "a name is missing"),
        ("a[", 2, "']' is missing"), ("a[1", 3, "']' is missing"),
        ("a[x]", 2, "only digits may stand in brackets"),
        ("a[-1]", 2, "only digits may stand in brackets"),
        ("a]b", 1, "']' without '['"), ("a[0]b", 4, "a dot or '[' must follow"),
        ("a[99999999999999999999]", 2, "the number is too large"),
    ])
    func aMistakeIsNamedByItsByte(text: String, offset: Int, reason: String) {
        let expected = ServiceError.invalidPath(text: text, offset: offset, reason: reason)
        #expect(throws: expected) { try JSONPath(text) }
    }

    @Test(arguments: ["text", "a.b.c", "a[0].b", "a[].b[2]", "[]", "[3].x", "."])
    func aPathIsWrittenAsItIsRead(text: String) throws {
        #expect(try JSONPath(text).description == text)
    }

    @Test func aLeadingDotIsAllowed() throws {
        #expect(try JSONPath(".error.message") == JSONPath(dotted: "error.message"))
    }

    @Test func ofTwoMembersTheLaterCounts() {
        let value = JSONValue.object([
            JSONMember(name: "a", value: .string("one")),
            JSONMember(name: "a", value: .string("two")),
        ])
        #expect(JSONPath(dotted: "a").text(in: value) == "two")
    }

    @Test func elementsWithoutTheNameAreLeftOut() throws {
        let value = JSONValue.array([
            .object([JSONMember(name: "t", value: .string("one"))]), .null,
            .object([JSONMember(name: "t", value: .string("two"))]),
        ])
        #expect(try JSONPath("[].t").text(in: value) == "one two")
        #expect(try JSONPath("[].x").text(in: value) == nil)
        #expect(try JSONPath("[9].t").text(in: value) == nil)
        #expect(try JSONPath("t[]").text(in: value) == nil)
    }
}

/// Where an answer that cannot be read has text, and what an empty one says.
@Suite struct AnswerPlaceTests {
    private func read(_ rule: AnswerRule, _ body: String) -> Decoded {
        decode(rule, body, mediaType: "application/json")
    }

    private func places(_ body: String) throws -> [String] {
        JSONPath.placesOfText(in: try JSONParser.parse(Array(body.utf8))).map(\.description)
    }

    @Test func thePlacesOfTextAreFound() throws {
        #expect(
            try places(
                #"{"id":"x1","results":{"channels":[{"alternatives":[{"transcript":"hi you"}]}]}}"#)
                == ["results.channels[0].alternatives[0].transcript"])
        // What is named like a transcript goes before what merely has words.
        #expect(
            try places(#"{"note":"two words","deep":{"utterance":"one"},"model":"nova"}"#)
                == ["deep.utterance", "note"])
        #expect(try places(#"{"a":1,"b":[],"c":{"d":null}}"#).isEmpty)
        #expect(try places(#"{"a":"x y","b":"x y","c":"x y","d":"x y"}"#) == ["a", "b", "c", "d"])
    }

    @Test func aPlaceStandsForAllElementsThatHaveTextThere() throws {
        let results =
            #"{"results":[{"alternatives":[{"transcript":"hello"},{"transcript":"hallo"}]},"#
            + #"{"alternatives":[{"transcript":"and more"}]}]}"#
        #expect(try places(results) == ["results[].alternatives[0].transcript"])
        let found = read(try AnswerRule("json:results[].alternatives[0].transcript"), results)
        #expect(found.error == nil && found.hypotheses.map(\.text) == ["hello and more"])
        #expect(try places(#"{"words":[{"text":"a b"},{"id":"1"}]}"#) == ["words[0].text"])
        #expect(try places(#"[["a b"],["c d"]]"#) == ["[][0]"])
    }

    @Test func theErrorSaysHowManyPlacesItLeavesOut() {
        let error = AnswerError.missingText(
            path: "x", excerpt: "", places: ["a", "b", "c", "d", "e"])
        #expect(error.description.hasSuffix("there is text at a, b, c and 2 more places"))
    }

    @Test(arguments: [
        (#"{"text":" [BLANK_AUDIO]\n [ Blank_Audio ][silence] "}"#, ""),
        (#"{"text":"[BLANK_AUDIO]\nhello"}"#, "hello"),
        (#"{"text":"he said [silence] twice"}"#, "he said [silence] twice"),
        (#"{"text":"[music]"}"#, "[music]"),
    ])
    func whatStandsForSilenceIsNoText(_ body: String, _ text: String) throws {
        var rule = AnswerRule.automatic
        rule.silence = ["[blank_audio]", "[silence]"]
        #expect(read(rule, body).transcript.text == text)
        let plain = String(body.dropFirst(9).dropLast(2)).replacing("\\n", with: "\n")
        #expect(decode(rule, plain, mediaType: "text/plain").transcript.text == text)
    }

    /// Whisper hears thanks in silence, and people do say thank you.
    @Test(arguments: [
        (#"[{"no_speech_prob":0.9},{"no_speech_prob":0.6}]"#, ""),
        (#"[{"no_speech_prob":0.9},{"no_speech_prob":0.59}]"#, "Thank you."),
        (#"[{"no_speech_prob":"0.9"}]"#, "Thank you."), ("[]", "Thank you."),
        ("null", "Thank you."),
    ])
    func aPhraseIsSilenceWhereTheServiceThinksSo(_ segments: String, _ text: String) throws {
        let rule = try Profiles.shipped.profile("groq").answer
        let said = { (words: String) in
            read(rule, #"{"text":"\#(words)","segments":\#(segments)}"#).transcript.text
        }
        #expect(said("Thank you.") == text)
        #expect(said("Thank you, Anna.") == "Thank you, Anna.")
    }

    @Test func aMissingTextNamesWhereThereIsSome() throws {
        let body = #"{"result":{"text":"found it"}}"#
        for rule in ["auto", "json:text"] {
            let words = read(try AnswerRule(rule), body).error?.description ?? ""
            #expect(words.hasSuffix("; there is text at result.text"), "\(rule)")
        }
    }

    @Test(arguments: ["NoMatch", "InitialSilenceTimeout", "BabbleTimeout"])
    func noSpeechIsNoMissingText(_ status: String) throws {
        let body = #"{"RecognitionStatus":"\#(status)","Offset":0}"#
        for rule in ["json:DisplayText", "auto"] {
            let found = read(try AnswerRule(rule), body)
            #expect(found.error == nil && found.hypotheses.map(\.text) == [""])
        }
    }

    @Test func anEmptyTextWithAComplaintIsARefusal() throws {
        let rule = try AnswerRule("json:result")
        let refused = #"{"result":"","status":40000001,"message":"ACCESS_DENIED"}"#
        #expect(read(rule, refused).error == .serviceReported(message: "ACCESS_DENIED"))
        for praise in ["SUCCESS", "success.", "OK"] {
            let body = #"{"result":"","status":20000000,"message":"\#(praise)"}"#
            let found = read(rule, body)
            #expect(found.error == nil && found.hypotheses.map(\.text) == [""])
        }
    }

    @Test func theFieldsThatAreMissedAreNamed() {
        let body = #"""
            {"detail":[{"type":"missing","loc":["body","file"],"msg":"Field required","input":null},
            {"loc":["query","items",3],"msg":"too long"}]}
            """#
        #expect(
            ServiceMessage.extract(from: Array(body.utf8))
                == "Field required: body.file; too long: query.items.3")
    }
}
