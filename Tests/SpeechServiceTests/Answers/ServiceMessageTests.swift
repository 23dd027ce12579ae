// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService

@Suite("ServiceMessage")
struct ServiceMessageTests {
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
