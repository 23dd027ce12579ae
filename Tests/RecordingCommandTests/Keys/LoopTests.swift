// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `utter loop`: sentence after sentence.
@Suite struct LoopTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func stage(
        _ speech: TerminalDouble.Speech = .kitty, _ scripts: [[ServerStep]] = []
    ) async throws -> TerminalStage {
        try await TerminalStage(
            speech, ["loop"],
            server: RecordingServer(scripts: scripts, otherwise: .answer(text: "another")),
            until: speech == .kitty ? "hold Space to talk" : "press Space or Enter to talk")
    }

    /// Says one sentence, and waits until the service has it whole.
    private func speak(_ stage: TerminalStage, _ index: Int) async throws {
        try stage.window.press()
        try await stage.hear(16_000, ofRequest: index)
        try stage.window.release()
        _ = try #require(await stage.server.request(index) { $0.isComplete })
    }

    @Test func eachReleasePrintsALine() async throws {
        let stage = try await stage(
            .kitty, [.answer(text: "one"), .answer(text: "two"), .answer(text: "three")])
        for (index, text) in ["one\n", "one\ntwo\n", "one\ntwo\nthree\n"].enumerated() {
            try await speak(stage, index)
            #expect(await stage.run.wait(for: text, in: .output))
        }
        try stage.window.press(100, modifiers: 4)
        try await stage.expectEnd(0, "one\ntwo\nthree\n")
        for request in stage.server.requests {
            #expect(request.body == VirtualMicrophone.pcm(request.body.count / 2))
        }
    }

    @Test func theNextIsSpokenWhileTheFirstIsAwaitedAndTheOrderStays() async throws {
        let gate = Gate()
        let stage = try await stage(
            .kitty, [.answer(text: "one", after: gate), .answer(text: "two")])
        try await speak(stage, 0)
        try await speak(stage, 1)
        try stage.window.press(113)
        #expect(stage.run.status == nil)
        gate.open()
        try await stage.expectEnd(0, "one\ntwo\n")
    }

    @Test func oneThatFailsIsKeptAndTheLoopGoesOn() async throws {
        let stage = try await stage(
            .kitty, [.answer(text: "one"), .answer(status: 400, text: "no")])
        try await speak(stage, 0)
        try await speak(stage, 1)
        #expect(await stage.run.wait(for: "utter: kept: ", in: .screen))
        try await speak(stage, 2)
        #expect(await stage.run.wait(for: "one\nanother\n", in: .output))
        try stage.window.press(99, modifiers: 4)
        try await stage.expectEnd(69, "one\nanother\n")
        #expect(try stage.bench.takes().count { try $0.manifest["state"] == .string("kept") } == 1)
    }

    @Test(arguments: [(27, 0), (99, 4)]) func aSentenceThatIsGivenUpEndsNothing(
        _ key: Int, _ modifiers: Int
    ) async throws {
        let stage = try await stage()
        try stage.window.press()
        try await stage.hear(16_000)
        try stage.window.press(key, modifiers: modifiers)
        #expect(await stage.run.wait(for: "utter: cancelled", in: .screen))
        try stage.window.release()
        try await speak(stage, 1)
        #expect(await stage.run.wait(for: "another\n", in: .output))
        stage.run.signal(SIGINT)
        try await stage.expectEnd(0, "another\n")
    }

    @Test func aKeyBeginsAndEndsWhereReleasesAreNotReported() async throws {
        let stage = try await stage(.plain, [.answer(text: "one")])
        // Held a little long: what is repeated ends nothing.
        try stage.window.type("    ")
        try await stage.hear(32_000)
        try stage.window.type(" ")
        #expect(await stage.run.wait(for: "one\n", in: .output))
        try stage.window.type("\u{4}")
        try await stage.expectEnd(0, "one\n")
        #expect(stage.server.requests.count == 1)
    }

    private func talkingBench(_ server: RecordingServer) throws -> Bench {
        try Bench(server: server, microphone: VirtualMicrophone(.talking(in: folder)))
    }

    @Test func aWordEndsWhatHasNoKey() async throws {
        let server = try RecordingServer(
            scripts: [.answer(text: "one"), .answer(text: "Two, stop listening.")],
            otherwise: .answer(text: "more"))
        let run = try talkingBench(server).start(
            ["loop", "--silence", "600ms", "-c", "text.stop-word=stop listening"])
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(result.outputText == "one\nTwo\n")
    }

    @Test func aPauseEndsASentenceAndTheNextIsRecordedWithoutAKey() async throws {
        let server = try RecordingServer(
            scripts: [.answer(text: "one"), .answer(text: "two")], otherwise: .answer(text: "more"))
        let run = try talkingBench(server).start(["loop", "--silence", "600ms"])
        #expect(await run.wait(for: "one\ntwo\n", in: .output))
        // It ends with what a person does: the sentence that is recorded now is given up.
        _ = try #require(await server.wait(untilBytes: 16_000, ofRequest: 2))
        run.signal(SIGUSR2)
        #expect(await run.wait(for: "cancelled", in: .error))
        run.signal(SIGINT)
        let result = try await run.result()
        #expect(result.status == .exited(0))
        // It was said once that it records, and nothing of beginnings and ends.
        let lines = result.errorText.split(separator: "\n")
        #expect(lines.count { $0.contains("recording from default") } == 1)
        #expect(lines.allSatisfy { !$0.contains("stopped") && !$0.contains("sent") }, "\(lines)")
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

    @Test func aSignalKeepsWhatRunsAndEnds() async throws {
        let gate = Gate()
        defer { gate.open() }
        let stage = try await stage(.kitty, [[.readHead, .readBodyToEnd, .stallUntil(gate)]])
        try await speak(stage, 0)
        try stage.window.press()
        try await stage.hear(16_000, ofRequest: 1)
        stage.run.signal(SIGTERM)
        try await stage.expectEnd(143)
        #expect(try stage.bench.takes().count { try $0.manifest["state"] == .string("kept") } == 2)
    }
}

extension VirtualCard {
    /// A voice, and a second without one, again and again.
    static func talking(in folder: TemporaryFolder) throws -> VirtualCard {
        var card = VirtualCard()
        card.rates = [16_000]
        let voice = Array(try readFile(Clip.goForward.path).dropFirst(44))
        let loop = voice + [UInt8](repeating: 0, count: 32_000)
        card.content = .loop(path: try folder.write(loop, to: "content"))
        return card
    }
}
