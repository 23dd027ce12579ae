// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import Testing

/// A realtime service in a program of another hand, which hears words in samples of one value.
package final class SocketService: Sendable {
    /// A session that has ended.
    package struct Session: Decodable, Sendable {
        package var path: String
        package var number: Int
        /// In bytes.
        package var audio: Int
        package var audioMessages: Int
        /// The messages without audio.
        package var texts: [String]
        package var words: [String]
        package var closed: Int?
        package var authorization: String?
        package var host: String?
        /// Messages of audio that came before the service was ready, which are lost.
        package var dropped: Int
    }

    package let port: Int
    private let run: CommandRun
    private let isSecure: Bool

    package convenience init(_ certificate: TestCertificate? = nil) async throws {
        try await self.init(
            certificate.map { [$0.path, $0.keyPath] } ?? [], isSecure: certificate != nil)
    }

    /// At a Unix socket.
    package convenience init(at path: String) async throws {
        try await self.init(["unix:\(path)"])
    }

    private init(_ options: [String], isSecure: Bool = false) async throws {
        let run = try CommandRun(
            "/usr/bin/python3", [SourceTree.path("scripts/peer-socket.py")] + options,
            input: .pipe)
        self.isSecure = isSecure
        self.run = run
        let isReady = await comesTrue { run.output.contains(UInt8(ascii: "\n")) }
        let said = String(decoding: run.output + run.error, as: UTF8.self)
        try #require(isReady, "\(said)")
        port = try #require(said.split(separator: "\n").first.flatMap { Int($0) }, "\(said)")
    }

    deinit { run.signal(SIGKILL) }

    /// The sessions that have ended, once there are so many.
    package func sessions(_ count: Int) async throws -> [Session] {
        let areThere = await comesTrue { [self] in lines.count >= count }
        #expect(areThere)
        return try lines.map { try JSONDecoder().decode(Session.self, from: Data($0.utf8)) }
    }

    /// Whether a message without audio comes.
    package func hears(_ text: String) async -> Bool {
        await comesTrue { [run] in String(decoding: run.error, as: UTF8.self).contains(text) }
    }

    private var lines: [Substring] {
        let text = String(decoding: run.output, as: UTF8.self)
        return text[..<(text.lastIndex(of: "\n") ?? text.startIndex)]
            .split(separator: "\n").dropFirst() + []
    }

    package func url(_ path: String, through port: UInt16? = nil) -> String {
        "\(isSecure ? "wss" : "ws")://127.0.0.1:\(port.map(Int.init) ?? self.port)/\(path)"
    }

    /// The samples of words by their numbers, each 0.2 s long and 0.1 s apart.
    package static func samples(_ words: [Int]) -> [Int16] {
        words.flatMap { word in
            Array(repeating: Int16(100 * word), count: 3_200) + Array(repeating: 0, count: 1_600)
        }
    }

    package static func text(_ words: [Int]) -> String {
        words.map { "w\($0)" }.joined(separator: " ")
    }
}
