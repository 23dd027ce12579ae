// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import UtterCommands

/// What a command says that does nothing.
@Suite struct UsageTests {
    @Test func aMissingProgramIsStatus70() {
        let error = #expect(throws: CommandFailure.self) {
            try OtherProgram(name: "utter-none", otherwise: "; or do without").path()
        }
        #expect(error?.status.rawValue == 70)
        #expect(error?.message == "utter-none is missing beside \(Launch.program), and in PATH")
        #expect(
            error?.hint == "build it with: swift build --product utter-none; or install its "
                + "package; or do without")
    }

    @Test(arguments: ["stop", "toggle", "cancel"])
    func aMisspeltStopWithoutARecordingComplainsAlone(_ command: String) async throws {
        let runtime = try TemporaryFolder()
        let bench = try Bench(["XDG_RUNTIME_DIR": runtime.path])
        let result = try await bench.here(command, "--frob")
        #expect(result.status == .exited(64))
        #expect(result.errorText.hasPrefix("utter: error: unknown option '--frob'\n"))
        #expect(try bench.takes().isEmpty)
    }

    @Test func aKeyRunsTheProgramByItsPathWhereADesktopDoesNotLookForIt() async throws {
        let printed = try await Bench().here("setup", "binds", "sway").outputText
        #expect(printed.contains("\nbindsym --no-repeat F9 exec "))
        #expect(printed.contains("/utter start\n") && !printed.contains(" exec utter "))
    }

    @Test func withoutATerminalSetupPrintsWhatToWrite() async throws {
        let bench = try Bench(["UTTER_URL": ""])
        let result = try await bench.here("setup")
        #expect(result.status == .exited(0) && result.error.isEmpty)
        #expect(result.outputText.contains(bench.configurationPath))
        #expect(access(bench.folder.path(".config"), F_OK) != 0)
        try bench.configure(result.outputText)
        #expect(try await bench.here("config", "check").status == .exited(0))
    }
}
