// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// `utter` in a terminal that does not report releases.
@Suite struct ToggleTests {
    private func stage(
        _ speech: TerminalDouble.Speech = .plain, _ arguments: [String] = [],
        typedBefore: String = "", variables: [String: String] = [:]
    ) async throws -> (VirtualMicrophone, RecordingServer, TerminalDouble, BenchRun) {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("toggled"))
        let window = try TerminalDouble(speech)
        if !typedBefore.isEmpty { try window.type(typedBefore) }
        // A terminal that never answers is not waited for until the machine is idle.
        var variables = variables
        if speech == .silent { variables["UTTER_TERMINAL_TIME"] = "200ms" }
        let run = try window.start(
            try Bench(server: server, microphone: card), arguments, variables: variables)
        return (card, server, window, run)
    }

    private func expectText(_ window: TerminalDouble, _ run: BenchRun) async throws {
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(result.outputText == "toggled\n")
        #expect(window.isAsBefore(result.screen))
    }

    @Test(arguments: [" ", "\r", "\n", "\u{4}"])
    func itBeginsAtOnceAndAKeyEndsIt(_ key: String) async throws {
        let (_, server, window, run) = try await stage()
        #expect(await run.wait(for: "press Space or Enter to stop", in: .screen))
        let heard = try #require(await server.wait(untilBytes: 16_000))
        #expect(heard.lastChunkAt == nil)
        try window.type(key)
        try await expectText(window, run)
    }

    @Test func aScreenThatCtrlSWouldHoldBackLeavesTheKeysAlone() async throws {
        let (_, server, window, run) = try await stage()
        #expect(await run.wait(for: "press Space or Enter to stop", in: .screen))
        try window.type("\u{13}")
        _ = try #require(await server.wait(untilBytes: 16_000))
        try window.type(" ")
        try await expectText(window, run)
    }

    @Test func aTerminalThatAnswersNothingIsOneThatReportsPresses() async throws {
        let (_, server, window, run) = try await stage(.silent)
        _ = try #require(await server.wait(untilBytes: 16_000))
        try window.type(" ")
        try await expectText(window, run)
    }

    @Test(arguments: [
        ["TMUX": "/tmp/tmux-0/default,1,0"], ["STY": "1.pts-0"], ["TERM": "tmux-256color"],
        ["TERM": "screen.xterm-256color"], ["TERM": "linux"],
    ]) func aMultiplexerIsNotAskedForItDropsReleases(_ variables: [String: String]) async throws {
        let (_, server, window, run) = try await stage(.kitty, variables: variables)
        #expect(await run.wait(for: "press Space or Enter to stop", in: .screen))
        _ = try #require(await server.wait(untilBytes: 16_000))
        #expect(window.keyboard(run.screen).answers.isEmpty)
        #expect(window.keyboard(run.screen).modes == [2_004])
        try window.type(" ")
        try await expectText(window, run)
    }

    @Test(arguments: ["dumb", "unknown", ""])
    func aTerminalWithoutCodesGetsNone(_ name: String) async throws {
        let (_, server, window, run) = try await stage(.plain, variables: ["TERM": name])
        _ = try #require(await server.wait(untilBytes: 16_000))
        #expect(!run.screen.contains(0x1B))
        #expect(window.keyboard(run.screen).modes.isEmpty)
        try window.type(" ")
        try await expectText(window, run)
    }

    @Test func whatIsPastedOrWasTypedBeforeEndsNothing() async throws {
        let (_, server, window, run) = try await stage(typedBefore: " \n\u{4}")
        _ = try #require(await server.wait(untilBytes: 8_000))
        try window.type("\u{1B}[200~one two\rthree\u{4}\u{1B}[201~")
        try window.type("x\u{1B}[A\u{1B}[I\u{1B}[Oq")
        let heard = try #require(await server.wait(untilBytes: 32_000))
        #expect(heard.lastChunkAt == nil)
        try window.type(" ")
        try await expectText(window, run)
    }

    /// What the terminal would make signals of, what looks like keys, and an end that is none.
    @Test func noByteOfAPasteBeginsEndsOrCancels() async throws {
        let (_, server, window, run) = try await stage()
        _ = try #require(await server.wait(untilBytes: 8_000))
        try window.type("\u{1B}[200~a\u{3}b\u{1C}c\u{1A}d\u{4}\u{1B}q \u{1B}[99;5u\u{1B}[20")
        try window.type("1\u{3} \u{1B}[201~")
        let heard = try #require(await server.wait(untilBytes: 64_000))
        #expect(heard.lastChunkAt == nil)
        try window.type(" ")
        try await expectText(window, run)
    }

    @Test func thePersonsOwnKeyOfInterruptCancels() async throws {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("toggled"))
        let window = try TerminalDouble(.plain)
        let run = try window.startShell(
            try Bench(server: server, microphone: card), "stty intr ^X; exec \"$0\"")
        _ = try #require(await server.wait(untilBytes: 8_000))
        try window.type("\u{3}")
        let heard = try #require(await server.wait(untilBytes: 32_000))
        #expect(heard.lastChunkAt == nil)
        try window.type("\u{18}")
        #expect(try await run.result().status == .exited(130))
    }

    @Test func escapeGivesTheTakeUpAndAnArrowDoesNot() async throws {
        let (_, server, window, run) = try await stage()
        _ = try #require(await server.wait(untilBytes: 8_000))
        try window.type("\u{1B}[A")
        _ = try #require(await server.wait(untilBytes: 24_000))
        try window.type("\u{1B}")
        let result = try await run.result()
        #expect(result.status == .exited(130))
        #expect(window.isAsBefore(result.screen))
    }

    @Test(arguments: [["--hold"], ["--key", "right-ctrl"], ["--key", "f22"]])
    func whatOnlyReleasesMakePossibleIsRefused(_ arguments: [String]) async throws {
        let (card, _, window, run) = try await stage(.plain, arguments)
        let result = try await run.result()
        #expect(result.status == .exited(64))
        #expect(result.screenText.contains("reported here"))
        #expect(result.screenText.contains("utter: hint: leave --hold and --key away"))
        #expect(card.account.opens == 0)
        #expect(window.isAsBefore(result.screen))
    }

    @Test func aPipeOnStandardInputIsListenedToInsteadOfTheKeys() async throws {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("toggled"))
        let window = try TerminalDouble(.kitty)
        let run = try window.start(try Bench(server: server, microphone: card), input: .pipe)
        #expect(await run.wait(for: "a line on standard input stops it", in: .screen))
        #expect(window.isAsBefore(run.screen))
        try window.type(" ")
        _ = try #require(await server.wait(untilBytes: 16_000))
        run.write([0x0A])
        #expect(try await run.result().status == .exited(0))
    }

    @Test func anotherKeyIsChosenByName() async throws {
        let (_, server, window, run) = try await stage(.plain, ["--key", "f5"])
        #expect(await run.wait(for: "press F5 or Enter to stop", in: .screen))
        _ = try #require(await server.wait(untilBytes: 8_000))
        try window.type(" ")
        _ = try #require(await server.wait(untilBytes: 24_000))
        try window.type("\u{1B}[15~")
        try await expectText(window, run)
    }
}
