// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `utter` in a terminal that reports releases.
@Suite struct HoldTests {
    /// A terminal, a microphone, a service, and `utter` that waits for the key.
    private struct Stage {
        let card: VirtualMicrophone
        let server: RecordingServer
        let bench: Bench
        let window: TerminalDouble
        let run: BenchRun

        init(
            _ arguments: [String] = [], key: String = "Space", input: CommandRun.Input = .terminal,
            typedBefore: String = ""
        ) async throws {
            (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("held"))
            bench = try Bench(server: server, microphone: card)
            window = try TerminalDouble(.kitty)
            if !typedBefore.isEmpty { try window.type(typedBefore) }
            run = try window.start(bench, arguments, input: input)
            try #require(await run.wait(for: "hold \(key) to talk (tap: until", in: .screen))
        }

        /// Waits until so many bytes of sound have come, and the recording goes on.
        func hear(_ byteCount: Int) async throws {
            let request = try #require(await server.wait(untilBytes: byteCount))
            #expect(request.lastChunkAt == nil)
        }

        /// Expects a text, all samples from the first on, and the terminal as it was.
        func expectText() async throws {
            let result = try await run.result()
            #expect(result.status == .exited(0))
            #expect(result.outputText == "held\n")
            let body = try #require(server.requests.first?.body)
            #expect(body == RecordTests.samples(body.count / 2))
            #expect(server.requests.count == 1)
            #expect(window.isAsBefore(result.screen))
        }

        /// Expects an end without a text, and the terminal as it was.
        func expectEnd(_ status: Int32) async throws {
            let result = try await run.result()
            #expect(result.status == .exited(status))
            #expect(result.output.isEmpty)
            #expect(window.isAsBefore(result.screen))
        }
    }

    @Test func nothingIsRecordedBeforeThePressAndNothingAfterTheRelease() async throws {
        let stage = try await Stage()
        #expect(stage.card.account.opens == 0)
        #expect(stage.window.keyboard(stage.run.screen).flags.last == 15)
        #expect(stage.window.keyboard(stage.run.screen).modes == [2_004, 1_004])
        #expect(!stage.window.terminal.isEchoing)
        try stage.window.press()
        try stage.window.hold(repeats: 20)
        try await stage.hear(32_000)
        try stage.window.release()
        try await stage.expectText()
        #expect(stage.card.account.opens == 1)
    }

    @Test func noByteOfAPasteBeginsEndsOrCancels() async throws {
        let stage = try await Stage()
        let paste =
            "\u{1B}[200~\u{3}\u{1C}\u{1A}\u{4}q \u{1B}[99;5u\u{1B}[32u\u{1B}[27u\u{1B}[201~"
        try stage.window.type(paste)
        try stage.window.press()
        try await stage.hear(16_000)
        try stage.window.type(paste)
        try await stage.hear(48_000)
        try stage.window.release()
        try await stage.expectText()
        #expect(stage.card.account.opens == 1)
    }

    /// What ends the program is named by another key when q is the one to talk with.
    @Test func theKeyQCanBeTalkedWith() async throws {
        let stage = try await Stage(["--key", "q"], key: "Q")
        #expect(await stage.run.wait(for: "; Ctrl-D leaves", in: .screen))
        try stage.window.press(Int(UInt8(ascii: "q")))
        try await stage.hear(16_000)
        try stage.window.release(Int(UInt8(ascii: "q")))
        try await stage.expectText()
    }

    @Test(arguments: [CommandRun.Input.nothing, .terminal])
    func theKeysAreThoseOfTheTerminalWhateverStandardInputIs(
        _ input: CommandRun.Input
    ) async throws {
        let stage = try await Stage(input: input)
        try stage.window.press()
        try await stage.hear(32_000)
        try stage.window.release()
        try await stage.expectText()
    }

    @Test func aTapGoesOnUntilTheNextOne() async throws {
        let stage = try await Stage()
        // One write: however busy the machine, it is read at once.
        try stage.window.type("\u{1B}[32u\u{1B}[32;1:3u")
        #expect(await stage.run.wait(for: "goes on: press Space to stop", in: .screen))
        try await stage.hear(32_000)
        try stage.window.type("\u{1B}[32u\u{1B}[32;1:3u")
        try await stage.expectText()
    }

