// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import UtterCommands
@testable import UtterSettings

/// What `utter` makes of a voice, of silence and of a microphone that is not right.
@Suite struct VoiceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A noise gate makes zeros of each pause: they are no fault of the microphone.
    @Test func silenceBehindAVoiceEndsARecordingWithoutATerminal() async throws {
        let card = try VirtualMicrophone.saying(.goForward, in: folder)
        let server = try RecordingServer.hearing("go forward")
        let result = try await Bench(server: server, microphone: card).run(
            "--silence", "2500ms", "--json")
        #expect(result.status == .exited(0))
        #expect(result.errorText.contains("stopped after the pause that --silence sets\n"))
        #expect(!result.errorText.contains("warning"), "\(result.errorText)")
        let report = try ParsedJSON(result.output)
        #expect(report["text"] == .string("go forward"))
        #expect(report["notices"] == .array([]))
        // All of it was sent: what was said, and the silence behind it.
        let body = try #require(server.requests.first?.body)
        #expect(body.count / 32 > 4_600)
    }

    @Test func aRecordingWithoutAVoiceSaysSo() async throws {
        let card = try VirtualMicrophone.repeating([60, -60], in: folder)
        let server = try RecordingServer.hearing(#"{"text": ""}"#)
        let result = try await Bench(server: server, microphone: card).run("--for", "500ms")
        #expect(result.status == .exited(1))
        #expect(result.errorText.contains("utter: no speech heard (peak -55 dBFS)\n"))
    }

    @Test func whatIsClippedIsSaidWhileItRecords() async throws {
        let card = try VirtualMicrophone.repeating([.max, .min], in: folder)
        let server = try RecordingServer.hearing("heard")
        // It is told before a take is long enough to be sent.
        let run = try Bench(server: server, microphone: card).start(["-c", "recording.min=0"])
        let text = "the microphone is cut off at full scale; turn its level down"
        #expect(await run.wait(for: "utter: warning: \(text)\n", in: .error))
        run.signal(SIGUSR1)
        #expect(try await run.result().status == .exited(0))
    }

    @Test func aTouchOfTheKeyIsDroppedWithAWord() async throws {
        let card = try VirtualMicrophone()
        let bench = try Bench(server: .hearing("heard"), microphone: card)
        let run = try bench.start(["-v", "-c", "recording.min=10m"])
        #expect(await run.wait(for: "first frame after ", in: .error))
        run.signal(SIGUSR1)
        let result = try await run.result()
        #expect(result.status == .exited(1))
        #expect(result.output.isEmpty)
        #expect(result.errorText.contains("utter: too short: "))
        #expect(result.errorText.contains(" ms were recorded, and are not sent\n"))
        #expect(!result.errorText.contains("kept: "))
        #expect(try bench.onlyTake()?.manifest["state"] == .string("cancelled"))
        #expect(!bench.requests.contains { $0.lastChunkAt != nil })
    }

    @Test func whatWasAgreedOnIsSaidInDetailAndInJSON() async throws {
        let card = try VirtualMicrophone(.builtIn)
        let bench = try Bench(server: .hearing("heard"), microphone: card)
        let result = try await bench.run(
            "--for", "300ms", "-c", "recording.period=40ms", "-v", "--json", "-D", "uttermic")
        // Every device that is listed can be named.
        #expect(result.status == .exited(0))
        #expect(
            result.errorText.contains("48000 Hz, 2 channels S16_LE, a period of 33 ms, a buffer"))
        let device = try #require(try ParsedJSON(result.output)["device"])
        #expect(device["sampleRate"] == .number(48_000))
        #expect(device["channels"] == .number(2))
        #expect(device["sampleFormat"] == .string("S16_LE"))
        #expect(device["periodMs"] == .number(33))
        #expect(device["bufferMs"] != nil)
    }

    @Test func aPeriodHasItsBounds() {
        let times = ["0", "9ms", "10ms", "100ms", "101ms"]
        #expect(times.filter(KnownSettings.period.accepts) == ["10ms", "100ms"])
    }
}

extension VirtualMicrophone {
    /// Says a recorded voice once, and then nothing.
    static func saying(_ clip: Clip, in folder: TemporaryFolder) throws -> VirtualMicrophone {
        let bytes = Array(try readFile(clip.path).dropFirst(44))
        return try playing(.file(path: try folder.write(bytes, to: "content")))
    }

    /// Repeats a pattern of samples for ever.
    static func repeating(
        _ pattern: [Int16], in folder: TemporaryFolder
    ) throws -> VirtualMicrophone {
        let samples = (0..<16_000).map { pattern[$0 % pattern.count] }
        return try playing(.loop(path: try folder.write(WAVBytes.pcm(samples), to: "content")))
    }

    private static func playing(_ content: VirtualCard.Content) throws -> VirtualMicrophone {
        var card = VirtualCard()
        (card.rates, card.content) = ([16_000], content)
        return try VirtualMicrophone(card)
    }
}
