// SPDX-License-Identifier: Apache-2.0

internal import Cassettes
internal import LinuxPlatform

/// Plays the messages of a cassette over a WebSocket.
struct CassetteSession: Sendable {
    let cassette: Cassette
    let number: Int
    let connection: Connection
    let tape: CassetteTape
    let clock: CassetteClock
    let onRequest: @Sendable (CassetteServer.Served) -> Void

    @concurrent func respond(
        to messages: inout ClientMessages, _ writer: MessageSender
    ) async throws -> SocketClose {
        let upload = CassetteUpload()
        var differences: [String] = []
        defer {
            if !differences.isEmpty { tape.putBack(number) }
            onRequest(
                CassetteServer.Served(
                    number: number, cassette: cassette, differences: differences,
                    byteCount: upload.byteCount))
        }
        for (place, expected) in (cassette.request.open ?? []).enumerated() {
            // A session that ends before is another one as well.
            let message = try? await messages.next()
            if case .text(let text)? = message, Cassette.Request.matches(text, expected) {
                continue
            }
            // The message may hold a secret, so that the server does not repeat it.
            differences = ["message \(place + 1) of the session is not \(expected)"]
            return SocketClose(code: 1008, reason: "message \(place + 1) is not the cassette's")
        }
        return try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                // An error means that the client has gone, and hears no more.
                try? await play(to: writer, as: upload)
            }
            while let message = try await messages.next() {
                upload.add(Self.audioByteCount(of: message))
                if isFinish(message) { upload.end() }
            }
            upload.end()
            group.cancelAll()
            return SocketClose()
        }
    }

    @concurrent private func play(to writer: MessageSender, as upload: CassetteUpload) async throws
    {
        for piece in cassette.response?.body ?? [] {
            try await clock.wait(for: upload, piece.after, piece.ms)
            try await writer.send(String(decoding: piece.bytes, as: UTF8.self))
        }
        guard cassette.ending == nil || cassette.ending == "answered" else {
            return await connection.close()
        }
        // The service has closed the session after the client's last message.
        await upload.wait(forBytes: .max)
        try await writer.close(SocketClose())
        _ = connection.endLater()
    }

    /// Whether the audio has ended, as the cassette's client has said it.
    private func isFinish(_ message: ClientMessage) -> Bool {
        guard let finish = cassette.request.finish?.last else { return false }
        return switch message {
        case .text(let text): Cassette.Request.matches(text, finish)
        case .binary(let bytes): bytes.isEmpty && finish.isEmpty
        }
    }

    /// The longest piece of base64 in JSON is the audio.
    private static func audioByteCount(of message: ClientMessage) -> Int {
        switch message {
        case .binary(let bytes): return bytes.count
        case .text(let text):
            let longest =
                text.utf8.split { !($0.isLetterOrDigit || "+/".utf8.contains($0)) }
                .map(\.count).max() ?? 0
            // A shorter one may be a word.
            return longest < 64 ? 0 : longest * 3 / 4
        }
    }
}
