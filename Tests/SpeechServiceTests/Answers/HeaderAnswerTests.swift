// SPDX-License-Identifier: Apache-2.0

import CZlib
import TestSupport
import Testing

@testable import SpeechService

@Suite struct HeaderAnswerTests {
    private func read(
        _ value: String?, _ coding: [HeaderTranscript.Coding], limit: Int = 1000
    ) -> Decoded {
        var rule = AnswerRule(framing: .header)
        rule.headers = [HeaderTranscript(name: "X-Amz-Lex-Input-Transcript", coding: coding)]
        let fields = value.map { [(name: "x-amz-lex-input-transcript", value: $0)] } ?? []
        var decoder = rule.makeDecoder(AnswerHead(headers: fields), byteLimit: limit)
        // The body is speech, which says nothing.
        return Decoded(&decoder, [[0xFF, 0xFB, 0x90]])
    }

    @Test func aFieldIsTheTextPlainOrCompressedAsLexV2SendsIt() {
        #expect(read("book a hotel", []).transcript.text == "book a hotel")
        #expect(read("", []).hypotheses == [Hypothesis(text: "", isFinal: true)])
        // printf '"book a hotel"' | gzip -n | base64
        let value = "H4sIAAAAAAAAA1NKys/PVkhUyMgvSc1RAgBZ6VI7DgAAAA=="
        #expect(read(value, [.base64, .gzip]).transcript.text == "book a hotel")
    }

    @Test(
        .spec("RFC 4648 §10"),
        arguments: [
            ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9vYmFy", "foobar"), ("Zm9vYg", "foob"),
            ("aMO2cmVuIPCfjqQ=", "hören 🎤"), ("4pyT_w", "✓\u{FFFD}"), ("a*b", nil),
        ])
    func base64IsRead(value: String, text: String?) {
        let decoded = read(value, [.base64])
        #expect(decoded.error == nil ? decoded.transcript.text == text : text == nil)
    }

    @Test func aBombIsNotUnpacked() throws {
        let bomb = try compressed(Array(repeating: UInt8(ascii: "a"), count: 20 << 20))
        #expect(bomb.count < 30_000)
        for limit in [0, 1000, 8 << 20] {
            #expect(throws: AnswerError.tooLarge(limit: limit)) {
                try Inflation.inflate(bomb, limit: limit)
            }
        }
        #expect(try Inflation.inflate(bomb, limit: 20 << 20).count == 20 << 20)
    }

    @Test func whatIsCompressedComesBackWhole() throws {
        for count in [0, 1, 16 << 10, (16 << 10) + 1, 64 << 10, 100_000] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 >> 8) }
            #expect(try Inflation.inflate(try compressed(bytes), limit: 1 << 20) == bytes)
        }
    }

    private func compressed(_ bytes: [UInt8]) throws -> [UInt8] {
        var count = compressBound(UInt(bytes.count))
        var output = [UInt8](repeating: 0, count: Int(count))
        try #require(compress2(&output, &count, bytes, UInt(bytes.count), 9) == Z_OK)
        return Array(output[..<Int(count)])
    }

    @Test func whatCannotBeDecodedSaysWhy() {
        #expect(
            read(nil, []).error
                == .undecodable(reason: "missing: there is no field X-Amz-Lex-Input-Transcript"))
        #expect(
            read("Zm9v", [.base64, .gzip]).error == .undecodable(reason: "not compressed by gzip"))
        #expect(
            read("H4sIAAAAAAAAA1NKys/PVkhUyMgvSc1R", [.base64, .gzip]).error
                == .undecodable(reason: "cut off in the middle"))
        #expect(read("AGE=", [.base64]).error == .notText(offset: 0))
        #expect(
            AnswerError.undecodable(reason: "not base64").description
                == "the transcript in the answer's head is not base64")
    }
}
