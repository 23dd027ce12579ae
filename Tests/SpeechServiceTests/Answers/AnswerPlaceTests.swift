// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService

/// Where an answer that cannot be read has text, and what an empty one says.
@Suite struct AnswerPlaceTests {
    private func decode(_ rule: String, _ body: String) throws -> Result<[String], AnswerError> {
        var decoder = try AnswerRule(rule).makeDecoder(
            AnswerHead(headers: [(name: "content-type", value: "application/json")]))
        return Result { () throws(AnswerError) in
            let bytes = Array(body.utf8)
            return (try decoder.accumulate(bytes.span) + decoder.finish()).map(\.text)
        }
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
        #expect(
            try decode("json:results[].alternatives[0].transcript", results).get()
                == ["hello and more"])
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
        #expect(
            SpeechServiceTests.decode(rule, body, mediaType: "application/json").transcript.text
                == text)
        let plain = String(body.dropFirst(9).dropLast(2)).replacing("\\n", with: "\n")
        #expect(
            SpeechServiceTests.decode(rule, plain, mediaType: "text/plain").transcript.text == text)
    }

    @Test func aMissingTextNamesWhereThereIsSome() throws {
        let body = #"{"result":{"text":"found it"}}"#
        for rule in ["auto", "json:text"] {
            guard case .failure(let error) = try decode(rule, body) else {
                Issue.record("\(rule) found a text")
                continue
            }
            #expect(error.description.hasSuffix("; there is text at result.text"))
        }
    }

    @Test(arguments: ["NoMatch", "InitialSilenceTimeout", "BabbleTimeout"])
    func noSpeechIsNoMissingText(_ status: String) throws {
        let body = #"{"RecognitionStatus":"\#(status)","Offset":0}"#
        #expect(try decode("json:DisplayText", body).get() == [""])
        #expect(try decode("auto", body).get() == [""])
    }

    @Test func anEmptyTextWithAComplaintIsARefusal() throws {
        let refused = #"{"result":"","status":40000001,"message":"ACCESS_DENIED"}"#
        #expect(
            try decode("json:result", refused)
                == .failure(.serviceReported(message: "ACCESS_DENIED")))
        for praise in ["SUCCESS", "success.", "OK"] {
            let body = #"{"result":"","status":20000000,"message":"\#(praise)"}"#
            #expect(try decode("json:result", body).get() == [""])
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
