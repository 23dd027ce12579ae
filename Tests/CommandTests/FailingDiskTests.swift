// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// A disk that fails during a recording, and works again.
@Suite struct FailingDiskTests {
    private let server: RecordingServer
    private let disk: SlowDisk
    private let bench: Bench

    init() throws {
        server = try RecordingServer.hearing("all of it")
        disk = try SlowDisk()
        bench = try Bench(server: server, disk.environment)
    }

    /// A take of standard input whose samples come when a test says so.
    private final class Voice {
        let run: BenchRun
        private(set) var said: [UInt8] = []

        init(_ bench: Bench) throws {
            run = try bench.start(["send", "--keep-audio", "1d", "--json", "-"], input: .pipe)
        }

        func say(_ byteCount: Int = 640) {
            let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: (said.count + $0) / 7) }
            said += bytes
            run.write(bytes)
        }

        /// Speaks on until a text is on standard error.
        func speak(until text: String) async -> Bool {
            let deadline = MonotonicTime.now + .patience
            while MonotonicTime.now < deadline {
                say()
                if await run.wait(for: text, in: .error, within: .milliseconds(100)) { return true }
            }
            return false
        }

        func end() async throws -> CommandResult {
            run.closeInput()
            return try await run.result()
        }
    }

    /// Speaks until the take has samples in its file.
    ///
    /// The folders are made on a thread of their own, and a take whose folder goes before it is used
    /// lives in memory.
    private func waitForFile(of voice: Voice) async throws {
        // A folder that cannot be listed yet is waited for.
        while (try? bench.onlyTake()?.samples)?.isEmpty != false {
            try #require(!(await voice.run.wait(for: "no such text", in: .error, within: .zero)))
            voice.say()
        }
    }

    @Test(arguments: [SlowDisk.Fault.full, .broken])
    func aDiskThatWorksAgainHasEverythingAtTheEnd(_ fault: SlowDisk.Fault) async throws {
        let voice = try Voice(bench)
        voice.say(32_000)
        try #require(await voice.run.wait(for: "sending standard input", in: .error))
        try await waitForFile(of: voice)
        try disk.begin(fault)
        try #require(await voice.speak(until: "not protected"))
        voice.say(100_000)
        try disk.end(fault)
        voice.say(50_000)
        let result = try await voice.end()
        #expect(result.status == .exited(0))
        // Said once the recording has ended, and before the take has.
        #expect(result.errorText.contains("utter: protected again"))
        #expect(server.requests.first?.body == voice.said)
        let take = try #require(try bench.onlyTake())
        #expect(take.names == ["audio.wav", "take.json"])
        #expect(try take.samples == voice.said)
        #expect(try take.manifest["state"] == .string("answered"))
        let report = try JSONText(result.output)
        #expect(report["unprotected"] == .null)
        guard case .array(let notices)? = report["notices"] else {
            Issue.record("no notices: \(result.outputText)")
            return
        }
        #expect(notices.last == .string("protected again: the disk holds the whole take"))
        #expect(Set(try disk.syncs.map(\.thread)) == ["sync"])
    }

    @Test func aDiskThatWorksAgainAfterTheLastWordHasEverything() async throws {
        let voice = try Voice(bench)
        voice.say(32_000)
        try #require(await voice.run.wait(for: "sending standard input", in: .error))
        try await waitForFile(of: voice)
        try disk.begin(.full)
        try #require(await voice.speak(until: "not protected"))
        try disk.end(.full)
        let result = try await voice.end()
        #expect(result.status == .exited(0))
        #expect(try bench.onlyTake()?.samples == voice.said)
    }

    @Test func aDiskThatStaysFullCostsNothingButSafety() async throws {
        try disk.begin(.full)
        let voice = try Voice(bench)
        try #require(await voice.speak(until: "not protected"))
        voice.say(200_000)
        let result = try await voice.end()
        #expect(result.status == .exited(0))
        #expect(server.requests.first?.body == voice.said)
        #expect(try JSONText(result.output)["unprotected"]?.string != nil)
    }

    @Test func aDiskThatIsNearlyFullIsSaidAtOnce() async throws {
        try disk.begin(.nearlyFull)
        let voice = try Voice(bench)
        try #require(await voice.speak(until: "utter: warning: the disk is nearly full, "))
        let result = try await voice.end()
        #expect(result.status == .exited(0))
        #expect(!result.errorText.contains("not protected"))
        #expect(try bench.onlyTake()?.samples == voice.said)
    }

    @Test func aFolderThatIsRemovedInMidTakeIsMadeAnewAtItsEnd() async throws {
        let voice = try Voice(bench)
        voice.say(32_000)
        try #require(await voice.run.wait(for: "sending standard input", in: .error))
        // Written by then, since the next bytes are only seen after it. Without a file of its own, the
        // take would live in memory from its beginning.
        let state = bench.folder.path("state")
        try await waitForFile(of: voice)
        try ForeignTool("rm").run(["-rf", state])
        // Of the file or of the manifest: whichever is looked at first.
        try #require(await voice.speak(until: "not protected"))
        let result = try await voice.end()
        #expect(result.status == .exited(0))
        #expect(result.errorText.contains("utter: protected again"))
        #expect(server.requests.first?.body == voice.said)
        let take = try #require(try bench.onlyTake())
        #expect(take.names == ["audio.wav", "take.json"])
        #expect(try take.samples == voice.said)
        #expect(try take.manifest["state"] == .string("answered"))
    }
}
