// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Ctrl-C, SIGTERM and SIGHUP at every moment of a take.
@Suite struct InterruptionTests {
    private let server: RecordingServer
    private let bench: Bench

    init() throws {
        server = try RecordingServer.hearing("heard")
        bench = try Bench(server: server, microphone: VirtualMicrophone())
    }

    /// A signal, the status of which `utter` ends, and the state of the take.
    static let cases: [(Int32, Int32, String)] = [
        (SIGINT, 130, "cancelled"), (SIGTERM, 143, "kept"), (SIGHUP, 129, "kept"),
    ]

    @Test(arguments: cases)
    func aSignalWhileRecordingKeepsTheTakeAndEndsNoBody(
        _ signal: Int32, _ status: Int32, _ state: String
    ) async throws {
        let run = try bench.start([])
        _ = try #require(await server.wait(untilBytes: 16_000))
        run.signal(signal)
        let result = try await run.result()

        #expect(result.status == .exited(status))
        #expect(result.output.isEmpty)
        #expect(result.hasPlainErrors)
        let request = try #require(await server.finishedRequest())
        #expect(request.lastChunkAt == nil)
        #expect(!request.isComplete)

        let take = try #require(try bench.onlyTake())
        let kept = try #require(try take.samples)
        #expect(kept == VirtualMicrophone.pcm(kept.count / 2))
        #expect(kept.starts(with: request.body))
        #expect(try take.manifest["state"] == .string(state))
        let message =
            state == "kept" ? "ended by a signal before the answer came" : "cancelled"
        #expect(result.errorText.contains("utter: \(message)\n"))
        #expect(result.errorText.contains("utter: kept: \(take.path)/audio.wav ("))
        #expect(
            result.errorText.contains(
                "utter: hint: send it again with: utter retry \(take.id.asInHints)\n"))
    }

    @Test(arguments: cases)
    func aSignalWhileWaitingForTheAnswerKeepsTheWholeRecording(
        _ signal: Int32, _ status: Int32, _ state: String
    ) async throws {
        let server = try RecordingServer(otherwise: [.readHead, .readBodyToEnd, .readOn])
        let bench = try Bench(server: server)
        let run = try bench.start(["send", Clip.digits.path])
        _ = try #require(await server.request(0) { $0.isComplete })
        run.signal(signal)
        let result = try await run.result()
        #expect(result.status == .exited(status))
        #expect(result.output.isEmpty)
        #expect(try bench.onlyTake()?.samples == Clip.digits.samples)
    }

    @Test func aSignalReachesEveryFileNotJustTheFirst() async throws {
        let server = try RecordingServer(
            scripts: [.answer(text: "one")], otherwise: [.readHead, .readOn])
        let bench = try Bench(server: server)
        let run = try bench.start([
            "send", Clip.digits.path, Clip.goForward.path, Clip.cards.path,
        ])
        _ = try #require(await server.request(1) { $0.isComplete })
        run.signal(SIGINT)
        let result = try await run.result()
        #expect(result.status == .exited(130))
        #expect(result.outputText == "\(Clip.digits.path): one\n")
        #expect(server.requests.count == 2)
    }

    @Test func theSecondCtrlCDoesNotWaitForTheDisk() async throws {
        let disk = try SlowDisk(delay: .ages)
        let run = try bench.start([], variables: disk.environment)
        _ = try #require(await server.wait(untilBytes: 16_000))
        run.signal(SIGINT)
        #expect(await run.wait(for: "utter: kept: ", in: .error))
        #expect(run.status == nil)
        run.signal(SIGINT)
        let result = try await run.result()
        #expect(result.status == .exited(130))
        #expect(result.output.isEmpty)
        #expect(result.errorText.contains("utter: left without waiting for the disk"))
        let kept = try #require(try bench.onlyTake()?.samples)
        #expect(kept == VirtualMicrophone.pcm(kept.count / 2))
    }

    @Test func aCtrlCAfterTheTranscriptEndsTheWaitForTheDiskWithItsStatus() async throws {
        let disk = try SlowDisk(delay: .ages)
        let run = try bench.start(["send", Clip.digits.path], variables: disk.environment)
        #expect(await run.wait(for: "heard\n", in: .output))
        // The transcript is out before the status is settled: until then it is the first one. Two
        // that come together are one.
        let deadline = ContinuousClock.now + .patience
        while run.status == nil, .now < deadline {
            run.signal(SIGINT)
            _ = await run.wait(for: "left without", in: .error, within: .milliseconds(100))
        }
        let result = try await run.result()
        #expect([.exited(0), .exited(130)].contains(result.status))
        #expect(result.errorText.contains("utter: left without waiting for the disk"))
        #expect(result.outputText == "heard\n")
    }

    @Test func sigintReachesWhatAShellPutIntoTheBackground() async throws {
        let run = try bench.startShell(#"trap '' INT; exec "$0""#, [])
        _ = try #require(await server.wait(untilBytes: 16_000))
        run.signal(SIGINT)
        #expect(try await run.result().status == .exited(130))
    }

    @Test func nohupProtectsFromSighup() async throws {
        let run = try bench.startShell(#"trap '' HUP; exec "$0""#, [])
        _ = try #require(await server.wait(untilBytes: 16_000))
        run.signal(SIGHUP)
        run.signal(SIGUSR1)
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(result.outputText == "heard\n")
    }
}
