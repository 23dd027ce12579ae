// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `utter loop`: sentence after sentence.
@Suite struct LoopTests {
    private func stage(
        _ speech: TerminalDouble.Speech = .kitty, _ scripts: [[ServerStep]],
        _ arguments: [String] = []
    ) async throws -> (RecordingServer, Bench, TerminalDouble, BenchRun) {
        let card = try VirtualMicrophone()
        let server = try RecordingServer(scripts: scripts, otherwise: .answer(text: "another"))
        let bench = try Bench(server: server, microphone: card)
        let window = try TerminalDouble(speech)
        let run = try window.start(bench, ["loop"] + arguments)
        let prompt = speech == .kitty ? "hold Space to talk" : "press Space or Enter to talk"
        try #require(await run.wait(for: prompt, in: .screen))
        return (server, bench, window, run)
    }

    /// Says one sentence, and waits until the service has it whole.
    private func speak(_ window: TerminalDouble, _ server: RecordingServer, _ index: Int)
        async throws
    {
        try window.press()
        _ = try #require(await server.wait(untilBytes: 16_000, ofRequest: index))
        try window.release()
        _ = try #require(await server.request(index) { $0.isComplete })
    }

    @Test func eachReleasePrintsALine() async throws {
        let (server, _, window, run) = try await stage(
            .kitty, [.answer(text: "one"), .answer(text: "two"), .answer(text: "three")])
        for (index, text) in ["one\n", "one\ntwo\n", "one\ntwo\nthree\n"].enumerated() {
            try await speak(window, server, index)
            #expect(await run.wait(for: text, in: .output))
        }
        try window.press(100, modifiers: 4)
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(result.outputText == "one\ntwo\nthree\n")
        #expect(window.isAsBefore(result.screen))
        for request in server.requests {
            #expect(request.body == RecordTests.samples(request.body.count / 2))
        }
    }

    @Test func theNextIsSpokenWhileTheFirstIsAwaitedAndTheOrderStays() async throws {
        let gate = Gate()
        let (server, _, window, run) = try await stage(
            .kitty,
            [
                [.readHead, .readBodyToEnd, .stallUntil(gate), .respond(status: 200, text: "one")],
                .answer(text: "two"),
            ])
        try await speak(window, server, 0)
        try await speak(window, server, 1)
        try window.press(113)
        #expect(run.status == nil)
        gate.open()
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(result.outputText == "one\ntwo\n")
    }

    @Test func aPressInsideTheTailGoesOnWithTheSentence() async throws {
        let (server, _, window, run) = try await stage(
            .kitty, [.answer(text: "one")], ["-c", "recording.tail=4s"])
        try window.press()
        _ = try #require(await server.wait(untilBytes: 16_000))
        // One write: the tail cannot be over.
        try window.type("\u{1B}[32;1:3u\u{1B}[32u")
        let heard = try #require(await server.wait(untilBytes: 176_000))
        #expect(heard.lastChunkAt == nil)
        try window.release()
        #expect(await run.wait(for: "one\n", in: .output))
        try window.press(113)
        #expect(try await run.result().status == .exited(0))
        #expect(server.requests.count == 1)
        let body = try #require(server.requests.first?.body)
        #expect(body == RecordTests.samples(body.count / 2))
    }

    @Test func oneThatFailsIsKeptAndTheLoopGoesOn() async throws {
        let (server, bench, window, run) = try await stage(
            .kitty,
            [.answer(text: "one"), [.readHead, .readBodyToEnd, .respond(status: 400, text: "no")]])
        try await speak(window, server, 0)
        try await speak(window, server, 1)
        #expect(await run.wait(for: "utter: kept: ", in: .screen))
        try await speak(window, server, 2)
        #expect(await run.wait(for: "one\nanother\n", in: .output))
        try window.press(99, modifiers: 4)
        let result = try await run.result()
        #expect(result.status == .exited(69))
        #expect(result.outputText == "one\nanother\n")
        #expect(try bench.takes().count { try $0.manifest["state"] == .string("kept") } == 1)
        #expect(window.isAsBefore(result.screen))
    }

