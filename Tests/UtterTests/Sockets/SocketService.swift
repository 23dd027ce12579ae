// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Utter

/// A realtime service in a program of another hand, which hears words in samples of one value.
final class SocketService: Sendable {
    struct Session: Decodable {
        var path: String
        var number: Int
        var audio: Int
        var texts: [String]
        var words: [String]
        var closed: Int?
        var authorization: String?
    }

    let port: Int
    private let run: CommandRun

    init() async throws {
        let run = try CommandRun(
            "/usr/bin/python3", [SourceTree.path("scripts/peer-socket.py")], input: .pipe)
        self.run = run
        let isReady = await comesTrue { run.output.contains(UInt8(ascii: "\n")) }
        let said = String(decoding: run.output + run.error, as: UTF8.self)
        try #require(isReady, "\(said)")
        port = try #require(said.split(separator: "\n").first.flatMap { Int($0) }, "\(said)")
    }

    deinit { run.signal(SIGKILL) }

    /// The sessions that have ended, once there are so many.
    func sessions(_ count: Int) async throws -> [Session] {
        let areThere = await comesTrue { [self] in lines.count >= count }
        #expect(areThere)
        return try lines.map { try JSONDecoder().decode(Session.self, from: Data($0.utf8)) }
    }

    private var lines: [Substring] {
        let text = String(decoding: run.output, as: UTF8.self)
        return text[..<(text.lastIndex(of: "\n") ?? text.startIndex)]
            .split(separator: "\n").dropFirst() + []
    }

    func url(_ path: String) -> String { "ws://127.0.0.1:\(port)/\(path)" }

    /// The samples of words by their numbers, each 0.2 s long and 0.1 s apart.
    static func samples(_ words: [Int]) -> [Int16] {
        words.flatMap { word in
            Array(repeating: Int16(100 * word), count: 3_200) + Array(repeating: 0, count: 1_600)
        }
    }

    static func text(_ words: [Int]) -> String { words.map { "w\($0)" }.joined(separator: " ") }
}
