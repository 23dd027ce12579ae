// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import SpeechService
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
    private let isSecure: Bool

    init(_ certificate: TestCertificate? = nil) async throws {
        let files = certificate.map { [$0.path, $0.keyPath] } ?? []
        let run = try CommandRun(
            "/usr/bin/python3", [SourceTree.path("scripts/peer-socket.py")] + files, input: .pipe)
        isSecure = certificate != nil
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

    func url(_ path: String, through port: UInt16? = nil) -> String {
        "\(isSecure ? "wss" : "ws")://127.0.0.1:\(port.map(Int.init) ?? self.port)/\(path)"
    }

    /// Where a take goes by a profile of `samples`; `asked` says what goes wrong there, `lines` are over
    /// those of the profile.
    func plan(
        _ profile: String, _ asked: String = "", over lines: String = "",
        through port: UInt16? = nil, retry: RetryPolicy = .never
    ) throws -> DeliveryPlan {
        let path = profile.split(separator: "-")[0] + (asked.isEmpty ? "" : "?\(asked)")
        let file = try readFile(SourceTree.path("samples/realtime/\(profile).toml"))
        let text = ProfileText(name: profile, text: String(decoding: file, as: UTF8.self))
        let address = url(String(path), through: port)
        let own = "url = '\(address)'\nauth.optional = true\n\(lines)"
        return try Bench.plan(
            by: [ProfileText(overriding: own, place: "-c"), text], retry: retry)
    }

    /// The samples of words by their numbers, each 0.2 s long and 0.1 s apart.
    static func samples(_ words: [Int]) -> [Int16] {
        words.flatMap { word in
            Array(repeating: Int16(100 * word), count: 3_200) + Array(repeating: 0, count: 1_600)
        }
    }

    static func text(_ words: [Int]) -> String { words.map { "w\($0)" }.joined(separator: " ") }
}
