// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `utter` in a terminal that reports releases.
@Suite struct HoldTests {
    private func stage(
        _ arguments: [String] = [], key: String = "Space", settings: String? = nil,
        input: CommandRun.Input = .terminal
    ) async throws -> TerminalStage {
        try await TerminalStage(
            .kitty, arguments, settings: settings, input: input,
            until: "hold \(key) to talk (tap: until")
    }

    /// Everything that means something outside of a paste.
    private static let paste =
        "\u{1B}[200~ \r\u{3}\u{1C}\u{1A}\u{4}q \u{1B}[99;5u\u{1B}[32u\u{1B}[27u\u{1B}[201~"

    @Test func nothingIsRecordedBeforeThePressAndOnlyTheReleaseEndsIt() async throws {
        let stage = try await stage()
        #expect(stage.card.account.opens == 0)
        #expect(stage.window.keyboard(stage.run.screen).flags.last == 15)
        #expect(stage.window.keyboard(stage.run.screen).modes == [2_004, 1_004])
        #expect(!stage.window.terminal.isEchoing)
        try stage.window.press()
        try stage.window.hold(repeats: 20)
        try await stage.hear(16_000)
        try stage.window.type(Self.paste)
        try stage.window.press(113)
        try await stage.hear(48_000)
        try stage.window.release()
        try await stage.expectText()
        #expect(stage.card.account.opens == 1)
    }

    /// What ends the program is named by another key when q is the one to talk with.
    @Test func theKeyQCanBeTalkedWith() async throws {
        let stage = try await stage(["--key", "q"], key: "Q")
        #expect(await stage.run.wait(for: "; Ctrl-D leaves", in: .screen))
        try stage.window.press(113)
        try await stage.hear(16_000)
        try stage.window.release(113)
        try await stage.expectText()
    }

    @Test func theSettingsNameTheKeyOfTheTerminalWhateverStandardInputIs() async throws {
        let stage = try await stage(key: "F9", settings: "key = \"f9\"\n", input: .nothing)
        try stage.window.type("\u{1B}[20~")
        try await stage.hear(32_000)
        try stage.window.type("\u{1B}[20;1:3~")
        try await stage.expectText()
    }

    @Test func aReleaseThatGoesToAnotherWindowIsNotMissed() async throws {
        let stage = try await stage()
        try stage.window.press()
        try await stage.hear(16_000)
        try stage.window.type("\u{1B}[O")
        #expect(await stage.run.wait(for: "goes on: press Space to stop", in: .screen))
        try stage.window.type("\u{1B}[I")
        try await stage.hear(48_000)
        try stage.window.press()
        try await stage.expectText()
    }

    @Test(arguments: [(27, 0), (99, 4)]) func escapeAndCtrlCGiveTheTakeUp(
        _ key: Int, _ modifiers: Int
    ) async throws {
        let stage = try await stage()
        try stage.window.press()
        try await stage.hear(16_000)
        try stage.window.press(key, modifiers: modifiers)
        try stage.window.hold(key, repeats: 5)
        try await stage.expectEnd(130)
        #expect(try stage.bench.onlyTake()?.manifest["state"] == .string("cancelled"))
    }

    @Test(arguments: [(27, 0), (99, 4), (100, 4)])
    func beforeThePressTheseKeysLeave(_ key: Int, _ modifiers: Int) async throws {
        let stage = try await stage()
        try stage.window.press(key, modifiers: modifiers)
        try await stage.expectEnd(130)
        #expect(stage.card.account.opens == 0)
        #expect(try stage.bench.takes().isEmpty)
    }

    @Test(arguments: [SIGUSR1, SIGUSR2])
    func oneSignalBeginsAndEndsTakesAndTheOtherGivesThemUp(_ second: Int32) async throws {
        let stage = try await stage()
        stage.run.signal(SIGUSR1)
        try await stage.hear(16_000)
        stage.run.signal(second)
        if second == SIGUSR1 {
            try await stage.expectText()
        } else {
            try await stage.expectEnd(130)
        }
    }
}
