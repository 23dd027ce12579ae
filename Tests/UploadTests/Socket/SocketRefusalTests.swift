// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import Upload

/// Answers of HTTP to a request for a WebSocket.
@Suite struct SocketRefusalTests {
    /// On a connection that stays open, so that the chunks alone say where the answer ends.
    @Test(
        .spec("RFC 9112 §7.1"),
        arguments: [
            "3\r\nwho\r\n9;a=b\r\n are you?\r\n0\r\nDigest: x\r\n\r\n",
            "C\nwho are you?\n0\n\n", "c\r\nwho are you?\r\n0\r\n\r\n",
        ], [1, 1_000])
    func aRefusalMayComeInChunks(_ chunks: String, _ piece: Int) async throws {
        let stays = Gate()
        defer { stays.open() }
        let head = "HTTP/1.1 401 Unauthorized\r\nTransfer-Encoding: chunked\r\n\r\n"
        let body = Array(chunks.utf8)
        let pieces = stride(from: 0, to: body.count, by: piece).map { start in
            ServerStep.sendRaw(Array(body[start..<min(start + piece, body.count)]))
        }
        let server = try RecordingServer(scripts: [
            [.readHead, .sendRaw(Array(head.utf8))] + pieces + [.stallUntil(stays)]
        ])
        let upload = try Upload(to: server.url(), bytes(640), isSealed: true) {
            $0.speakSocket(SocketMessages())
        }
        try await upload.expectAnswer(401, "who are you?")
    }

    @Test func anEndlessRefusalIsCutShort() {
        var reader = ChunkReader()
        #expect(reader.data(in: Array(repeating: 0x61, count: 5_000)) == [])
        #expect(reader.isOver)
    }
}
