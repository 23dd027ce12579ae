// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// The terminal is as it was, however `utter` ends or stops.
@Suite struct TerminalEndTests {
    private static let start = "hold Space to talk"
    /// A folder for what lives as long as the session.
    private let runtime: TemporaryFolder
    private var session: [String: String] { ["XDG_RUNTIME_DIR": runtime.path] }

    init() throws { runtime = try TemporaryFolder() }

    /// A sanitizer takes those of a crash for itself.
    private static let signals: [(Int32, CommandResult.Status)] =
        [
            (SIGTERM, .exited(143)), (SIGHUP, .exited(129)), (SIGINT, .exited(130)),
            (SIGQUIT, .signalled(SIGQUIT)),
        ]
        + (Sanitizer.isUsed ? [] : [SIGSEGV, SIGABRT, SIGBUS].map { ($0, .signalled($0)) })

    @Test(arguments: signals, [true, false]) func itIsPutRightWhenASignalEndsTheProgram(
        _ end: (Int32, CommandResult.Status), isSpeaking: Bool
    ) async throws {
        let (signal, status) = end
        let stage = try await TerminalStage(.kitty, variables: session, until: Self.start)
        if isSpeaking {
            try stage.window.press()
            try await stage.hear(16_000)
        }
        #expect(!stage.window.isAsBefore(stage.run.screen))
        stage.run.signal(signal)
        let result = try await stage.run.result()
        #expect(result.status == status)
        #expect(stage.window.isAsBefore(result.screen))
    }

    @Test(arguments: [3, 0x1C] as [UInt8])
    func theTerminalsOwnSignalsEndItToo(_ key: UInt8) async throws {
        let stage = try await TerminalStage(.plain)
        try await stage.hear(16_000)
        try stage.window.type(String(UnicodeScalar(key)))
        let result = try await stage.run.result()
        #expect(result.status == (key == 3 ? .exited(130) : .signalled(SIGQUIT)))
        #expect(stage.window.isAsBefore(result.screen))
    }

    @Test func anErrorBeforeTheFirstFramePutsItRight() async throws {
        try await TerminalStage(.plain, ["--device", "nowhere"]).expectEnd(66)
    }

    /// An answer that comes after the end would stand at the shell's prompt.
    ///
    /// A slow link brings the first one late, so that keys are taken for presses, or only when all
    /// is over.
    @Test(arguments: [(TerminalDouble.Speech.plain, true), (.kitty, true), (.kitty, false)])
    func whatASlowLinkBringsLateIsAwaited(
        _ speech: TerminalDouble.Speech, comesAtTheEnd: Bool
    ) async throws {
        // The last answer has ten times as long.
        let stage = try await TerminalStage(
            speech, variables: ["UTTER_TERMINAL_TIME": "3s"],
            until: "press Space or Enter to stop"
        ) { _, screen in
            comesAtTheEnd
                ? screen.ranges(of: Array("\u{1B}[c".utf8)).count > 1
                : screen.firstRange(of: Array("press Space".utf8)) != nil
        }
        try await stage.hear(16_000)
        try stage.window.type(speech == .plain ? " " : "\u{1B}[32u\u{1B}[32;1:3u")
        try await stage.expectText()
        #expect(stage.window.hasAnswered(stage.run.screen))
    }

    /// Ctrl-Z as a code where the keyboard reports codes, and as a signal where it does not.
    @Test(arguments: [TerminalDouble.Speech.kitty, .plain])
    func ctrlZLendsItToTheShellAndFgTakesItBack(_ speech: TerminalDouble.Speech) async throws {
        let fifo = runtime.path("fifo")
        try #require(mkfifo(fifo, 0o600) == 0)
        let stage = try await TerminalStage(
            speech,
            script: "\"$0\"; echo \"stopped $?\"; read -r line <\(fifo); fg; echo \"over $?\"")
        let (run, window) = (stage.run, stage.window)
        if speech == .kitty {
            #expect(await run.wait(for: Self.start, in: .screen))
            try window.press()
        }
        try await stage.hear(16_000)
        try window.type(speech == .kitty ? "\u{1B}[122;5u" : "\u{1A}")
        #expect(await run.wait(for: "stopped 148", in: .output))
        // What the terminal was given before may be read after that.
        #expect(await run.wait(in: .screen) { window.isAsBefore($0) })
        // What is typed now is the shell's.
        let writing = open(fifo, O_WRONLY | O_CLOEXEC)
        try #require(writing >= 0)
        write(writing, "\n", 1)
        close(writing)
        let isTaken = await run.wait(in: .screen) { screen in
            let keyboard = window.keyboard(screen)
            return keyboard.modes.contains(2_004)
                && keyboard.flags.last == (speech == .kitty ? 15 : 0)
        }
        #expect(isTaken)
        // The release went to the shell: the recording goes on until the next press.
        let before = try #require(stage.server.requests.first?.body.count)
        try await stage.hear(before + 16_000)
        try window.type(speech == .kitty ? "\u{1B}[32u\u{1B}[32;1:3u" : " ")
        #expect(await run.wait(for: "over 0", in: .output))
        let result = try await run.result()
        #expect(window.isAsBefore(result.screen))
        #expect(stage.server.requests.count == 1)
    }

    @Test func aStopAndAContinuationFromOutsideLoseNoKey() async throws {
        let stage = try await TerminalStage(.kitty, until: Self.start)
        stage.run.signal(SIGSTOP)
        stage.run.signal(SIGCONT)
        try stage.window.press()
        try await stage.hear(16_000)
        try stage.window.release()
        try await stage.expectText()
    }

    @Test func theNextStartPutsRightWhatAKilledOneHasLeft() async throws {
        let stage = try await TerminalStage(.kitty, variables: session, until: Self.start)
        let (killed, window) = (stage.run, stage.window)
        killed.signal(SIGKILL)
        #expect(try await killed.result().status == .signalled(SIGKILL))
        #expect(window.terminal.modes != window.modes)
        #expect(try runtime.names(in: "utter").count == 1)

        let run = try window.start(stage.bench, variables: session)
        #expect(
            await run.wait(
                for: "utter was killed here (process \(killed.processIdentifier))", in: .screen))
        #expect(await run.wait(for: Self.start, in: .screen))
        try window.press()
        try await stage.hear(16_000)
        try window.release()
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(window.terminal.modes == window.modes)
        // Both wrote to one terminal.
        #expect(window.keyboard(killed.screen + result.screen).isAsBefore)
        #expect(try runtime.names(in: "utter").isEmpty)
    }

    @Test func whatAnotherTerminalOrARunningProgramHasWrittenDownIsLeftAlone() async throws {
        let first = try await TerminalStage(.kitty, variables: session, until: Self.start)
        let second = try await TerminalStage(.kitty, variables: session, until: Self.start)
        #expect(try runtime.names(in: "utter").count == 2)
        try second.window.press(113)
        #expect(try await !second.run.result().screenText.contains("killed"))
        #expect(try runtime.names(in: "utter").count == 1)
        try first.window.press(113)
        try await first.expectEnd(130)
    }
}
