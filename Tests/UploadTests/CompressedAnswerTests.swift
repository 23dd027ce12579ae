// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Upload

/// Answers that travel compressed (RFC 9110 §8.4), which libcurl makes plain.
@Suite struct CompressedAnswerTests {
    /// `{"text":"heard"}`, compressed by gzip, brotli and Python's zlib.
    struct Sample: Sendable, CustomTestStringConvertible {
        let coding: String
        let hexadecimal: String
        var testDescription: String { coding }

        var bytes: [UInt8] {
            let digits = Array(hexadecimal)
            return stride(from: 0, to: digits.count, by: 2).map {
                UInt8(String(digits[$0..<$0 + 2]), radix: 16) ?? 0
            }
        }
    }

    static let samples = [
        Sample(
            coding: "gzip",
            hexadecimal:
                "1f8b0800000000000003ab562a49ad2851b252ca484d2c4a51aa0500c0a1dfcd10000000"),
        Sample(coding: "br", hexadecimal: "8f07807b2274657874223a226865617264227d03"),
        Sample(
            coding: "deflate", hexadecimal: "789cab562a49ad2851b252ca484d2c4a51aa05002f110584"),
    ]

    private func server(_ coding: String, _ body: [UInt8]) throws -> RecordingServer {
        try RecordingServer(
            otherwise: [
                .readHead, .readBodyToEnd,
                .respond(
                    status: 200, headers: [HeaderField("Content-Encoding", coding)], body: body),
            ])
    }

    @Test(arguments: samples) func anAnswerIsMadePlain(_ sample: Sample) async throws {
        let server = try server(sample.coding, sample.bytes)
        let upload = try Upload(to: server.url(), bytes(640), isSealed: true)
        try await upload.expectAnswer(200, #"{"text":"heard"}"#)
        let accepted = try #require(server.requests.first?["Accept-Encoding"])
        #expect(accepted.contains(sample.coding))
    }

    @Test(arguments: samples) func piecesAreHeardAsTheyCome(_ sample: Sample) async throws {
        let heard = Gate()
        let half = sample.bytes.count - 6
        let (_, upload) = try Upload.begin(
            bytes(640),
            by: [
                .readHead, .readBody(bytes: 640),
                .beginResponse(
                    status: 200, headers: [HeaderField("Content-Encoding", sample.coding)]),
                .sendBodyChunk(Array(sample.bytes[..<half])), .stallUntil(heard),
                .sendBodyChunk(Array(sample.bytes[half...])), .readBodyToEnd, .endResponse,
            ])
        #expect(await upload.recorder.wait { $0.heads == [200] })
        heard.open()
        #expect(await upload.recorder.wait { $0.body.count == 16 })
        upload.seal()
        try await upload.expectAnswer(200, #"{"text":"heard"}"#)
    }

    @Test func whatIsCountedIsThePlainAnswer() async throws {
        let zeros = "head -c \(16 << 20) /dev/zero"
        for (coding, tool) in [("gzip", "gzip"), ("br", "brotli -q 5")] {
            let bomb = try await CommandRun.run("sh", ["-c", "\(zeros) | \(tool) -c"]).output
            #expect((1..<100_000).contains(bomb.count))
            let server = try server(coding, bomb)
            let upload = try Upload(to: server.url(), bytes(640), isSealed: true)
            let result = try #require(await upload.result())
            #expect(result.ending == .badResponse("the response is longer than 8388608 bytes"))
            let taken = upload.recorder.record.look { $0.body.count }
            #expect(taken <= 8 << 20)
        }
    }

    @Test(arguments: samples) func brokenCompressionIsNoAnswer(_ sample: Sample) async throws {
        let server = try server(sample.coding, [UInt8](repeating: 0xFF, count: 40))
        let upload = try Upload(to: server.url(), bytes(640), isSealed: true)
        _ = try #require(await upload.result()).reason { .badResponse($0) }
    }
}
