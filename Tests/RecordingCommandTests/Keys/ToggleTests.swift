// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// `utter` in a terminal that does not report releases.
@Suite struct ToggleTests {
    private static let prompt = "press Space or Enter to stop"

    /// Waits for sound, and ends the recording by the usual key.
    private func endBySpace(_ stage: TerminalStage, after byteCount: Int = 16_000) async throws {
        try await stage.hear(byteCount)
        try stage.window.type(" ")
        try await stage.expectText()
    }

    @Test(arguments: ["\r", "\u{4}"]) func itBeginsAtOnceAndAKeyEndsIt(_ key: String) async throws {
        let stage = try await TerminalStage(.plain, until: Self.prompt)
        try await stage.hear(16_000)
        try stage.window.type(key)
        try await stage.expectText()
    }

    @Test func aTerminalThatAnswersNothingIsOneThatReportsPresses() async throws {
        // It is not waited for until the machine is idle.
        try await endBySpace(
            TerminalStage(.silent, variables: ["UTTER_TERMINAL_TIME": "200ms"]))
    }

    @Test func whereReleasesAreReportedToggleAsksNothing() async throws {
        let stage = try await TerminalStage(.kitty, ["--toggle"], until: Self.prompt)
        try await stage.hear(16_000)
        #expect(stage.window.keyboard(stage.run.screen).flags == [0])
        try await endBySpace(stage)
    }

    @Test(arguments: [
        ["TMUX": "/tmp/tmux-0/default,1,0"], ["STY": "1.pts-0"], ["TERM": "tmux-256color"],
        ["TERM": "screen.xterm-256color"], ["TERM": "linux"],
    ]) func aMultiplexerIsNotAskedForItDropsReleases(_ variables: [String: String]) async throws {
        let stage = try await TerminalStage(.kitty, variables: variables, until: Self.prompt)
        try await stage.hear(16_000)
        #expect(stage.window.keyboard(stage.run.screen).answers.isEmpty)
        #expect(stage.window.keyboard(stage.run.screen).modes == [2_004])
        try await endBySpace(stage)
    }

    @Test(arguments: ["dumb", "unknown", ""])
    func aTerminalWithoutCodesGetsNone(_ name: String) async throws {
        let stage = try await TerminalStage(.plain, variables: ["TERM": name])
        try await stage.hear(16_000)
        #expect(!stage.run.screen.contains(0x1B))
        #expect(stage.window.keyboard(stage.run.screen).modes.isEmpty)
        try await endBySpace(stage)
    }

    /// The first of the other keys is Ctrl-S, which would hold back the screen.
    @Test func whatWasTypedBeforeAndOtherKeysEndNothing() async throws {
        let stage = try await TerminalStage(.plain, typedBefore: " \n\u{4}", until: Self.prompt)
        try await stage.hear(8_000)
        try stage.window.type("\u{13}x\u{1B}[A\u{1B}[I\u{1B}[Oq")
        try await endBySpace(stage, after: 32_000)
    }

    /// What the terminal would make signals of, what looks like keys, and an end that is none.
    @Test func noByteOfAPasteBeginsEndsOrCancels() async throws {
        let stage = try await TerminalStage(.plain)
        try await stage.hear(8_000)
        try stage.window.type(
            "\u{1B}[200~a\u{3}b\r\u{1C}c\u{1A}d\u{4}\u{1B}q \u{1B}[99;5u\u{1B}[20")
        try stage.window.type("1\u{3} \u{1B}[201~")
        try await endBySpace(stage, after: 64_000)
    }

    @Test func thePersonsOwnKeyOfInterruptCancels() async throws {
        let stage = try await TerminalStage(.plain, script: "stty intr ^X; exec \"$0\"")
        try await stage.hear(8_000)
        try stage.window.type("\u{3}")
        try await stage.hear(32_000)
        try stage.window.type("\u{18}")
        #expect(try await stage.run.result().status == .exited(130))
    }

    @Test func escapeGivesTheTakeUpAndAnArrowDoesNot() async throws {
        let stage = try await TerminalStage(.plain)
        try await stage.hear(8_000)
        try stage.window.type("\u{1B}[A")
        try await stage.hear(24_000)
        try stage.window.type("\u{1B}")
        try await stage.expectEnd(130)
    }

    @Test(arguments: [["--hold"], ["--key", "right-ctrl"]])
    func whatOnlyReleasesMakePossibleIsRefused(_ arguments: [String]) async throws {
        let stage = try await TerminalStage(.plain, arguments)
        let result = try await stage.run.result()
        #expect(result.screenText.contains("reported here"))
        #expect(result.screenText.contains("utter: hint: leave --hold and --key away"))
        #expect(stage.card.account.opens == 0)
        try await stage.expectEnd(64)
    }

    @Test func aPipeOnStandardInputIsListenedToInsteadOfTheKeys() async throws {
        let stage = try await TerminalStage(
            .kitty, input: .pipe, until: "a line on standard input stops it")
        #expect(stage.window.isAsBefore(stage.run.screen))
        try stage.window.type(" ")
        try await stage.hear(16_000)
        stage.run.write([0x0A])
        try await stage.expectText()
    }

    @Test func anotherKeyIsChosenByName() async throws {
        let stage = try await TerminalStage(
            .plain, ["--key", "f5"], until: "press F5 or Enter to stop")
        try await stage.hear(8_000)
        try stage.window.type(" ")
        try await stage.hear(24_000)
        try stage.window.type("\u{1B}[15~")
        try await stage.expectText()
    }
}
