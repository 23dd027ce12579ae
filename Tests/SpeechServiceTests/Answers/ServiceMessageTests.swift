// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService

@Suite struct ServiceMessageTests {
    @Test(arguments: [
        ("{\"error\":{\"message\":\"Invalid key\",\"type\":\"x\"}}", "Invalid key"),
        ("{\"error\":\"no-auth\",\"code\":\"wit\"}", "no-auth"),
        ("{\"detail\":[{\"loc\":[\"body\"],\"msg\":\"Field required\"}]}", "Field required: body"),
        ("{\"detail\":\"Not Found\"}", "Not Found"),
        ("{\"detail\":{\"message\":\"quota\"}}", "quota"),
        ("{\"message\":\"No workers available\",\"status\":9}", "No workers available"),
        ("{\"err_no\":3301,\"err_msg\":\"speech quality error.\"}", "speech quality error."),
        ("{\"title\":\"Unsupported\",\"status\":415}", "Unsupported"),
        ("{\"error\":\"\",\"message\":\"second\"}", "second"),
        ("{\"error\":true,\"message\":\"why\"}", "why"),
        ("\"just text\"", "just text"),
        ("{\"code\":7}", "{\"code\":7}"),
        ("Missing X-Speech-Content header", "Missing X-Speech-Content header"),
        ("\n  first\nsecond", "first"),
        (
            "<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body>",
            "413 Request Entity Too Large"
        ),
        (
            "<!DOCTYPE HTML>\n<html lang=\"en\">\n<style>p { x }</style>\n<title>A and b</title>",
            "A and b"
        ),
        ("\u{1B}[31mred\u{202E}", "red"),
        ("{\"error\":\"cut here", "{\"error\":\"cut here"),
        ("a < b", "a < b"),
    ])
    func theMessageIsFound(body: String, message: String) {
        #expect(ServiceMessage.extract(from: Array(body.utf8)) == message)
    }

    @Test(arguments: ["", " \n\t", "<html></html>", "a\0b"])
    func silenceIsNil(body: String) {
        #expect(ServiceMessage.extract(from: Array(body.utf8), contentType: "text/html") == nil)
    }

    @Test func soundIsNoMessage() {
        #expect(ServiceMessage.extract(from: [0x41], contentType: "audio/wav") == nil)
    }

    @Test func aLongMessageIsCutBetweenCharacters() throws {
        let body = Array(String(repeating: "ü", count: 300).utf8)
        let message = try #require(ServiceMessage.extract(from: body))
        #expect(message.utf8.count <= 200)
        #expect(message.hasSuffix("ü…"))
    }
}

@Suite struct MessageTests {
    @Test(arguments: [
        (AnswerError.empty, "the service accepted the recording and answered nothing"),
        (.notJSON(offset: 17, excerpt: "<p>"), "the answer is not JSON: byte 17, at '<p>'"),
        (
            .truncated(byteCount: 9),
            "the answer was cut off after 9 bytes, in the middle of a value"
        ),
        (
            .tooDeep(offset: 64, limit: 64),
            "the answer nests JSON deeper than 64 levels at byte 64"
        ),
        (.tooLarge(limit: 8 << 20), "the answer is larger than 8 MiB"),
        (.tooLarge(limit: 1000), "the answer is larger than 1000 bytes"),
        (.tooManyValues(limit: 500_000), "the answer holds more than 500000 JSON values"),
        (.notText(offset: 3), "the answer is not UTF-8 text: byte 3"),
        (.missingText(path: "a.b", excerpt: "{}"), "the answer has no text at 'a.b': '{}'"),
        (
            .missingText(path: String(repeating: "a", count: 300), excerpt: "{}"),
            "the answer has no text at '\(String(repeating: "a", count: 200))…': '{}'"
        ),
        (
            .noFinal(partial: "go"),
            "the answer ended without a final text; the last partial was 'go'"
        ),
        (.serviceReported(message: "no quota"), "the service reported an error: no quota"),
        (.webPage(title: "Log in"), "the answer is a web page, not a transcript: 'Log in'"),
        (.webPage(title: nil), "the answer is a web page, not a transcript"),
        (
            .unsupportedMediaType("audio/wav"),
            "the answer is of type 'audio/wav', which utter does not read"
        ),
    ])
    func anAnswerErrorSaysWhatHappened(error: AnswerError, message: String) {
        #expect(error.description == message)
    }

    @Test(arguments: [
        (
            ServiceError.userInfoInURL(text: "https://…@h"),
            "'https://…@h' carries a user name or password"
        ),
        (.invalidCredential(reason: "it is empty"), "the token cannot be sent: it is empty"),
        (.invalidSecretForm(text: "Token"), "'Token' does not say where the token goes"),
        (.invalidAnswerRule(text: "xml"), "'xml' is not a way to read an answer"),
    ])
    func aServiceErrorSaysWhatHappened(error: ServiceError, message: String) {
        #expect(error.description == message)
    }
}

@Suite struct StatusVerdictTests {
    @Test func everyStatusHasItsVerdict() {
        let special: [Int: StatusVerdict] = [
            101: .accepted, 307: .redirect, 308: .redirect, 401: .tokenRefused, 403: .tokenRefused,
            408: .retryable,
            423: .retryable, 425: .retryable, 429: .retryable, 501: .refused, 505: .refused,
        ]
        for status in -1...1000 {
            let byClass: StatusVerdict =
                switch status {
                case 200..<300: .accepted
                case 300..<500: .refused
                case 500..<600: .retryable
                default: .unusable
                }
            #expect(StatusVerdict.of(status: status) == special[status] ?? byClass, "\(status)")
        }
    }
}
