// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService

@Suite struct AudioFormTests {
    private func frame(
        _ fields: [(String, String)], fileField: String = "file", fileName: String? = nil,
        contentType: String? = nil
    ) throws -> BodyFrame {
        var service = try RecognitionService(
            url: ServiceURL("http://h/"), contentType: contentType)
        service.body = .form(
            try AudioForm(
                fields: fields.map { try AudioForm.Field(name: $0, value: $1) },
                fileField: fileField, fileName: fileName))
        return service.frame(mediaType: "audio/wav", fileName: "audio.wav", id: "20261122-k3f9")
    }

    @Test(.spec("RFC 7578 §4")) func everyByteOfAForm() throws {
        let frame = try frame([("model", "whisper-1"), ("language", "en")])
        #expect(frame.contentType == "multipart/form-data; boundary=utter-20261122-k3f9")
        #expect(!frame.isBase64)
        #expect(
            String(decoding: frame.prologue, as: UTF8.self) == """
                --utter-20261122-k3f9\r
                Content-Disposition: form-data; name="model"\r
                \r
                whisper-1\r
                --utter-20261122-k3f9\r
                Content-Disposition: form-data; name="language"\r
                \r
                en\r
                --utter-20261122-k3f9\r
                Content-Disposition: form-data; name="file"; filename="audio.wav"\r
                Content-Type: audio/wav\r
                \r

                """)
        #expect(
            String(decoding: frame.epilogue, as: UTF8.self) == "\r\n--utter-20261122-k3f9--\r\n")
    }

    @Test func namesAreWrittenAsBrowsersDo() throws {
        let frame = try frame(
            [("a\"b\r\nc", "x\r\ny\"")], fileField: "f;=\"", fileName: "é\n\\.wav",
            contentType: "audio/x-own")
        let text = String(decoding: frame.prologue, as: UTF8.self)
        #expect(text.contains("name=\"a%22b%0D%0Ac\"\r\n\r\nx\r\ny\"\r\n--"))
        #expect(text.contains("name=\"f;=%22\"; filename=\"é%0A\\.wav\"\r\n"))
        #expect(text.hasSuffix("Content-Type: audio/x-own\r\n\r\n"))
    }

    @Test(.spec("RFC 2046 §5.1.1")) func theBoundaryOccursInNoField() throws {
        let usual = "utter-20261122-k3f9"
        let cases = [
            [("prompt", "see \(usual)!")], [(usual, "x")], [("a", usual), ("b", "\(usual)-2")],
            [("a", "\r\n--\(usual)--\r\n")], [("a", "\(usual)-3"), ("b", "\(usual)-2--")],
        ]
        for fields in cases {
            let frame = try frame(fields)
            let boundary = String(try #require(frame.contentType.split(separator: "=").last))
            #expect(boundary.utf8.count <= 70)
            let text = String(decoding: frame.prologue, as: UTF8.self)
            #expect(text.ranges(of: boundary).count == fields.count + 1, "\(fields)")
            let body = frame.prologue + Array("RIFF".utf8) + frame.epilogue
            let form = try ForeignForm(body, contentType: frame.contentType)
            #expect(form.parts.map(\.name) == fields.map(\.0) + ["file"])
            #expect(
                form.parts.map(\.bytes) == fields.map { Array($0.1.utf8) } + [Array("RIFF".utf8)])
        }
        let name = try frame([], fileName: "\(usual).wav")
        #expect(name.contentType.hasSuffix("\(usual)-2"))
    }

    static let refused: [(String, ServiceError)] = [
        ("", .invalidForm(reason: "a field has no name")),
        ("api_key", .secretInBody(name: "api_key")), ("Token", .secretInBody(name: "Token")),
    ]

    @Test(arguments: refused)
    func aFieldThatCannotBeSentSaysWhy(_ name: String, _ error: ServiceError) {
        #expect(throws: error) { try AudioForm.Field(name: name, value: "x") }
    }

    @Test func theRecordingHasItsFieldAlone() throws {
        let field = try AudioForm.Field(name: "file", value: "@a.wav")
        #expect(throws: ServiceError.invalidForm(reason: "the field 'file' is the recording's own"))
        {
            try AudioForm(fields: [field])
        }
        #expect(throws: ServiceError.self) { try AudioForm(fileField: "") }
        #expect(throws: ServiceError.self) { try AudioForm(fileName: "") }
        let long = try AudioForm.Field(name: "a", value: String(repeating: "x", count: 1 << 16))
        #expect(throws: ServiceError.invalidForm(reason: "it is longer than 65536 bytes")) {
            try AudioForm(fields: [long])
        }
    }

    @Test func aFieldMayBeEmptyAndNamesMayRepeat() throws {
        let form = try ForeignForm(
            try frame([("g[]", "word"), ("g[]", ""), ("keywords[]", "ü")]).prologue
                + Array("\r\n--utter-20261122-k3f9--\r\n".utf8),
            contentType: "multipart/form-data; boundary=utter-20261122-k3f9")
        #expect(form.parts.map(\.name) == ["g[]", "g[]", "keywords[]", "file"])
        #expect(form.parts.map(\.bytes) == [Array("word".utf8), [], Array("ü".utf8), []])
        #expect(form.parts.map(\.contentType) == [nil, nil, nil, "audio/wav"])
        #expect(form.parts[0].fields == ["Content-Disposition"])
    }
}

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
        (#"{"a":"audio"}"#, "{audio} must appear once, inside a string"),
        (#"{"a":"\u007baudio}"}"#, "{audio} must appear once, inside a string"),
        (#"{"{audio}":1}"#, "{audio} is the name of a member, not a value"),
        (#"{"a":"{audio}","b":["{audio}"]}"#, "{audio} must appear once, not 2 times"),
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

@Suite struct JSONTextTests {
    @Test func whatIsNoPlainCharacterIsEscaped() throws {
        #expect(
            JSONText.quoted("a\"b\\c\n\r\t\u{1}\u{1F} \u{7F}\u{80}é")
                == #""a\"b\\c\n\r\t\u0001\u001f \u007f"# + "\u{80}é\"")
    }

    @Test func everyTextIsReadAsItWasWritten() throws {
        let text = String(
            String.UnicodeScalarView((0...0x2FF).compactMap { Unicode.Scalar(UInt32($0)) }))
        #expect(try JSONParser.parse(Array(JSONText.quoted(text).utf8)) == .string(text))
    }
}
