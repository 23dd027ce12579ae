// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Settings
@testable import SpeechService

/// The tables `answer` and `retry` of a service's description.
@Suite struct AnswerSettingsTests {
    private func rule(_ text: String) throws -> AnswerRule {
        var reader = SettingsReader(try SettingsDocument.parse(text), name: "answer")
        let rule = try AnswerRule(&reader)
        try reader.finish()
        return rule
    }

    private func retry(_ text: String) throws -> RetryRule {
        var reader = SettingsReader(try SettingsDocument.parse(text), name: "retry")
        let rule = try RetryRule(&reader)
        try reader.finish()
        return rule
    }

    private func error(_ text: String) -> String? {
        let error = #expect(throws: SettingsError.self) { try rule(text) }
        return error?.text(of: "a.toml")
    }

    @Test func anEmptyTableIsTheUsualRule() throws {
        #expect(try rule("") == .automatic)
        #expect(try rule("framing = \"json\"") == .json(path: JSONPath(dotted: "text")))
        #expect(try retry("") == RetryRule())
    }

    @Test(arguments: [
        // The first place that has words counts.
        (#"text = ["a", "b", "c"]"#, #"{"a":"","b":null,"c":"see"}"#, "see"),
        (
            """
            framing = "events"
            merge = "append"
            text = "piece"
            [[select]]
            event = "whole"
            is = "final"
            text = "all"
            merge = "replace"
            """,
            "data: {\"piece\":\"a\"}\n\ndata: {\"piece\":\"b\"}\n\nevent: whole\ndata: {\"all\":\"a b\"}\n\n",
            "a b"
        ),
        (
            "framing = \"events\"\nmerge = \"append\"\ntext = \"piece\"\nskip = [\"beat\"]",
            "data: {\"piece\":\"a\"}\n\ndata: beat\n\ndata: {\"piece\":\"b\"}\n\n", "ab"
        ),
        // A number may be written as a text, and success be that an error is missing.
        (
            "success = { path = 'status', equals = 20000000 }",
            #"{"status":"20000000","text":"hi"}"#, "hi"
        ),
        ("success = { path = 'fault', exists = false }", #"{"text":"hi"}"#, "hi"),
    ])
    func aDescriptionReadsItsAnswer(table: String, body: String, text: String) throws {
        #expect(decode(try rule(table), body).text == text)
    }

    @Test func theKindOfAValueIsByItsOwnMembers() throws {
        let rule = try rule(
            """
            framing = "sequence"
            text = ["PartialTranscript", "Disambiguation.ChoiceData[0].Transcription"]
            otherwise = "final"
            stop = "SafeToStopAudio"
            [[select]]
            path = "PartialTranscript"
            is = "partial"
            [[select]]
            path = "Status"
            equals = "Error"
            is = "failure"
            """)
        let decoded = decode(
            rule,
            """
            74
            {"Format":"Partial","PartialTranscript":"what is"}
            {"Status":"OK","Disambiguation":{"ChoiceData":[{"Transcription":"what is up"}]}}
            """)
        #expect(decoded.hypotheses.map(\.isFinal) == [false, true])
        #expect(decoded.text == "what is up")
        let failed = decode(rule, #"{"Status":"Error","ErrorMessage":"bad id"}"#)
        #expect(failed.error == .serviceReported(message: "bad id"))
    }

    @Test(arguments: [
        // kaldi-gstreamer-server
        (
            "success = { path = \"status\", equals = 0 }", #"{"status":9,"message":"No speech"}"#,
            AnswerError.serviceReported(message: "No speech", code: "9")
        ),
        // Baidu
        (
            "success = { path = \"err_no\", equals = 0 }",
            #"{"err_no":3302,"err_msg":"token invalid","result":["x"]}"#,
            .serviceReported(message: "token invalid", code: "3302")
        ),
        // Aliyun, whose words are its own place
        (
            "success = { path = \"status\", equals = 20000000 }\nerrors = { message = [\"why\"] }",
            #"{"status":40000001,"why":"no quota","message":"other"}"#,
            .serviceReported(message: "no quota", code: "40000001")
        ),
        // What never says that it succeeded has not.
        (
            "success = { path = \"Status\", equals = \"OK\" }", #"{"text":"hello"}"#,
            .serviceReported(message: "it does not say that it has succeeded")
        ),
        (
            "success = { path = \"a.b\", equals = [\"x\", true] }", #"{"a":{"b":false}}"#,
            .serviceReported(message: "'a.b' is another value")
        ),
    ])
    func successIsByTheServicesOwnRule(table: String, body: String, error: AnswerError) throws {
        for framing in ["json", "sequence", "auto"] {
            let decoded = decode(
                try rule("framing = \"\(framing)\"\n\(table)"), body, mediaType: "application/json")
            #expect(decoded.error == error, "\(framing)")
        }
    }

    @Test func noSpeechIsAnEmptyText() throws {
        let table = """
            framing = "json"
            text = "DisplayText"
            success = { path = "RecognitionStatus", equals = "Success" }
            no-speech = { path = "RecognitionStatus", one-of = ["NoMatch", "Quiet"] }
            """
        let quiet = decode(try rule(table), #"{"RecognitionStatus":"Quiet","DisplayText":"x"}"#)
        #expect(quiet.error == nil)
        #expect(quiet.hypotheses == [Hypothesis(text: "", isFinal: true)])
        let failed = decode(try rule(table), #"{"RecognitionStatus":"Error"}"#)
        #expect(
            failed.error
                == .serviceReported(message: "'RecognitionStatus' is Error", code: "Error"))
    }

    @Test func whatIsMissingMaySayThatThereWasNoSpeech() throws {
        let table = """
            framing = "json"
            text = "results[].alternatives[0].transcript"
            no-speech = { path = "results[0]", exists = false }
            """
        for body in [#"{}"#, #"{"results":[],"billed":"3s"}"#, #"{"results":null}"#] {
            let quiet = decode(try rule(table), body)
            #expect(quiet.error == nil)
            #expect(quiet.hypotheses == [Hypothesis(text: "", isFinal: true)], "\(body)")
        }
        // Neither a failure nor text at another place is silence.
        #expect(
            decode(try rule(table), #"{"error":"Session timed out."}"#).error
                == .serviceReported(message: "Session timed out."))
        let other = decode(try rule(table), #"{"text":"hello"}"#)
        guard case .missingText(_, _, places: ["text"])? = other.error else {
            Issue.record("\(other)")
            return
        }
    }

    @Test func successMayBeThatAnErrorIsMissing() throws {
        let table = "success = { path = \"fault\", exists = false }"
        #expect(
            decode(try rule(table), #"{"text":"","fault":"x"}"#).error
                == .serviceReported(message: "'fault' is x", code: "x"))
    }

    @Test func nothingAtAllMaySayThatThereWasNoSpeech() throws {
        for framing in ["text", "auto"] {
            let table = "framing = \"\(framing)\"\nempty = \"no-speech\""
            let quiet = decode(try rule(table), "", mediaType: "text/plain")
            #expect(quiet.hypotheses == [Hypothesis(text: "", isFinal: true)])
            #expect(quiet.error == nil)
            #expect(
                decode(try rule("framing = \"\(framing)\""), "", mediaType: "text/plain").error
                    == .empty)
        }
        #expect(
            error("empty = \"nospeech\"")
                == "a.toml:1:9: 'answer.empty' cannot be 'nospeech'; did you mean 'no-speech'?")
    }

    @Test func theHeadMaySayThatThereWasNoSpeechAndWhyAnAnswerFailed() throws {
        let rule = try rule(
            """
            success = { header = "X-Code", equals = 0 }
            no-speech = { header = "X-Code", equals = 3 }
            errors = { message = ["header:X-Why", "why"] }
            """)
        let quiet = decode(rule, "{}", headers: ["x-code": "3", "x-why": "quiet"])
        #expect(quiet.hypotheses == [Hypothesis(text: "", isFinal: true)])
        #expect(
            decode(rule, "{}", headers: ["x-code": "9", "x-why": "busy\u{7}"]).error
                == .serviceReported(message: "busy", code: "9"))
        #expect(
            decode(rule, #"{"why":"tired"}"#, headers: ["x-code": "9"]).error
                == .serviceReported(message: "tired", code: "9"))
    }

    @Test func theTranscriptMayStandInOneOfSeveralFields() throws {
        let rule = try rule(
            """
            [[header]]
            name = "X-Encoded"
            coding = ["base64"]
            [[header]]
            name = "X-Plain"
            """)
        #expect(
            decode(rule, "", headers: ["x-plain": "b", "x-encoded": "YQ=="]).transcript.text == "a")
        #expect(decode(rule, "", headers: ["x-plain": "b"]).transcript.text == "b")
        #expect(
            decode(rule, "", headers: [:]).error
                == .undecodable(reason: "missing: there is no field X-Encoded or X-Plain"))
    }

