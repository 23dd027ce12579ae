// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `output.cue`: tones that say when a recording has begun and has ended, played by `aplay`.
@Suite struct CueTests {
    /// The samples of a tone of 80 ms, as far as they are no silence.
    private static let tone = (80 * 16 - 10)...(80 * 16)

    /// How long each tone was that a loudspeaker was given, in samples; `aplay` fills its last period
    /// with silence.
    private static func tones(_ heard: [UInt8]) -> [Int] {
        let samples = stride(from: 0, to: heard.count - 1, by: 2).map { heard[$0] | heard[$0 + 1] }
        var (tones, silence) = ([Int](), Int.max)
        for sample in samples {
            if sample == 0 {
                silence = min(silence, Int.max - 1) + 1
            } else {
                if silence > 20 { tones.append(0) } else { tones[tones.count - 1] += silence }
                tones[tones.count - 1] += 1
                silence = 0
            }
        }
        return tones
    }

    /// A microphone and a loudspeaker, both as "default".
    private final class Devices: Sendable {
        let microphone: VirtualMicrophone
        let loudspeaker: VirtualLoudspeaker
        private let folder: TemporaryFolder
        private let players: TemporaryFolder
        let environment: [String: String]

        init() throws {
            (microphone, loudspeaker) = (try VirtualMicrophone(), try VirtualLoudspeaker())
            (folder, players) = (try TemporaryFolder(), try CueTests.players(["aplay"]))
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
            environment = [
                name: (paths + [path]).joined(separator: ":"), "PATH": players.path,
            ]
        }
    }

    /// A folder for `PATH` that holds no program that plays but `aplay`, if that.
    private static func players(_ names: [String]) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for name in names {
            let path = try #require(ForeignTool(name).path)
            #expect(symlink(path, folder.path(name)) == 0)
        }
        return folder
    }

    @Test func aToneSaysThatARecordingHasBegunAndAnotherThatItHasEnded() async throws {
        let (devices, server) = (try Devices(), try RecordingServer.hearing("heard"))
        let bench = try Bench(server: server, devices.environment)
        let run = try bench.start([], variables: ["UTTER_CUE": "true"])
        _ = try #require(await server.wait(untilBytes: 16_000))
        run.signal(SIGUSR1)
        #expect(try await run.result().status == .exited(0))
        let tones = Self.tones(devices.loudspeaker.heard)
        #expect(tones.count == 2 && tones.allSatisfy(Self.tone.contains), "\(tones)")
        // What the microphone hears is sent as it is.
        let sent = try #require(server.requests.first?.body)
        #expect(sent == VirtualMicrophone.pcm(sent.count / 2))
    }

    /// Without a loudspeaker, and without a program.
    @Test(arguments: [
        (["aplay"], "aplay: "), ([], "no program that plays sound is installed"),
    ])
    func withoutACueItIsRecordedAllTheSame(_ programs: [String], _ reason: String) async throws {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("heard"))
        let players = try Self.players(programs)
        defer { withExtendedLifetime(players) {} }
        let result = try await Bench(server: server, microphone: card, ["PATH": players.path]).run(
            "-c", "output.cue=true", "--for", "300ms")
        #expect(result.status == .exited(0))
        #expect(result.outputText == "heard\n")
        #expect(
            result.errorText.contains("utter: warning: the cue cannot be played: \(reason)"))
        #expect(server.requests.first?.body == VirtualMicrophone.pcm(4_800))
    }

    @Test func aProgramThatHangsIsKilledAtTheEnd() async throws {
        let folder = try TemporaryFolder()
        let pipe = folder.path("pw-play.started")
        #expect(mkfifo(pipe, 0o600) == 0)
        let script = "#!/bin/sh\necho $$ >\"$0.started\"\nexec /bin/sleep 3600\n"
        try folder.writeProgram(script, to: "pw-play")
        let bench = try Bench(
            server: .hearing("heard"), microphone: VirtualMicrophone(), ["PATH": folder.path])
        let run = try bench.start(["-c", "output.cue=true"])
        // It has begun when it says its number.
        let number = await onOwnThread { Result { try readFile(pipe) } }
        let process = try #require(pid_t(String(decoding: number.get().dropLast(), as: UTF8.self)))
        _ = try #require(await bench.server?.wait(untilBytes: 9_600))
        run.signal(SIGUSR1)
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(result.outputText == "heard\n")
        #expect(kill(process, 0) == -1)
    }

    @Test func nothingIsPlayedUnasked() async throws {
        let (devices, server) = (try Devices(), try RecordingServer.hearing("heard"))
        let bench = try Bench(server: server, devices.environment)
        #expect(try await bench.run("--for", "700ms").status == .exited(0))
        #expect(devices.loudspeaker.heard.isEmpty)
        #expect(server.requests.first?.body == VirtualMicrophone.pcm(11_200))
    }
}
