// SPDX-License-Identifier: Apache-2.0

internal import Testing

/// `tinyproxy`: an HTTP proxy that forwards, and connects on demand.
package final class ProxyServer: Sendable {
    package let port: UInt16
    private let folder: TemporaryFolder
    private let run: CommandRun
    private let reservation: ReservedPort

    /// Starts the proxy, which may want a login such as `user secret`, and connect to one port alone.
    package init(login: String? = nil, connectPort: UInt16? = nil) async throws {
        folder = try TemporaryFolder()
        reservation = try ReservedPort()
        port = reservation.port
        var lines = [
            "Port \(port)", "Listen 127.0.0.1", "Timeout 60", "LogFile \"\(folder.path("log"))\"",
            "LogLevel Connect", "MaxClients 20", "Allow 127.0.0.1",
        ]
        if let login { lines.append("BasicAuth \(login)") }
        if let connectPort { lines.append("ConnectPort \(connectPort)") }
        let path = try folder.write(Array(lines.joined(separator: "\n").utf8), to: "conf")
        run = try CommandRun("tinyproxy", ["-d", "-c", path])
        try #require(await reservation.waitUntilOpen())
    }

    package var url: String { "http://127.0.0.1:\(port)" }

    package var log: String {
        // Before the first request there may be no file.
        (try? readFile(folder.path("log"))).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