    @Test func successMayStandInTheHead() throws {
        let rule = try rule(
            "success = { header = \"X-Api-Status-Code\", equals = 20000000 }")
        func headers(_ status: String) -> KeyValuePairs<String, String> {
            ["content-type": "application/json", "x-api-status-code": status]
        }
        #expect(
            decode(rule, #"{"text":"hi"}"#, headers: headers("20000000")).transcript.text == "hi")
        #expect(
            decode(rule, #"{"message":"bad audio"}"#, headers: headers("45000001")).error
                == .serviceReported(message: "bad audio", code: "45000001"))
        #expect(
            decode(rule, #"{"text":"hi"}"#, mediaType: "application/json").error
                == .serviceReported(message: #"{"text":"hi"}"#))
    }

    @Test func wordsHavePlacesAndUnits() throws {
        let table = """
            framing = "json"
            words = { path = "r.words", text = "w", start = "s", end = "e", confidence = "c", \
            speaker = "who", unit = 0.001 }
            language = "r.lang"
            confidence = "r.c"
            duration = { path = "r.ms", unit = 0.001 }
            """
        let body = #"""
            {"text":"hi","r":{"words":[{"w":"hi","s":250,"e":"500","c":0.5,"who":2}],
            "lang":"en","c":0.75,"ms":1500}}
            """#
        let transcript = decode(try rule(table), body).transcript
        #expect(
            transcript.words == [
                RecognizedWord(text: "hi", start: 0.25, end: 0.5, probability: 0.5, speaker: "2")
            ])
        #expect(transcript.language == "en")
        #expect(transcript.confidence == 0.75)
        #expect(transcript.duration == 1.5)
    }

    @Test(arguments: [
        ("framing = 'jsn'", "1:11: 'answer.framing' cannot be 'jsn'; did you mean 'json'?"),
        (
            "framing = 'header'",
            "1:11: 'answer.header' is missing: it names the field of the transcript"
        ),
        (
            "text = 'a['",
            "1:8: 'answer.text': 'a[' is not a path into a JSON answer: ']' is missing at byte 2"
        ),
        ("texts = 'a'", "1:1: 'answer.texts' is not known; did you mean 'answer.text'?"),
        ("[[select]]\npath = 'a'", " 'answer.select.is' is missing: it says what the value is"),
        (
            "[[select]]\nis = 'final'",
            " 'answer.select.path' is missing, or stands beside another place"
        ),
        (
            "[[select]]\npath = 'a'\nequals = 1\nset = true\nis = 'final'",
            "4:7: 'answer.select.set' stands beside another test"
        ),
        (
            "[[select]]\npath = 'a'\nis = 'final'\nmerge = 'append'",
            "4:9: 'answer.select.merge' of a final is accumulate or replace"
        ),
        (
            "success = { path = 'a', equals = [[1]] }",
            "1:35: 'answer.success.equals' must be a string, a number, true or false, not a list"
        ),
        (
            "header = { name = 'a', coding = ['zip'] }",
            "1:33: 'answer.header.coding' must be base64 or gzip, not 'zip'"
        ),
    ])
    func whatIsWrongIsNamedWithItsPlace(table: String, message: String) {
        #expect(error(table) == "a.toml:" + message)
    }

    @Test func statusesAndCodesDecide() throws {
        let rule = try retry(
            "statuses = [429, 404]\ntoken-refused = [401, 409]\ncodes = [\"inference_timeout\", 3301]"
                + "\ntoken-codes = [\"invalid_key\"]\nretry-after = false")
        #expect(rule.verdict(status: 404) == .retryable)
        #expect(rule.verdict(status: 503) == .refused)
        #expect(rule.verdict(status: 409) == .tokenRefused)
        #expect(rule.verdict(status: 403) == .refused)
        #expect(rule.verdict(status: 200) == .accepted)
        #expect(rule.verdict(status: 307) == .redirect)
        #expect(rule.verdict(status: 400, code: "INFERENCE_TIMEOUT") == .retryable)
        #expect(rule.verdict(status: 400, code: "invalid_key") == .tokenRefused)
        #expect(rule.verdict(code: "3301") == .retryable)
        #expect(rule.verdict(code: "other") == nil)
        #expect(!rule.honoursRetryAfter)
        #expect(throws: SettingsError.self) { try retry("statuses = [200]") }
    }

    @Test func withoutARuleTheUsualOneHolds() {
        for status in 100..<700 {
            #expect(RetryRule().verdict(status: status) == StatusVerdict.of(status: status))
        }
    }

    @Test func aProfileBringsBoth() throws {
        let text = """
            url = "https://speech.example/v1"
            [answer]
            framing = "events"
            stop = "heard"
            [retry]
            statuses = [418]
            """
        let profile = try ServiceProfile(
            texts: [ProfileText(name: "test", text: text)])
        let service = try profile.service(format: profile.format(nil))
        #expect(service.answer.framing == .events)
        #expect(service.answer.values.stop == JSONPath(dotted: "heard"))
        #expect(service.retry.statuses == [418])
    }
}