    @Test func aReleaseThatGoesToAnotherWindowIsNotMissed() async throws {
        let stage = try await Stage()
        try stage.window.press()
        try await stage.hear(16_000)
        try stage.window.type("\u{1B}[O")
        #expect(await stage.run.wait(for: "goes on: press Space to stop", in: .screen))
        try stage.window.type("\u{1B}[I")
        try await stage.hear(48_000)
        try stage.window.press()
        try await stage.expectText()
    }

    /// Text in a paste looks like keys; what was typed before was for the shell.
    @Test(arguments: ["", " ", "\n\n  q"])
    func whatIsPastedOrWasTypedBeforeBeginsNothing(_ before: String) async throws {
        let stage = try await Stage(typedBefore: before)
        try stage.window.type("\u{1B}[200~ q\r\u{1B}[201~")
        // A key that means nothing, and one that ends: both are behind the paste.
        try stage.window.press(120)
        try stage.window.press(113)
        try await stage.expectEnd(130)
        #expect(stage.card.account.opens == 0)
    }

    @Test(arguments: [(27, 0), (99, 4)]) func escapeAndCtrlCGiveTheTakeUp(
        _ key: Int, _ modifiers: Int
    ) async throws {
        let stage = try await Stage()
        try stage.window.press()
        try await stage.hear(16_000)
        try stage.window.press(key, modifiers: modifiers)
        try stage.window.hold(key, repeats: 5)
        try await stage.expectEnd(130)
        #expect(try stage.bench.onlyTake()?.manifest["state"] == .string("cancelled"))
    }

    @Test(arguments: [(27, 0), (99, 4), (100, 4), (113, 0)])
    func beforeThePressTheseKeysLeave(_ key: Int, _ modifiers: Int) async throws {
        let stage = try await Stage()
        try stage.window.press(key, modifiers: modifiers)
        try await stage.expectEnd(130)
        #expect(stage.card.account.opens == 0)
        #expect(try stage.bench.takes().isEmpty)
    }

    @Test func qIsNoCommandWhileSomethingIsSaid() async throws {
        let stage = try await Stage()
        try stage.window.press()
        try stage.window.press(113)
        try await stage.hear(32_000)
        try stage.window.release()
        try await stage.expectText()
    }

    @Test func theSignalsBeginAndEndTakesToo() async throws {
        let stage = try await Stage()
        stage.run.signal(SIGUSR1)
        try await stage.hear(16_000)
        stage.run.signal(SIGUSR1)
        try await stage.expectText()
    }

    @Test func sigusr2GivesTheTakeUp() async throws {
        let stage = try await Stage()
        stage.run.signal(SIGUSR1)
        try await stage.hear(16_000)
        stage.run.signal(SIGUSR2)
        try await stage.expectEnd(130)
    }

    @Test func theSettingsNameTheKey() async throws {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("held"))
        let bench = try Bench(server: server, microphone: card)
        let folder = bench.folder.path("config")
        try #require(mkdir(folder, 0o700) == 0 && mkdir(folder + "/utter", 0o700) == 0)
        _ = try bench.folder.write(Array("key = \"f9\"\n".utf8), to: "config/utter/config.toml")
        let window = try TerminalDouble(.kitty)
        let run = try window.start(bench, variables: ["XDG_CONFIG_HOME": folder])
        #expect(await run.wait(for: "hold F9 to talk", in: .screen))
        try window.type("\u{1B}[20~")
        _ = try #require(await server.wait(untilBytes: 16_000))
        try window.type("\u{1B}[20;1:3~")
        #expect(try await run.result().status == .exited(0))
    }

    @Test func toggleBeginsAtOnceAndAsksNothing() async throws {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("toggled"))
        let window = try TerminalDouble(.kitty)
        let run = try window.start(
            try Bench(server: server, microphone: card), ["--toggle"])
        #expect(await run.wait(for: "press Space or Enter to stop", in: .screen))
        _ = try #require(await server.wait(untilBytes: 16_000))
        #expect(window.keyboard(run.screen).flags == [0])
        try window.type(" ")
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(window.isAsBefore(result.screen))
    }
}
