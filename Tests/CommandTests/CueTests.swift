// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `--cue`: tones that say when a recording has begun and has ended.
@Suite struct CueTests {
    /// What both tones are: 80 ms each, 16-bit samples.
    private static let toneBytes = 2 * 80 * 16

    /// A microphone and a loudspeaker, both as "default".
    private final class Devices: Sendable {
        let microphone: VirtualMicrophone
        let loudspeaker: VirtualLoudspeaker
        private let folder: TemporaryFolder
        let environment: [String: String]

        init() throws {
            (microphone, loudspeaker) = (try VirtualMicrophone(), try VirtualLoudspeaker())
            folder = try TemporaryFolder()
            let both = """
                pcm.!default {
                    type asym
                    capture.pcm "uttermic"
                    playback.pcm "speaker"
                }

                """
            let path = try folder.write(Array(both.utf8), to: "both.conf")
            let name = "ALSA_CONFIG_PATH"
            let paths = [microphone.environment, loudspeaker.environment].compactMap { $0[name] }
            environment = [name: (paths + [path]).joined(separator: ":")]
        }
    }

    /// Asserts that a body has the samples of the card, but zeros where a cue is marked.
    ///
    /// - Returns: how many frames are marked.
    private func check(_ body: [UInt8], of take: KeptTake) throws -> Int {
        guard case .array(let pairs)? = try take.manifest["cues"] else { return 0 }
        let spans = pairs.compactMap { pair -> Range<Int>? in
            guard case .array(let numbers) = pair, numbers.count == 2,
                case .number(let start) = numbers[0], case .number(let count) = numbers[1]
            else { return nil }
            return Int(start)..<Int(start + count)
        }
        #expect(spans.count == 1)
        let marked = try #require(spans.first)
        let frames = body.count / 2
        var expected = (0..<frames).map { VirtualMicrophone.sample(at: $0) }
        for frame in marked.clamped(to: 0..<frames) { expected[frame] = 0 }
        #expect(body == WAVBytes.pcm(expected))
        // The file has what was heard.
        #expect(try take.samples == RecordTests.samples(frames))
        return marked.count
    }

    @Test func theFirstToneIsMarkedSentAsSilenceAndKept() async throws {
        let devices = try Devices()
        let server = try RecordingServer(
            scripts: [[.readHead, .readBodyToEnd, .respond(status: 503, text: "later")]],
            otherwise: .answer(text: "heard"))
        let bench = try Bench(server: server, devices.environment)
        let run = try bench.start(["--cue", "--no-retry"])
        // The marked frames have been sent by then.
        _ = try #require(await server.wait(untilBytes: 64_000))
        run.signal(SIGUSR1)
        #expect(try await run.result().status == .exited(75))
        let take = try #require(try bench.onlyTake())
        let body = try #require(server.requests.first?.body)
        // The tone, and what of it may be heard after it.
        let marked = try check(body, of: take)
        #expect(marked >= 80 * 16)
        #expect(marked <= 16_000)
        // One at the beginning, and one at the end.
        #expect(devices.loudspeaker.heard.count == 2 * Self.toneBytes)
        // Another program sends the same bytes.
        #expect(try await bench.run("retry", "last").outputText == "heard\n")
        #expect(server.requests.last?.body == body)
    }

    @Test func withoutALoudspeakerItIsRecordedAllTheSame() async throws {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("heard"))
        let result = try await Bench(server: server, microphone: card).run(
            "--cue", "--for", "300ms")
        #expect(result.status == .exited(0))
        #expect(result.outputText == "heard\n")
        #expect(result.errorText.contains("utter: warning: the cue cannot be played: "))
        #expect(server.requests.first?.body == RecordTests.samples(4_800))
    }

    @Test func withoutTheOptionNothingIsPlayed() async throws {
        let (devices, server) = (try Devices(), try RecordingServer.hearing("heard"))
        let bench = try Bench(server: server, devices.environment)
        #expect(try await bench.run("--for", "300ms").status == .exited(0))
        #expect(devices.loudspeaker.heard.isEmpty)
        #expect(server.requests.first?.body == RecordTests.samples(4_800))
    }

    @Test func theSettingIsAsGoodAsTheOption() async throws {
        let (devices, server) = (try Devices(), try RecordingServer.hearing("heard"))
        let bench = try Bench(
            server: server, devices.environment.merging(["UTTER_CUE": "true"]) { $1 })
        #expect(try await bench.run("--for", "700ms").status == .exited(0))
        #expect(devices.loudspeaker.heard.count == 2 * Self.toneBytes)
    }
}
