// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Utter
@testable import UtterControl

/// The microphone on one machine and the shell on another, with the socket forwarded between them.
@Suite struct RemoteControlTests {
    @Test func aShellElsewhereDictatesWithTheMicrophoneHere() async throws {
        let desk = try ControlBench(.hearing("spoken at the desk"))
        let daemon = try await desk.daemon()
        let folder = try TemporaryFolder()
        let relay = try ControlRelay(from: folder.path("desk"), to: desk.place.path)
        // There is neither a microphone nor a runtime folder there.
        let shell = try Bench(["UTTER_SOCKET": folder.path("desk")])
        #expect(try await shell.run("toggle").status == .exited(0))
        _ = try #require(await desk.server.wait(untilBytes: 6_400))
        #expect(try await shell.run("status").outputText.hasPrefix("recording"))
        let toggle = try await shell.run("toggle")
        #expect(toggle.outputText == "spoken at the desk\n")
        #expect(toggle.status == .exited(0))
        #expect(try shell.takes().isEmpty)
        #expect(try desk.bench.takes().count == 1)
        daemon.signal(SIGTERM)
        #expect(try await daemon.result().status == .exited(0))
        withExtendedLifetime(relay) {}
    }

    /// What there is at the other end, for as long as it is held.
    private struct Away {
        let shell: SecureShell
        let bench: Bench
    }

    /// A desk with a daemon, and a line of shell at the other end of a real connection.
    private func session(_ script: String, at desk: ControlBench) throws -> (CommandRun, Away) {
        let shell = try SecureShell()
        let away = try Bench(["UTTER_SOCKET": shell.socket])
        let utter = try #require(BuiltProducts.path(of: "utter"))
        // sshd gives its sessions an environment of its own.
        let variables = away.environment.map { "\($0)='\($1)'" }.joined(separator: " ")
        let line = "exec env \(variables) sh -c '\(script)' '\(utter)'"
        let run = try CommandRun(
            "ssh", shell.arguments(line, leadingTo: desk.place.path), input: .pipe)
        return (run, Away(shell: shell, bench: away))
    }

    @Test(.enabled(if: SecureShell.works, "no session with ssh and sshd comes about here"))
    func aSocketThatSshForwardsDictates() async throws {
        let desk = try ControlBench(.hearing("spoken at the desk"))
        let daemon = try await desk.daemon()
        let (session, away) = try session(
            #""$0" toggle && read -r line && "$0" toggle"#, at: desk)
        _ = try #require(await desk.server.wait(untilBytes: 6_400))
        session.write(Array("\n".utf8))
        let result = try await session.result()
        #expect(result.outputText == "spoken at the desk\n", "\(result.errorText)")
        #expect(result.status == .exited(0))
        #expect(try away.bench.takes().isEmpty)
        daemon.signal(SIGTERM)
        #expect(try await daemon.result().status == .exited(0))
    }

    @Test(.enabled(if: SecureShell.works, "no session with ssh and sshd comes about here"))
    func aConnectionThatBreaksInATakeCostsNothing() async throws {
        let desk = try ControlBench(.hearing("whole"))
        let daemon = try await desk.daemon()
        let (session, away) = try session(#""$0" toggle; read -r line"#, at: desk)
        _ = try #require(await desk.server.wait(untilBytes: 6_400))
        session.signal(SIGKILL)
        _ = try await session.result()
        // Recording goes on where the microphone is, and is ended there.
        #expect(try await desk.run("status").outputText.hasPrefix("recording"))
        #expect(try await desk.run("stop").outputText == "whole\n")
        daemon.signal(SIGTERM)
        #expect(try await daemon.result().status == .exited(0))
        withExtendedLifetime(away) {}
    }

    @Test(.enabled(if: SecureShell.works, "no session with ssh and sshd comes about here"))
    func aTextThatNoConnectionCarriesIsKeptAtTheDesk() async throws {
        let gate = Gate()
        let desk = try ControlBench(
            RecordingServer(otherwise: [
                .readHead, .readBodyToEnd, .stallUntil(gate), .respond(status: 200, text: "kept"),
            ]))
        let daemon = try await desk.daemon()
        let (session, away) = try session(
            #""$0" toggle; read -r line; "$0" toggle"#, at: desk)
        _ = try #require(await desk.server.wait(untilBytes: 6_400))
        session.write(Array("\n".utf8))
        #expect(try await desk.reaches(.waiting))
        session.signal(SIGKILL)
        _ = try await session.result()
        gate.open()
        #expect(await daemon.wait(for: " was not printed\n", in: .error))
        #expect(try await desk.run("last").outputText == "kept\n")
        daemon.signal(SIGTERM)
        #expect(try await daemon.result().status == .exited(0))
        withExtendedLifetime(away) {}
    }

    @Test func aConnectionThatThawsDoesNothingForThoseWhoGaveUp() async throws {
        let desk = try ControlBench(.hearing("asked for again"))
        let daemon = try await desk.daemon()
        let folder = try TemporaryFolder()
        let relay = try ControlRelay(from: folder.path("desk"), to: desk.place.path)
        let shell = try Bench(["UTTER_SOCKET": folder.path("desk")])
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
        #expect(try await shell.run("toggle").outputText == "asked for again\n")
        daemon.signal(SIGTERM)
        #expect(try await daemon.result().status == .exited(0))
        #expect(desk.card.account.opens == 1)
        #expect(try desk.bench.takes().count == 1)
    }

    @Test(arguments: [["status"], ["stop"], ["cancel"]])
    func aSocketThatLeadsNowhereIsSaid(_ command: [String]) async throws {
        let folder = try TemporaryFolder()
        let result = try await Bench(["UTTER_SOCKET": folder.path("desk")]).start(command).result()
        #expect(result.status == .exited(67))
        #expect(result.output.isEmpty)
        #expect(
            result.errorText.contains("no utter answers at \(folder.path)/desk, which UTTER_SO"))
    }

    @Test(arguments: [true, false])
    func withoutOneAtTheOtherEndNothingIsRecordedHere(_ hasRelay: Bool) async throws {
        let desk = try ControlBench(.hearing(""))
        let folder = try TemporaryFolder()
        let relay =
            hasRelay ? try ControlRelay(from: folder.path("desk"), to: desk.place.path) : nil
        let result = try await desk.start(
            "start", variables: ["UTTER_SOCKET": folder.path("desk")]
        ).result()
        #expect(result.status == .exited(67))
        #expect(
            result.errorText.contains("no utter answers at \(folder.path)/desk, which UTTER_SO"))
        #expect(result.errorText.contains("utter: hint: run 'utter daemon' on the machine with"))
        #expect(desk.card.account.opens == 0)
        withExtendedLifetime(relay) {}
    }
}
