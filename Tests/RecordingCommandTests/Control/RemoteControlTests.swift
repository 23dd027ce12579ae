// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Utter
@testable import UtterControl

/// The microphone on one machine and the shell on another, with the socket forwarded between them.
@Suite struct RemoteControlTests {
    private let desk: ControlBench
    /// Of the other machine, whose socket leads to the desk, if anywhere.
    private let folder: TemporaryFolder

    init() throws {
        desk = try ControlBench(.hearing("spoken at the desk"))
        folder = try TemporaryFolder()
    }

    private var elsewhere: [String: String] { ["UTTER_SOCKET": folder.path("desk")] }

    private func relay() throws -> ControlRelay {
        try ControlRelay(from: folder.path("desk"), to: desk.place.path)
    }

    /// The other end of a real connection, for as long as it is held.
    private struct Away {
        let session: CommandRun
        let bench: Bench
        private let shell: SecureShell

        /// Begins a line of shell there, and waits until the desk has bytes of a take.
        init(_ script: String, at desk: ControlBench) async throws {
            shell = try SecureShell()
            bench = try Bench(["UTTER_SOCKET": shell.socket])
            let utter = try #require(BuiltProducts.path(of: "utter"))
            // sshd gives its sessions an environment of its own.
            let variables = bench.environment.map { "\($0)='\($1)'" }.joined(separator: " ")
            let line = "exec env \(variables) sh -c '\(script)' '\(utter)'"
            session = try CommandRun(
                "ssh", shell.arguments(line, leadingTo: desk.place.path), input: .pipe)
            _ = try #require(await desk.server.wait(untilBytes: 6_400))
        }
    }

    @Test(.enabled(if: SecureShell.works, "no session with ssh and sshd comes about here"))
    func aSocketThatSshForwardsDictates() async throws {
        let daemon = try await desk.daemon()
        let away = try await Away(#""$0" toggle && read -r line && "$0" toggle"#, at: desk)
        away.session.write(Array("\n".utf8))
        let result = try await away.session.result()
        #expect(result.outputText == "spoken at the desk\n", "\(result.errorText)")
        #expect(result.status == .exited(0))
        #expect(try away.bench.takes().isEmpty)
        try await daemon.terminate()
    }

    @Test(.enabled(if: SecureShell.works, "no session with ssh and sshd comes about here"))
    func aConnectionThatBreaksInATakeCostsNothing() async throws {
        let daemon = try await desk.daemon()
        let away = try await Away(#""$0" toggle; read -r line"#, at: desk)
        away.session.signal(SIGKILL)
        _ = try await away.session.result()
        // Recording goes on where the microphone is, and is ended there.
        #expect(try await desk.status().phase == .recording)
        #expect(try await desk.run("stop").outputText == "spoken at the desk\n")
        try await daemon.terminate()
        withExtendedLifetime(away) {}
    }

    @Test(.enabled(if: SecureShell.works, "no session with ssh and sshd comes about here"))
    func aTextThatNoConnectionCarriesIsKeptAtTheDesk() async throws {
        let gate = Gate()
        let desk = try ControlBench("kept", after: gate)
        let daemon = try await desk.daemon()
        let away = try await Away(#""$0" toggle; read -r line; "$0" toggle"#, at: desk)
        away.session.write(Array("\n".utf8))
        #expect(try await desk.reaches(.waiting))
        away.session.signal(SIGKILL)
        _ = try await away.session.result()
        gate.open()
        #expect(await daemon.wait(for: " was not printed\n", in: .error))
        #expect(try await desk.run("last").outputText == "kept\n")
        try await daemon.terminate()
        withExtendedLifetime(away) {}
    }

    @Test func aConnectionThatThawsDoesNothingForThoseWhoGaveUp() async throws {
        let daemon = try await desk.daemon()
        let relay = try relay()
        // There is neither a microphone nor a runtime folder there.
        let shell = try Bench(elsewhere)
        relay.freeze()
        let frozen = try ["start", "toggle", "stop", "cancel"].map { try shell.start([$0]) }
        for run in frozen {
            let result = try await run.result()
            #expect(result.status == .exited(75))
            #expect(
                result.errorText
                    == "utter: error: the utter that has the control socket does not answer, and "
                    + "has done nothing\n"
                    + "utter: hint: see whether the connection to its machine is alive\n")
        }
        relay.thaw()
        // What was held back comes first.
        #expect(try await shell.run("status").outputText == "idle\n")
        #expect(try await shell.run("toggle").status == .exited(0))
        _ = try #require(await desk.server.wait(untilBytes: 6_400))
        #expect(try await shell.run("status").outputText.hasPrefix("recording"))
        let toggle = try await shell.run("toggle")
        #expect(toggle.outputText == "spoken at the desk\n")
        #expect(toggle.status == .exited(0))
        try await daemon.terminate()
        #expect(try shell.takes().isEmpty)
        #expect(desk.card.account.opens == 1)
        #expect(try desk.bench.takes().count == 1)
    }

    /// Nothing is recorded here in place of there.
    @Test(arguments: [
        ("status", false), ("stop", false), ("cancel", false), ("start", false), ("start", true),
    ])
    func aSocketThatLeadsNowhereIsSaid(_ command: String, _ hasRelay: Bool) async throws {
        let relay = hasRelay ? try relay() : nil
        let result = try await desk.start(command, variables: elsewhere).result()
        #expect(result.status == .exited(67))
        #expect(result.output.isEmpty)
        #expect(
            result.errorText.contains("no utter answers at \(folder.path)/desk, which UTTER_SO"))
        #expect(result.errorText.contains("utter: hint: run 'utter daemon' on the machine with"))
        #expect(desk.card.account.opens == 0)
        withExtendedLifetime(relay) {}
    }
}
