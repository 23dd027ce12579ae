// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Synchronization
import TestSupport
import Testing

/// A client of another hand, which speaks WebSocket; killed when its last reference goes.
final class SocketClient: Sendable {
    /// A message of the endpoint, with the members that tests look at.
    struct Message: Decodable {
        struct Session: Decodable {
            struct Audio: Decodable {
                struct Input: Decodable {
                    struct Format: Decodable { var rate: Int }
                    struct Transcription: Decodable { var model: String, language: String? }
                    var format: Format
                    var transcription: Transcription
                }
                var input: Input
            }
            var type: String
            var audio: Audio
        }
        struct Failure: Decodable {
            var code: String, param: String?, message: String, event_id: String?
        }
        struct Word: Decodable { var word: String, start: Double, end: Double }

        var type: String?
        var session: Session?
        var item_id, previous_item_id, delta, transcript, state, snippet: String?
        var words: [Word]?
        var error: Failure?
        /// The end of the session, or its refusal.
        var closed: Int?
        var reason: String?
        var refused: Int?

        /// The last part of the type.
        var kind: String {
            type.map { $0.split(separator: ".").last.map(String.init) ?? $0 } ?? "end"
        }
    }

    private let run: CommandRun

    init(_ url: String, _ fields: String...) throws {
        run = try CommandRun(
            "/usr/bin/python3",
            [SourceTree.path("scripts/peer-socket-client.py"), url] + fields, input: .pipe)
    }

    convenience init(port: Int, _ path: String = "/v1/realtime?intent=transcription") throws {
        try self.init("ws://127.0.0.1:\(port)\(path)")
    }

    /// Text is sent as it is; anything else is an order to the program.
    func send(_ text: String) throws { try order(["text": text]) }

    func order(_ order: [String: String], piece: Int? = nil) throws {
        var line = try order.map { name, value in
            "\"\(name)\":" + String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
        }
        if let piece { line.append("\"piece\":\(piece)") }
        run.write(Array("{\(line.joined(separator: ","))}\n".utf8))
    }

    func order(line: String) { run.write(Array("\(line)\n".utf8)) }

    func update(rate: Int = 16_000, _ more: String = "") throws {
        try send(
            #"{"type":"session.update","event_id":"mine","session":{"type":"transcription","audio":"#
                + #"{"input":{"format":{"type":"audio/pcm","rate":\#(rate)}\#(more)}}}}"#)
    }

    /// A client whose session has the rate of the clips.
    static func updated(port: Int) throws -> SocketClient {
        let client = try SocketClient(port: port)
        try client.update()
        return client
    }

    /// Sends a clip in binary messages.
    func begin(_ clip: String = "go-forward") throws {
        try order(["audio": "\(Samples.folder)/\(clip).wav"])
    }

    /// Sends a clip, and says that it ends.
    func say(_ clip: String = "go-forward") throws {
        try begin(clip)
        try commit()
    }

    func commit() throws { try send(#"{"type":"input_audio_buffer.commit"}"#) }

    /// Closes the session.
    func close() { run.closeInput() }

    /// The messages of the first bytes of the program's output.
    private let known = Mutex((byteCount: 0, messages: [Message]()))

    private var all: [Message] {
        let output = run.output
        return known.withLock { known in
            // The last line may be a part of one.
            let lines = output[known.byteCount...].split(
                separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
            ).dropLast()
            for line in lines {
                known.byteCount += line.count + 1
                // The program's other lines are its own.
                if let message = try? JSONDecoder().decode(Message.self, from: Data(line)) {
                    known.messages.append(message)
                }
            }
            return known.messages
        }
    }

    /// All messages so far, once the last of a kind has come so often.
    func messages(until kind: String, _ count: Int = 1) async throws -> [Message] {
        let hasCome = await comesTrue { [self] in
            all.count { $0.kind == kind } >= count || run.status != nil
        }
        let messages = all
        let said = String(decoding: run.output + run.error, as: UTF8.self)
        try #require(
            hasCome && messages.count { $0.kind == kind } >= count, "\(said.suffix(2_000))")
        return messages
    }

    /// How the session has ended.
    func end() async throws -> Message {
        try #require(try await messages(until: "end").last)
    }
}
