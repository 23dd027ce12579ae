// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `output.cue`: tones that say when a recording has begun and has ended.
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

    @Test func aToneSaysThatARecordingHasBegunAndAnotherThatItHasEnded() async throws {
        let (devices, server) = (try Devices(), try RecordingServer.hearing("heard"))
        let bench = try Bench(server: server, devices.environment)
        let run = try bench.start(["-c", "output.cue=true"])
        _ = try #require(await server.wait(untilBytes: 16_000))
        run.signal(SIGUSR1)
        #expect(try await run.result().status == .exited(0))
        #expect(devices.loudspeaker.heard.count == 2 * Self.toneBytes)
        // What the microphone hears is sent as it is.
        let sent = try #require(server.requests.first?.body)
        #expect(sent == RecordTests.samples(sent.count / 2))
    }

    @Test func withoutALoudspeakerItIsRecordedAllTheSame() async throws {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("heard"))
        let result = try await Bench(server: server, microphone: card).run(
            "-c", "output.cue=true", "--for", "300ms")
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
