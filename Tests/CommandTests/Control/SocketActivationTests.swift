// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import UtterControl

private let activator = "/usr/bin/systemd-socket-activate"

/// The daemon as systemd starts it: with the first client, which is served.
@Suite(
    .enabled(if: access(activator, X_OK) == 0, "systemd-socket-activate is in the package systemd"))
struct SocketActivationTests {
    /// Has systemd listen; the daemon begins with the first client.
    private func activate(_ bench: ControlBench, _ arguments: String...) async throws -> CommandRun
    {
        try bench.place.prepareFolder()
        let utter = try #require(BuiltProducts.path(of: "utter"))
        // It passes nothing on but what it is told to.
        let variables = bench.bench.environment.flatMap { ["-E", "\($0)=\($1)"] }
        let daemon = try CommandRun(
            activator, ["-l", bench.place.path] + variables + [utter, "daemon"] + arguments,
            environment: bench.bench.environment)
        #expect(await daemon.wait(for: "Listening on", in: .error))
        return daemon
    }

    @Test(arguments: ["start", "toggle"])
    func theFirstClientStartsTheDaemonAndIsServed(_ command: String) async throws {
        let bench = try ControlBench(.hearing("activated"))
        let daemon = try await activate(bench)
        #expect(try await bench.run(command).status == .exited(0))
        _ = try #require(await bench.server.wait(untilBytes: 8_000))
        let status = try JSONText(await bench.run("status", "--json").output)
        #expect(status["isDaemon"] == .bool(true))
        #expect(status["process"] == .number(Double(daemon.processIdentifier)))
        #expect(try await bench.run("stop").outputText == "activated\n")
        daemon.signal(SIGTERM)
        #expect(try await daemon.result().status == .exited(0))
        // It is systemd's: the next client starts the daemon again.
        #expect(bench.hasSocket)
    }

    @Test func clientsThatComeAtOnceFindOneDaemon() async throws {
        let bench = try ControlBench(.hearing("once"))
        let daemon = try await activate(bench)
        let starts = try (1...4).map { _ in try bench.start("start") }
        for start in starts { #expect(try await start.result().status == .exited(0)) }
        _ = try #require(await bench.server.wait(untilBytes: 8_000))
        #expect(try await bench.run("stop").outputText == "once\n")
        daemon.signal(SIGTERM)
        #expect(try await daemon.result().status == .exited(0))
        #expect(try bench.bench.takes().count == 1)
    }
}
