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
        let run: CommandRun
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

    /// Begins a take that has samples in its file.
    ///
    /// The folders are made on a thread of their own, and a take whose folder goes before it is used
    /// lives in memory.
    private func begin() async throws -> Voice {
        let voice = try Voice(bench)
        voice.say(32_000)
        try #require(await voice.run.wait(for: "sending standard input", in: .error))
        let isThere = await voice.speak(untilOnDisk: {
            // A folder that cannot be listed yet is waited for.
            (try? bench.onlyTake()?.samples)?.isEmpty == false
        })
        try #require(isThere)
        return voice
    }

    @Test(arguments: [SlowDisk.Fault.full, .broken])
    func aDiskThatWorksAgainHasEverythingAtTheEnd(_ fault: SlowDisk.Fault) async throws {
        let voice = try await begin()
        try disk.begin(fault)
        try #require(await voice.speak(until: "not protected"))
        voice.say(100_000)
        try disk.end(fault)
        voice.say(50_000)
        let report = try ParsedJSON(try await expectWholeTake(of: voice).output)
        #expect(report["unprotected"] == .null)
        #expect(
            report["notices"]?.array?.last
                == .string("protected again: the disk holds the whole take"))
        #expect(Set(try disk.syncs.map(\.thread)) == ["sync"])
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
        let voice = try await begin()
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
        let voice = try await begin()
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
        "utter: warning: not protected: this take is held in memory only: "

    /// Ends a take that was not protected, and expects all of it on the disk and at the service.
    @discardableResult
    private func expectWholeTake(of voice: Voice) async throws -> CommandResult {
        let result = try await voice.end()
        #expect(result.status == .exited(0))
        // Said once the recording has ended, and before the take has.
        #expect(result.errorText.contains("utter: protected again"))
        #expect(server.requests.first?.body == voice.said)
        let take = try #require(try bench.onlyTake())
        #expect(take.names == ["audio.wav", "take.json"])
        #expect(try take.samples == voice.said)
        #expect(try take.manifest["state"] == .string("answered"))
        return result
    }
}

/// `keep.required`, and what a disk that fills up leaves behind.
@Suite struct RequiredDiskTests {
    private let server: RecordingServer
    private let disk: SlowDisk
    private let bench: Bench

    init() throws {
        server = try RecordingServer.hearing("what came before")
        disk = try SlowDisk()
        bench = try Bench(server: server, microphone: VirtualMicrophone(), disk.environment)
    }

    @Test func aRecordingEndsWhenTheDiskFillsAndTheStatusSaysIt() async throws {
        let run = try bench.start(["-c", "keep.required=true", "--json"])
        try #require(await bench.wait(untilSamples: 16_000))
        try disk.begin(.full)
        let result = try await run.result()
        #expect(result.status == .exited(74), "\(result.errorText)")
        // The error says all of it.
        #expect(!result.errorText.contains("not protected"))
        #expect(result.errorText.contains("utter: error: the take could not be kept: "))
        let report = try ParsedJSON(result.output)
        #expect(report["text"] == .string("what came before"))
        #expect(report["exit"] == .number(74))
        // Nothing of it is lost: the service has all that was recorded.
        let sent = try #require(server.requests.first?.body.count)
        #expect(report["frames"]?["encoded"] == .number(Double(sent / 2)))
    }

    @Test func withoutThePromiseTheRecordingGoesOn() async throws {
        let run = try bench.start([])
        try #require(await bench.wait(untilSamples: 16_000))
        try disk.begin(.full)
        try #require(await run.wait(for: "not protected", in: .error))
        run.signal(SIGUSR1)
        let result = try await run.result()
        #expect(result.status == .exited(0) && !result.errorText.contains("utter: error: "))
    }

    @Test func aFileIsSentWholeAndTheStatusSaysThatItIsNotKept() async throws {
        try disk.begin(.full)
        let result = try await bench.run("send", "-c", "keep.required=true", Clip.digits.path)
        #expect(result.status == .exited(74))
        #expect(result.outputText == "what came before\n")
        #expect(server.requests.first?.body == (try Clip.digits.samples))
        #expect(result.errorText.contains("utter: error: the take could not be kept: "))
    }
}
