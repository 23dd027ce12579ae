// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService

/// JSON documents with a place for a recording.
@Suite struct JSONTemplateTests {
    @Test func theDocumentStaysAsItWasWritten() throws {
        let text =
            #"{ "config": {"n": 1.50, "é": "\"{\u0061}"}, "audio":{"content":"data:x;{audio}"}}"#
        var service = try RecognitionService(url: ServiceURL("http://h/"))
        service.body = .json(try JSONTemplate(text))
        let frame = service.frame(mediaType: "audio/wav", fileName: "audio.wav", id: "7")
        #expect(frame.isBase64)
        #expect(frame.contentType == "application/json")
        #expect(
            String(decoding: frame.prologue + Array("{audio}".utf8) + frame.epilogue, as: UTF8.self)
                == text)
        #expect(String(decoding: frame.epilogue, as: UTF8.self) == "\"}}")
        service.contentType = "application/x-own"
        #expect(
            service.frame(mediaType: "audio/wav", fileName: "", id: "7").contentType
                == "application/x-own")
    }

    static let refused: [(String, String)] = [
        ("", "it is empty"),
        ("{audio}", "it is not JSON at byte 1: 'audio}'"),
        (#"{"a":"{audio}""#, "it is not JSON: it ends inside a value"),
        (#"{"a":"audio"}"#, "{audio} stands in no string"),
        (#"{"a":"\u007baudio}"}"#, "{audio} stands in no string"),
        (#"{"{audio}":1}"#, "{audio} is the name of a member, and no value"),
        (#"{"a":"{audio}","b":["{audio}"]}"#, "{audio} stands there 2 times"),
    ]

    @Test(arguments: refused)
    func whatHasNoPlaceForTheRecordingSaysWhy(_ text: String, _ reason: String) {
        #expect(throws: ServiceError.invalidTemplate(reason: reason)) { try JSONTemplate(text) }
    }

    @Test(arguments: [
        (#"{"api_key":"x","a":"{audio}"}"#, "api_key"),
        (#"[{"x":{"token":"x"}},"{audio}"]"#, "token"),
    ])
    func aSecretHasNoPlaceInIt(_ text: String, _ name: String) {
        #expect(throws: ServiceError.secretInBody(name: name)) { try JSONTemplate(text) }
    }

    @Test func theRecordingAloneIsADocument() throws {
        #expect(try JSONTemplate(#""{audio}""#).text == #""{audio}""#)
        #expect(throws: ServiceError.invalidTemplate(reason: "it is longer than 65536 bytes")) {
            try JSONTemplate("\"" + String(repeating: "x", count: 1 << 16) + "{audio}\"")
        }
    }
}
