// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// The terminal is as it was, however `utter` ends or stops.
@Suite struct TerminalEndTests {
    private static let start = "hold Space to talk"

    private func stage(
        _ speech: TerminalDouble.Speech
    ) throws -> (RecordingServer, Bench, TerminalDouble) {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("ended"))
        let bench = try Bench(
            server: server, microphone: card, TerminalDouble.patient([:]))
        return (server, bench, try TerminalDouble(speech))
    }

    /// A folder for what lives as long as the session.
    private func runtimeFolder(_ bench: Bench) throws -> [String: String] {
        let path = bench.folder.path("run")
        try #require(mkdir(path, 0o700) == 0)
        return ["XDG_RUNTIME_DIR": path]
    }

    /// A sanitizer takes those of a crash for itself.
    private static let signals: [(Int32, CommandResult.Status)] =
        [
            (SIGTERM, .exited(143)), (SIGHUP, .exited(129)), (SIGINT, .exited(130)),
            (SIGQUIT, .signalled(SIGQUIT)),
        ]
        + (Sanitizer.isUsed ? [] : [SIGSEGV, SIGABRT, SIGBUS].map { ($0, .signalled($0)) })

    @Test(arguments: signals) func itIsPutRightWhenASignalEndsTheProgram(
        _ signal: Int32, _ status: CommandResult.Status
    ) async throws {
        for isSpeaking in [true, false] {
            let (server, bench, window) = try stage(.kitty)
            let run = try window.start(bench, variables: try runtimeFolder(bench))
            #expect(await run.wait(for: Self.start, in: .screen))
            if isSpeaking {
                try window.press()
                _ = try #require(await server.wait(untilBytes: 16_000))
            }
            #expect(!window.isAsBefore(run.screen))
            run.signal(signal)
            let result = try await run.result()
            #expect(result.status == status)
            #expect(window.isAsBefore(result.screen))
        }
    }

    @Test(arguments: [3, 0x1C] as [UInt8])
    func theTerminalsOwnSignalsEndItToo(_ key: UInt8) async throws {
        let (server, bench, window) = try stage(.plain)
        let run = try window.start(bench)
        _ = try #require(await server.wait(untilBytes: 16_000))
        try window.type(String(UnicodeScalar(key)))
        let result = try await run.result()
        #expect(result.status == (key == 3 ? .exited(130) : .signalled(SIGQUIT)))
        #expect(window.isAsBefore(result.screen))
    }

    @Test func anErrorBeforeTheFirstFramePutsItRight() async throws {
        let (_, bench, window) = try stage(.plain)
        let run = try window.start(bench, ["--device", "nowhere"])
        let result = try await run.result()
        #expect(result.status == .exited(66))
        #expect(window.isAsBefore(result.screen))
    }

    /// An answer that comes after the end would stand at the shell's prompt.
    ///
    /// A slow link brings the first one late, so that keys are taken for presses, or only when all
    /// is over.
    @Test(arguments: [(TerminalDouble.Speech.plain, true), (.kitty, true), (.kitty, false)])
    func whatASlowLinkBringsLateIsAwaited(
        _ speech: TerminalDouble.Speech, comesAtTheEnd: Bool
    ) async throws {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("ended"))
        let bench = try Bench(server: server, microphone: card)
        let window = try TerminalDouble(speech) { _, screen in
            comesAtTheEnd
                ? screen.ranges(of: Array("\u{1B}[c".utf8)).count > 1
                : screen.firstRange(of: Array("press Space".utf8)) != nil
        }
        // The last answer has ten times as long.
        let run = try window.start(bench, variables: ["UTTER_TERMINAL_TIME": "3s"])
        #expect(await run.wait(for: "press Space or Enter to stop", in: .screen))
        _ = try #require(await server.wait(untilBytes: 16_000))
        try window.type(speech == .plain ? " " : "\u{1B}[32u\u{1B}[32;1:3u")
        let result = try await run.result()
        #expect(result.outputText == "ended\n")
        #expect(window.hasAnswered(result.screen))
        #expect(window.isAsBefore(result.screen))
    }

    /// Ctrl-Z as a code where the keyboard reports codes, and as a signal where it does not.
    @Test(arguments: [TerminalDouble.Speech.kitty, .plain])
    func ctrlZLendsItToTheShellAndFgTakesItBack(_ speech: TerminalDouble.Speech) async throws {
        let (server, bench, window) = try stage(speech)
        let fifo = bench.folder.path("fifo")
        try #require(mkfifo(fifo, 0o600) == 0)
        let run = try window.startShell(
            bench, "\"$0\"; echo \"stopped $?\"; read -r line <\(fifo); fg; echo \"over $?\"")
        if speech == .kitty {
            #expect(await run.wait(for: Self.start, in: .screen))
            try window.press()
        }
        _ = try #require(await server.wait(untilBytes: 16_000))
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
        let before = try #require(server.requests.first?.body.count)
        _ = try #require(await server.wait(untilBytes: before + 16_000))
        try window.type(speech == .kitty ? "\u{1B}[32u\u{1B}[32;1:3u" : " ")
        #expect(await run.wait(for: "over 0", in: .output))
        let result = try await run.result()
        #expect(window.isAsBefore(result.screen))
        #expect(server.requests.count == 1)
    }

    @Test func aStopAndAContinuationFromOutsideLoseNoKey() async throws {
        let (server, bench, window) = try stage(.kitty)
        let run = try window.start(bench)
        #expect(await run.wait(for: Self.start, in: .screen))
        run.signal(SIGSTOP)
        run.signal(SIGCONT)
        try window.press()
        _ = try #require(await server.wait(untilBytes: 16_000))
        try window.release()
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(window.isAsBefore(result.screen))
    }

    @Test func theNextStartPutsRightWhatAKilledOneHasLeft() async throws {
        let (server, bench, window) = try stage(.kitty)
        let variables = try runtimeFolder(bench)
        let killed = try window.start(bench, variables: variables)
        #expect(await killed.wait(for: Self.start, in: .screen))
        killed.signal(SIGKILL)
        #expect(try await killed.result().status == .signalled(SIGKILL))
        #expect(window.terminal.modes != window.modes)
        #expect(try bench.folder.names(in: "run/utter").count == 1)

        let run = try window.start(bench, variables: variables)
        #expect(
            await run.wait(
                for: "utter was killed here (process \(killed.processIdentifier))", in: .screen))
        #expect(await run.wait(for: Self.start, in: .screen))
        try window.press()
        _ = try #require(await server.wait(untilBytes: 16_000))
        try window.release()
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(window.terminal.modes == window.modes)
        // Both wrote to one terminal.
        #expect(window.keyboard(killed.screen + result.screen).isAsBefore)
        #expect(try bench.folder.names(in: "run/utter").isEmpty)
    }

    @Test func whatAnotherTerminalOrARunningProgramHasWrittenDownIsLeftAlone() async throws {
        let (_, bench, first) = try stage(.kitty)
        let second = try TerminalDouble(.kitty)
        let variables = try runtimeFolder(bench)
        let one = try first.start(bench, variables: variables)
        #expect(await one.wait(for: Self.start, in: .screen))
        let two = try second.start(bench, variables: variables)
        #expect(await two.wait(for: Self.start, in: .screen))
        #expect(try bench.folder.names(in: "run/utter").count == 2)
        try second.press(113)
        #expect(try await !two.result().screenText.contains("killed"))
        #expect(try bench.folder.names(in: "run/utter").count == 1)
        try first.press(113)
        let result = try await one.result()
        #expect(first.isAsBefore(result.screen))
    }
}
