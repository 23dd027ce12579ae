// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// A disk that takes long for every sync holds nothing back but itself.
@Suite struct SlowDiskTests {
    private let server: RecordingServer
    private let bench: Bench

    init() throws {
        server = try RecordingServer.hearing("no delay")
        bench = try Bench(server: server, microphone: VirtualMicrophone())
    }

    @Test func aSlowDiskIsSaid() async throws {
        let disk = try SlowDisk(delay: .seconds(2))
        let run = try bench.start([], variables: disk.environment)
        let warning = "utter: warning: the disk is slow: a power cut would have cost"
        #expect(await run.wait(for: warning, in: .error))
        run.signal(SIGUSR1)
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(result.outputText == "no delay\n")
        let body = try #require(server.requests.first?.body)
        #expect(body == VirtualMicrophone.pcm(body.count / 2))
    }

    @Test func aFileThatIsLateHoldsUpNoOther() async throws {
        let disk = try SlowDisk()
        try disk.begin(.late)
        let samples = (0..<100_000).map { Int16(truncatingIfNeeded: $0 * 7) }
        let late = try bench.folder.write(WAVBytes.speech(samples), to: "late.wav")
        let run = try bench.start(
            ["send", "--jobs", "2", "--format", "pcm", late]
                + [Clip.digits.path, Clip.goForward.path, Clip.digits.path],
            variables: disk.environment)
        // The three files go out one after the other while the first one hangs.
        let areHeard = await comesTrue { [server] in server.requests.count { $0.isComplete } == 3 }
        #expect(areHeard)
        #expect(Set(try disk.syncs.filter { $0.call == "late" }.map(\.thread)) == ["read"])
        try disk.end(.late)
        let result = try await run.result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        let bytes = WAVBytes.pcm(samples)
        #expect(server.requests.contains { $0.body == bytes })
    }

    @Test func whatATakeIsIsKnownBeforeAnySync() async throws {
        let disk = try SlowDisk(delay: .ages)
        let run = try bench.start(
            ["send", "--format", "wav", "--pace", "realtime", Clip.digits.path],
            variables: disk.environment)
        let sent = try #require(await server.wait(untilBytes: 4_000))
        run.signal(SIGKILL)
        #expect(try await run.result().status == .signalled(SIGKILL))
        let manifest = try #require(try bench.onlyTake()).manifest
        #expect(manifest["format"] == .string("wav"))
        #expect(manifest["source"] == .string(Clip.digits.path))
        #expect(manifest["attempts"] == .number(1))

        #expect(try await bench.run("retry", "all").status == .exited(0))
        let again = try #require(server.requests.last)
        #expect(again["Content-Type"] == "audio/wav")
        #expect(again.body.starts(with: sent.body))
    }
}
