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

        /// Speaks on until something is so.
        func speak(until isSo: () async throws -> Bool) async rethrows -> Bool {
            let deadline = MonotonicTime.now + .patience
            while MonotonicTime.now < deadline {
                say()
                if try await isSo() { return true }
            }
            return false
        }

        /// Speaks on until a text is on standard error.
        func speak(until text: String) async -> Bool {
            await speak { await run.wait(for: text, in: .error, within: .milliseconds(100)) }
        }

        /// Speaks on until something on the disk is so; looks every 10 ms.
        func speak(untilOnDisk isSo: () throws -> Bool) async rethrows -> Bool {
            try await speak {
                await onOwnThread { _ = poll(nil, 0, 10) }
                return try isSo()
            }
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
        let isThere = await voice.speak(untilOnDisk: {
            // A folder that cannot be listed yet is waited for.
            (try? bench.onlyTake()?.samples)?.isEmpty == false
        })
        try #require(isThere)
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
        try await waitForFile(of: voice)
        // The manifest is written by then, and not again before the end.
        let take = try #require(try bench.onlyTake())
        try #require(
            await voice.speak(untilOnDisk: {
                try disk.syncs.contains { $0.call == "fsync" && $0.path == take.path }
            }))
        try ForeignTool("rm").run(["-rf", bench.folder.path("state")])
        try #require(
            await voice.speak(until: "\(Self.unprotected)the take's file was removed: "))
        try await expectWholeTake(of: voice)
    }

    @Test func aFolderThatIsRemovedUnderAManifestIsMadeAnewAtItsEnd() async throws {
        try disk.begin(.held)
        let voice = try Voice(bench)
        voice.say(32_000)
        try #require(await voice.run.wait(for: "sending standard input", in: .error))
        try await waitForFile(of: voice)
        // Between the making of the new manifest and its renaming.
        try #require(
            await voice.speak(untilOnDisk: { try disk.syncs.contains { $0.call == "held" } }))
        let take = try #require(try bench.onlyTake())
        try ForeignTool("rm").run(["-rf", bench.folder.path("state")])
        try disk.end(.held)
        try #require(
            await voice.speak(until: "\(Self.unprotected)rename \(take.path)/take.json: "))
        try await expectWholeTake(of: voice)
    }

    private static let unprotected =
        "utter: warning: not protected: this take lives in memory only: "

    /// Ends a take that was not protected, and expects all of it on the disk and at the service.
    private func expectWholeTake(of voice: Voice) async throws {
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
