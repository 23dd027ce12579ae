// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `keep.required`, and what a disk that fills up leaves behind.
@Suite struct RequiredDiskTests {
    private let card: VirtualMicrophone
    private let server: RecordingServer
    private let disk: SlowDisk
    private let bench: Bench

    init() throws {
        card = try VirtualMicrophone()
        server = try RecordingServer.hearing("what came before")
        disk = try SlowDisk()
        bench = try Bench(server: server, microphone: card, disk.environment)
    }

    @Test func aRecordingEndsWhenTheDiskFillsAndTheStatusSaysIt() async throws {
        let run = try bench.start(["-c", "keep.required=true", "--json"])
        try #require(await bench.wait(untilSamples: 16_000))
        try disk.begin(.full)
        let result = try await run.result()
        #expect(result.status == .exited(74), "\(result.errorText)")
        #expect(result.errorText.contains("utter: warning: not protected: "))
        #expect(result.errorText.contains("utter: error: the take could not be kept: "))
        let report = try JSONText(result.output)
        #expect(report["text"] == .string("what came before"))
        #expect(report["exit"] == .number(74))
        // Nothing of it is lost: the service has all that was recorded.
        let sent = try #require(server.requests.first?.body.count)
        #expect(report["frames"]?["encoded"] == .number(Double(sent / 2)))
    }

    @Test func aFileIsSentWholeAndTheStatusSaysThatItIsNotKept() async throws {
        try disk.begin(.full)
        let result = try await bench.run("send", "-c", "keep.required=true", Clip.digits.path)
        #expect(result.status == .exited(74))
        #expect(result.outputText == "what came before\n")
        #expect(server.requests.first?.body == (try Clip.digits.samples))
        #expect(result.errorText.contains("utter: error: the take could not be kept: "))
    }

    @Test func withoutThePromiseTheRecordingGoesOn() async throws {
        let run = try bench.start([])
        try #require(await bench.wait(untilSamples: 16_000))
        try disk.begin(.full)
        try #require(await run.wait(for: "not protected", in: .error))
        run.signal(SIGUSR1)
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(!result.errorText.contains("utter: error: "))
    }
}
