// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService

@Suite(.spec("RFC 2046 §5.1")) struct MultipartAnswerTests {
    private static let type = "multipart/related; type=\"a/b\"; Boundary=\"b 1\""
    static let body =
        "this is said to old readers\r\n--b 1  \r\nContent-Type: application/json; x=y\r\n"
        + "Content-ID: <a>\r\n\r\n{\"directive\":{\"name\":\"none\"}}\r\n--b 1\r\n"
        + "content-type:application/json\r\n\r\n{\"text\":\"one\\r\\n--b two\"}\r\n--b 1\r\n\r\nplain three\r\n"
        + "--b 1\r\nContent-Type: audio/mpeg\r\n\r\n\u{0}\u{1}\r\n--b 2\r\n\r\n--b 1\r\n\r\n\r\n--b 1--\r\nafter"

    private func read(_ body: String, type: String = type, limit: Int = 10_000) -> Decoded {
        decode(.automatic, chunks: [Array(body.utf8)], mediaType: type, byteLimit: limit)
    }

    @Test func theTextsOfAllPartsAreRead() {
        let decoded = read(Self.body)
        #expect(decoded.error == nil)
        #expect(decoded.transcript.finals == ["one --b two", "plain three"])
    }

    @Test(arguments: [
        body, "--b 1--", "--b 1\r\n\r\nonly\r\n--b 1--\r\n", "--b 1\r\n\r\n--b 1--",
        "--b 1\r\nContent-Type: application/json\r\n\r\n{\"error\":\"no\"}\r\n--b 1--",
        "--b 1\r\n\r\ncut",
    ])
    func chunksMayEndAtAnyByte(body: String) {
        expectSameForEverySplit(.automatic, body, mediaType: Self.type)
        expectSameForEverySplit(AnswerRule(framing: .multipart), body, mediaType: Self.type)
    }

    @Test func whatIsNoAnswerIsAnError() {
        #expect(read("").error == .empty)
        #expect(read("--b 1--").error == .empty)
        #expect(read("--b 1\r\n\r\ncut").error == .truncated(byteCount: 12))
        #expect(read("nothing").error == .truncated(byteCount: 7))
        #expect(
            read("--b 1\r\nContent-Type: application/json\r\n\r\n{\"error\":\"no\"}\r\n--b 1--")
                .error
                == .serviceReported(message: "no"))
        #expect(
            read("--b 1\r\nContent-Type: application/json\r\n\r\n{\"a\":1}\r\n--b 1--").error
                == .missingText(path: "text", excerpt: "{\"a\":1}"))
        #expect(
            read("x", type: "multipart/mixed").error == .unsupportedMediaType("multipart/mixed"))
    }

    @Test func partsOfPartsAreNotRead() {
        let inner =
            "--b 1\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\nx\r\n--c--\r\n--b 1--"
        #expect(read(inner).error == .empty)
    }

    @Test func aHeadWithoutEndIsRefused() {
        let body = "--b 1\r\n" + String(repeating: "X-Field: value\r\n", count: 2000)
        #expect(read(body, limit: 1 << 20).error == .tooLarge(limit: 16 << 10))
        let line = "--b 1" + String(repeating: " ", count: 20_000)
        #expect(read(line, limit: 1 << 20).error == .tooLarge(limit: 16 << 10))
        #expect(read(String(repeating: "a", count: 20_000)).error == .tooLarge(limit: 10_000))
    }
}
