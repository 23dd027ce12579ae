// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import UtterControl

private let activator = ForeignTool("systemd-socket-activate")

/// The daemon as systemd starts it: with the first client, which is served.
@Suite(
    .enabled(if: activator.path != nil, "systemd-socket-activate is in the package systemd"))
struct SocketActivationTests {
    private let bench: ControlBench

    init() throws { bench = try ControlBench(.hearing("activated")) }

    /// Has systemd listen; the daemon begins with the first client.
    private func activate(_ variables: [String: String] = [:]) async throws -> CommandRun {
        try bench.place.prepareFolder()
        let utter = try #require(BuiltProducts.path(of: "utter"))
        // It passes nothing on but what it is told to.
        let passed = bench.bench.environment.merging(variables) { $1 }
            .flatMap { ["-E", "\($0)=\($1)"] }
        let daemon = try CommandRun(
            activator.name, ["-l", bench.place.path] + passed + [utter, "daemon"],
            environment: bench.bench.environment)
        #expect(await daemon.wait(for: "Listening on", in: .error))
        return daemon
    }

    @Test func theFirstClientStartsTheDaemonAndIsServed() async throws {
        let notices = bench.bench.folder.path("notices")
        let manager = try CommandRun(
            "perl",
            [
                "-e",
                """
                use Socket; $| = 1; socket(S, PF_UNIX, SOCK_DGRAM, 0) or die;
                bind(S, sockaddr_un($ARGV[0])) or die; print "listens\\n";
                recv(S, my $text, 100, 0); print $text;
                """, notices,
            ])
        #expect(await manager.wait(for: "listens", in: .output))
        let daemon = try await activate(["NOTIFY_SOCKET": notices])
        #expect(try await bench.run("toggle").status == .exited(0))
        #expect(await manager.wait(for: "READY=1", in: .output))
        _ = try #require(await bench.server.wait(untilBytes: 8_000))
        let status = try await bench.status()
        #expect(status.isDaemon)
        #expect(status.process == daemon.processIdentifier)
        #expect(try await bench.run("stop").outputText == "activated\n")
        daemon.signal(SIGTERM)
        #expect(try await daemon.result().status == .exited(0))
        // It is systemd's: the next client starts the daemon again.
        #expect(bench.hasSocket)
    }

    @Test func clientsThatComeAtOnceFindOneDaemon() async throws {
        let daemon = try await activate()
        let starts = try (1...4).map { _ in try bench.start("start") }
        for start in starts { #expect(try await start.result().status == .exited(0)) }
        _ = try #require(await bench.server.wait(untilBytes: 8_000))
        #expect(try await bench.run("stop").outputText == "activated\n")
        daemon.signal(SIGTERM)
        #expect(try await daemon.result().status == .exited(0))
        #expect(try bench.bench.takes().count == 1)
    }
}
