// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import UtterCommands

/// What a person hears who typed something that is not there.
@Suite struct CommandLineMistakeTests {
    // MARK: - Options before the command

    @Test func optionsMayStandBeforeTheCommand() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "moved"))
        let bench = try Bench(["UTTER_URL": "http://127.0.0.1:9/"])
        let sent = try await bench.run(
            "--to", server.url(), "-q", "--format", "wav", "send", Clip.digits.path)
        #expect(sent.status == .exited(0))
        #expect(sent.outputText == "moved\n")
        #expect(server.requests.first?.body.prefix(4) == Array("RIFF".utf8)[...])
        let list = try await bench.run("--json", "list")
        #expect(list.status == .exited(0))
        #expect(try JSONText(list.output)[0]?["state"] == .string("answered"))
        let help = try await bench.run("-v", "flush", "--help")
        #expect(help.status == .exited(0))
        #expect(help.outputText.contains("--jobs"))
    }

    @Test func aValueIsNoCommand() {
        let names = CommandNames(UtterCommand.self)
        #expect(names.commandFirst(["--device", "send"]) == [["send", "--device"]])
        #expect(
            names.commandFirst(["-a", "send", "-b", "list"])
                == [["send", "-a", "-b", "list"], ["list", "-a", "send", "-b"]])
        #expect(names.commandFirst(["send", "list"]) == [])
        #expect(names.commandFirst(["-a", "--", "list"]) == [])
        #expect(names.commandFirst([]) == [])
    }

    @Test func aDeviceMayBeNamedLikeACommand() async throws {
        let card = try VirtualMicrophone()
        let result = try await Bench(microphone: card).run("--device", "send")
        #expect(result.status == .exited(66))
        #expect(result.errorText.contains("no capture device named 'send'"))
    }
}
