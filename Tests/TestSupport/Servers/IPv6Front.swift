// SPDX-License-Identifier: Apache-2.0

internal import Testing

/// A port of `::1` that leads to a `RecordingServer`, by `socat`.
package final class IPv6Front: Sendable {
    package let port: Int
    private let run: CommandRun

    package init(to server: RecordingServer) async throws {
        run = try CommandRun(
            "socat",
            [
                "-d", "-d", "TCP6-LISTEN:0,bind=[::1],fork,ipv6only=1",
                "TCP:127.0.0.1:\(server.port)",
            ])
        try #require(await run.wait(for: "listening on AF=10", in: .error))
        let said = String(decoding: run.error, as: UTF8.self)
        let match = try #require(said.firstMatch(of: /listening on AF=10 \[[0-9a-f:]*\]:(\d+)/))
        port = try #require(Int(match.1))
    }

    package func url(_ path: String = "/") -> String { "http://[::1]:\(port)\(path)" }
}