    @Test(arguments: [(27, 0), (99, 4)]) func aSentenceThatIsGivenUpEndsNothing(
        _ key: Int, _ modifiers: Int
    ) async throws {
        let (server, _, window, run) = try await stage(.kitty, [])
        try window.press()
        _ = try #require(await server.wait(untilBytes: 16_000))
        try window.press(key, modifiers: modifiers)
        #expect(await run.wait(for: "utter: cancelled", in: .screen))
        try window.release()
        try await speak(window, server, 1)
        #expect(await run.wait(for: "another\n", in: .output))
        run.signal(SIGINT)
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(result.outputText == "another\n")
    }

    @Test func aKeyBeginsAndEndsWhereReleasesAreNotReported() async throws {
        let (server, _, window, run) = try await stage(.plain, [.answer(text: "one")])
        // Held a little long: what is repeated ends nothing.
        try window.type("    ")
        let heard = try #require(await server.wait(untilBytes: 32_000))
        #expect(heard.lastChunkAt == nil)
        try window.type(" ")
        #expect(await run.wait(for: "one\n", in: .output))
        try window.type("\u{4}")
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(window.isAsBefore(result.screen))
        #expect(server.requests.count == 1)
    }

    @Test func aPauseEndsASentenceAndTheNextIsRecordedWithoutAKey() async throws {
        let folder = try TemporaryFolder()
        var card = VirtualCard()
        card.rates = [16_000]
        // A voice, and a second without one, again and again.
        let voice = Array(try readFile(Clip.goForward.path).dropFirst(44))
        let loop = voice + [UInt8](repeating: 0, count: 32_000)
        card.content = .loop(path: try folder.write(loop, to: "content"))
        let server = try RecordingServer(
            scripts: [.answer(text: "one"), .answer(text: "two")], otherwise: .answer(text: "more"))
        let run = try Bench(server: server, microphone: try VirtualMicrophone(card)).start(
            ["loop", "--silence", "600ms"])
        #expect(await run.wait(for: "start and stop with: kill -USR1", in: .error))
        run.signal(SIGUSR1)
        #expect(await run.wait(for: "one\ntwo\n", in: .output))
        // It ends with what a person does: the sentence that is recorded now is given up.
        _ = try #require(await server.wait(untilBytes: 16_000, ofRequest: 2))
        run.signal(SIGUSR2)
        #expect(await run.wait(for: "cancelled", in: .error))
        run.signal(SIGINT)
        #expect(try await run.result().status == .exited(0))
    }

    @Test func sigusr1BeginsAndEndsWithoutATerminal() async throws {
        let card = try VirtualMicrophone()
        let server = try RecordingServer(
            scripts: [.answer(text: "one")], otherwise: .answer(text: "two"))
        let run = try Bench(server: server, microphone: card).start(["loop"])
        #expect(await run.wait(for: "start and stop with: kill -USR1", in: .error))
        for (index, text) in ["one\n", "one\ntwo\n"].enumerated() {
            run.signal(SIGUSR1)
            _ = try #require(await server.wait(untilBytes: 16_000, ofRequest: index))
            run.signal(SIGUSR1)
            #expect(await run.wait(for: text, in: .output))
        }
        run.signal(SIGINT)
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(result.hasPlainErrors)
    }

    @Test(arguments: [(SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)])
    func aSignalKeepsWhatRunsAndEnds(_ signal: Int32, _ status: Int32) async throws {
        let gate = Gate()
        defer { gate.open() }
        let (server, bench, window, run) = try await stage(
            .kitty, [[.readHead, .readBodyToEnd, .stallUntil(gate)]])
        try await speak(window, server, 0)
        try window.press()
        _ = try #require(await server.wait(untilBytes: 16_000, ofRequest: 1))
        run.signal(signal)
        let result = try await run.result()
        #expect(result.status == .exited(status))
        #expect(window.isAsBefore(result.screen))
        #expect(try bench.takes().count { try $0.manifest["state"] == .string("kept") } == 2)
    }
}
