// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Upload

/// Bodies with something around the recording, on their way.
@Suite struct TransferShapeTests {
    private static let prologue = Array("before>".utf8)
    private static let epilogue = Array("<behind".utf8)

    private func framed(_ request: inout TransferRequest) {
        request.body.prologue = Self.prologue
        request.body.epilogue = Self.epilogue
    }

    @Test func whatStandsBeforeTheRecordingIsSentBeforeThereIsOne() async throws {
        let (server, upload) = try Upload.begin(change: framed)
        let early = try #require(await server.wait(untilBytes: 7))
        #expect(early.body == Self.prologue)
        try upload.append(bytes(640))
        #expect(try #require(await server.wait(untilBytes: 647)).body == Self.prologue + bytes(640))
        #expect(await upload.hasSent(640))
        upload.seal()
        let request = try #require(await server.finishedRequest())
        #expect(request.body == Self.prologue + bytes(640) + Self.epilogue)
        #expect(request.framingErrors.isEmpty)
        let result = try #require(await upload.result())
        #expect(result.isBodyComplete)
        #expect((result.sentByteCount, result.wireByteCount) == (640, 654))
        // Seven bytes at once: the end of the recording costs no chunk of its own.
        #expect(request.chunks.map(\.byteCount) == [7, 640, 7])
    }

    @Test(arguments: [false, true])
    func aCancelledFormHasNoEnd(_ saysLength: Bool) async throws {
        let (server, upload) = try Upload.begin(bytes(640), isSealed: true) {
            framed(&$0)
            $0.body.saysLength = saysLength
            // Some of it is out before its end is looked at.
            $0.bytesPerSecond = 1_600
            $0.mayEndBody = { false }
        }
        let result = try #require(await upload.result())
        #expect(result.ending == .cancelled)
        #expect(!result.isBodyComplete)
        let request = try #require(await server.finishedRequest())
        #expect(!request.isComplete)
        #expect(request.body.starts(with: Self.prologue))
        #expect(request.body.firstRange(of: Self.epilogue) == nil)
    }

    @Test func base64IsSentAsTheRecordingGrows() async throws {
        let (server, upload) = try Upload.begin { $0.body.transform = .base64 }
        try upload.append(Array("any carnal plea".utf8))
        let early = try #require(await server.wait(untilBytes: 20))
        #expect(String(decoding: early.body, as: UTF8.self) == "YW55IGNhcm5hbCBwbGVh")
        try upload.append(Array("s".utf8))
        upload.seal()
        let request = try #require(await server.finishedRequest())
        #expect(String(decoding: request.body, as: UTF8.self) == "YW55IGNhcm5hbCBwbGVhcw==")
        let result = try #require(await upload.result())
        #expect((result.sentByteCount, result.wireByteCount) == (16, 24))
    }

    @Test func aSlowPaceSplitsEveryPartAndLosesNone() async throws {
        let (server, upload) = try Upload.begin(bytes(90), isSealed: true) {
            framed(&$0)
            $0.body.transform = .base64
            $0.bytesPerSecond = 100
        }
        let result = try await upload.expectAnswer()
        let request = try #require(await server.finishedRequest())
        #expect(request.chunks.count > 2)
        #expect(request.body.count == 134)
        #expect(request.body.starts(with: Self.prologue))
        #expect(request.body.suffix(7).elementsEqual(Self.epilogue))
        #expect((result.sentByteCount, result.wireByteCount) == (90, 134))
    }

    @Test func aFormOfKnownLengthSaysIt() async throws {
        let (server, upload) = try Upload.begin(bytes(100_000), isSealed: true) {
            framed(&$0)
            $0.body.saysLength = true
        }
        let result = try #require(await upload.result())
        #expect(result.isBodyComplete)
        let request = try #require(await server.finishedRequest())
        #expect(request["Content-Length"] == "100014")
        #expect(request["Transfer-Encoding"] == nil)
        #expect(request.body == Self.prologue + bytes(100_000) + Self.epilogue)
    }
}
