// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// A microphone whose driver does not answer while it is opened, and a file that hangs.
@Suite struct SlowOpeningTests {
    private static let silent = "the microphone 'default' does not answer yet: nothing is recorded"

    private let card: VirtualMicrophone
    private let server: RecordingServer
    private let bench: Bench

    init() throws {
        card = try VirtualMicrophone()
        server = try RecordingServer.hearing("at last")
        bench = try Bench(server: server, microphone: card)
        card.setBlocking()
    }

    @Test(arguments: [[], ["--plain"], ["--json"], ["--events"]])
    func itIsSaidAndTheTakeGoesOnWhenTheDriverAnswers(_ options: [String]) async throws {
        let run = try bench.start(options + ["--for", "300ms"])
        #expect(await run.wait(for: "utter: \(Self.silent)\n", in: .error))
        if options == ["--events"] {
            #expect(await run.wait(for: #""event":"opening""#, in: .output))
        }
        card.setBlocking(nil)
        let result = try await run.result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(server.requests.first?.body == RecordTests.samples(4_800))
        #expect(result.errorText.ranges(of: Self.silent).count == 1)
    }

    @Test func aStopEndsWhatRecordsNothing() async throws {
        let run = try bench.start([])
        try #require(await run.wait(for: Self.silent, in: .error))
        run.signal(SIGUSR1)
        let result = try await run.result()
        #expect(result.status == .exited(1))
        #expect(result.errorText.contains("utter: nothing was recorded, and nothing is sent\n"))
        #expect(server.requests.allSatisfy { $0.lastChunkAt == nil })
        #expect(try bench.takes().isEmpty)
        card.setBlocking(nil)
    }

    @Test func aProgramThatIsEndedWaitsForNoDriver() async throws {
        let run = try bench.start([])
        try #require(await run.wait(for: Self.silent, in: .error))
        run.signal(SIGTERM)
        let result = try await run.result()
        #expect(result.status == .exited(143))
        // The second before which it goes by force has not been needed.
        #expect(!result.errorText.contains("left without waiting"), "\(result.errorText)")
        card.setBlocking(nil)
    }

    @Test(.enabled(if: HangingFile.isPossible), arguments: [SIGTERM, SIGINT])
    func aProgramThatIsEndedWaitsForNoFile(_ signal: Int32) async throws {
        let file = try bench.folder.write([], to: "hangs")
        let hanging = try await HangingFile(file)
        defer { hanging.release() }
        let run = try bench.start(["send", file])
        #expect(await run.wait(for: "utter: waiting for '\(file)'", in: .error))
        run.signal(signal)
        let result = try await run.result()
        #expect(result.status == .exited(signal == SIGTERM ? 143 : 130))
        #expect(!result.errorText.contains("left without waiting"), "\(result.errorText)")
        #expect(server.connectionCount == 0)
        #expect(try bench.takes().isEmpty)
    }
}
