// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import UtterCommands

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
