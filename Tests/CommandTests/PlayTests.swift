// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `utter play`, through ALSA.
@Suite struct PlayTests {
    static let formats = ["pcm", "wav", "ogg-opus", "flac"]

    /// Keeps a take that could not be delivered, and returns its samples as an export has them.
    private func keep(
        _ clip: Clip = .goForward, as format: String = "pcm", in bench: Bench
    ) async throws -> [UInt8] {
        let result = try await bench.run(
            "send", "-q", "--no-retry", "--format", format, clip.path)
        #expect(result.status == .exited(75))
        let path = bench.folder.path("\(format).wav")
        #expect(try await bench.run("export", "last", path).status == .exited(0))
        return Array(try readFile(path)[44...])
    }

    @Test(arguments: formats)
    func theLoudspeakerGetsEverySampleAndNothingElse(_ format: String) async throws {
        let speaker = try VirtualLoudspeaker()
        let bench = try Bench(speaker.environment)
        let samples = try await keep(as: format, in: bench)
        let result = try await bench.run("play", "last", "--device", "speaker")
        #expect(result.status == .exited(0))
        #expect(result.output.isEmpty)
        #expect(result.error.isEmpty)
        #expect(speaker.heard == samples)
    }

    @Test(arguments: [
        ("pcm", "out.mp3", "WAV"), ("wav", "out.raw", "WAV"), ("ogg-opus", "out.m4a", "Ogg Opus"),
        ("flac", "out.MP3", "FLAC"),
    ])
    func anExportWhoseNamePromisesAnotherFormIsRefused(
        _ format: String, _ name: String, _ form: String
    ) async throws {
        let bench = try Bench()
        _ = try await keep(as: format, in: bench)
        let path = bench.folder.path(name)
        let result = try await bench.run("export", "last", path)
        #expect(result.status == .exited(64))
        #expect(
            result.errorText.hasPrefix(
                "utter: error: '\(path)' would hold \(form), despite its name\n"))
        #expect(result.errorText.contains("utter: hint: name it with ."))
        #expect(access(path, F_OK) != 0)
        #expect(try await bench.run("export", "last", path + ".wav").status == .exited(0))
    }

    @Test(arguments: formats, ["flac", "OGG"])
    func anExportIsWhatItsNameSays(_ format: String, _ ending: String) async throws {
        let bench = try Bench()
        let samples = try await keep(as: format, in: bench)
        let path = bench.folder.path("out.\(ending)")
        #expect(try await bench.run("export", "last", path).status == .exited(0))
        guard ending == "flac" else {
            #expect(try ForeignTool("opusinfo").run([path]).complaint == "")
            return
        }
        // Its sum is there, and right: otherwise this would be warned of.
        let told = try ForeignTool("flac").run([
            "-w", "-s", "-d", "-c", "--force-raw-format", "--endian=little", "--sign=signed", path,
        ])
        #expect(told.complaint == "")
        #expect(told.output == samples)
    }

    @Test(arguments: formats)
    func aDeviceThatTakesNoTimeGetsEverySampleToo(_ format: String) async throws {
        let speaker = try VirtualLoudspeaker()
        let bench = try Bench(speaker.environment)
        let samples = try await keep(.speech, as: format, in: bench)
        let id = try #require(try bench.onlyTake()?.id)
        let result = try await bench.run("play", "--device", "file", String(id.dropLast(2)))
        #expect(result.status == .exited(0))
        #expect(speaker.written == samples)
    }

    @Test func aCardOfAnotherRateIsConvertedForByItsPlug() async throws {
        let speaker = try VirtualLoudspeaker(rate: 48_000)
        let bench = try Bench(speaker.environment)
        let samples = try await keep(in: bench)
        #expect(try await bench.run("play", "last").status == .exited(0))
        // Three frames for one, and what fills the last period up.
        #expect(speaker.heard.count / 3 >= samples.count - 100)
        #expect(speaker.heard.count / 3 < samples.count + 2 * 8_000)
        let directly = try await bench.run("play", "last", "--device", "speaker")
        #expect(directly.status == .exited(65))
        #expect(directly.errorText.contains("'speaker': it does not take 16000 Hz mono 16-bit"))
    }

    @Test func aCardThatRanDryGoesOnWithTheNextSample() async throws {
        let speaker = try VirtualLoudspeaker()
        let bench = try Bench(speaker.environment)
        let samples = try await keep(in: bench)
        try speaker.set(.dry)
        #expect(try await bench.run("play", "last", "--device", "speaker").status == .exited(0))
        #expect(speaker.hasHappened(.dry))
        #expect(speaker.heard == samples)
    }

    @Test func aTakeThatACrashCutIsHeardUpToItsEnd() async throws {
        let (card, speaker) = (try VirtualMicrophone(), try VirtualLoudspeaker())
        let server = try RecordingServer.hearing("no")
        let bench = try Bench(server: server, microphone: card)
        let run = try bench.start([])
        _ = try #require(await server.wait(untilBytes: 16_000))
        run.signal(SIGKILL)
        _ = try await run.result()
        let take = try #require(try bench.onlyTake())
        // The writer was cut off in the middle of a sample.
        let file = open("\(take.path)/audio.wav", O_WRONLY | O_APPEND | O_CLOEXEC)
        #expect(Glibc.write(file, "x", 1) == 1)
        close(file)
        let result = try await bench.start(
            ["play", "last", "--device", "file"], variables: speaker.environment
        ).result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        let written = speaker.written
        #expect(written == RecordTests.samples(written.count / 2))
        #expect(written.count >= 16_000)
    }

    static let signals: [(Int32, Int32)] = [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)]

    @Test(arguments: signals)
    func aSignalStopsItAtOnce(_ signal: Int32, _ status: Int32) async throws {
        let speaker = try VirtualLoudspeaker()
        let bench = try Bench(speaker.environment)
        let samples = try await keep(.speech, in: bench)
        let terminal = try PseudoTerminal()
        let run = try bench.start(["play", "last"], terminal: terminal)
        #expect(await run.wait(for: "play 0:0", in: .screen))
        run.signal(signal)
        let result = try await run.result()
        #expect(result.status == .exited(status))
        #expect(speaker.heard.count < samples.count)
        #expect(samples.starts(with: speaker.heard))
    }

    @Test func aTerminalShowsThePositionAndClearsIt() async throws {
        let speaker = try VirtualLoudspeaker()
        let bench = try Bench(speaker.environment)
        _ = try await keep(in: bench)
        let terminal = try PseudoTerminal()
        let result = try await bench.run("play", "last", terminal: terminal)
        #expect(result.status == .exited(0))
        #expect(result.screenText.contains("/ 0:02.7"))
        #expect(result.screenText.contains("play 0:01."))
        #expect(Screen(result.screenText).lines.joined().isEmpty)
    }

    @Test func aDeviceThatIsNotThereIsStatus66AndTheOthersAreNamed() async throws {
        let speaker = try VirtualLoudspeaker()
        let bench = try Bench(speaker.environment)
        _ = try await keep(in: bench)
        let result = try await bench.run("play", "last", "--device", "none")
        #expect(result.status == .exited(66))
        #expect(result.errorText.contains("utter: error: no playback device named 'none'\n"))
        #expect(
            result.errorText.contains(
                "utter: hint: pass one of these with --device: default, speakers\n"))
        let list = try await bench.run("devices", "--playback")
        #expect(list.outputText == "default   Default (default)\nspeakers  Loud\n")
    }

    @Test func aDeviceThatSomebodyElseHoldsIsStatus66() async throws {
        let speaker = try VirtualLoudspeaker()
        let bench = try Bench(speaker.environment)
        _ = try await keep(in: bench)
        try speaker.set(.busy)
        let result = try await bench.run("play", "last", "--device", "speaker")
        #expect(result.status == .exited(66))
        #expect(result.errorText.contains("another program holds it (EBUSY)"))
    }

    @Test func aDeviceThatCannotBeOpenedIsStatus66AndAlsasReasonIsSaid() async throws {
        let bench = try Bench()
        _ = try await keep(in: bench)
        let configuration = try bench.folder.write(
            Array("pcm.broken { type nowhere }\n".utf8), to: "asound.conf")
        let result = try await bench.start(
            ["play", "last", "--device", "broken"],
            variables: ["ALSA_CONFIG_PATH": configuration]
        ).result()
        #expect(result.status == .exited(66))
        #expect(
            result.errorText.contains(
                "utter: error: cannot play on 'broken': No such device or address; ALSA says: "
                    + "Cannot open shared library libasound_module_pcm_nowhere.so"))
        #expect(result.errorText.contains("utter: hint: check ALSA's configuration"))
    }

    @Test func aDeviceThatGoesAwayIsStatus71() async throws {
        let speaker = try VirtualLoudspeaker()
        let bench = try Bench(speaker.environment)
        _ = try await keep(.speech, in: bench)
        let terminal = try PseudoTerminal()
        let run = try bench.start(["play", "last"], terminal: terminal)
        #expect(await run.wait(for: "play 0:0", in: .screen))
        try speaker.set(.unplug)
        let result = try await run.result()
        #expect(result.status == .exited(71))
        #expect(
            Screen(result.screenText).lines.contains { $0.hasPrefix("utter: error: 'default' dis") }
        )
    }

    @Test func aTakeWithoutSoundIsSaidToBeEmpty() async throws {
        let speaker = try VirtualLoudspeaker()
        let bench = try Bench(speaker.environment)
        _ = try await keep(in: bench)
        let take = try #require(try bench.onlyTake())
        #expect(truncate("\(take.path)/audio.wav", 44) == 0)
        let result = try await bench.run("play", "last", "--device", "speaker")
        #expect(result.status == .exited(65))
        #expect(result.errorText.contains("take \(take.id) has no sound in it\n"))
    }

    @Test func aTakeWhoseAudioIsGoneOrThatIsUnknownIsStatus66() async throws {
        let bench = try Bench(server: try RecordingServer(otherwise: .answer(text: "done")))
        _ = try await bench.run("send", Clip.digits.path)
        let answered = try await bench.run("play", "last")
        #expect(answered.status == .exited(66))
        #expect(answered.errorText.contains(" has been answered, and its audio deleted\n"))
        #expect(try await bench.run("play", "2099").status == .exited(66))
        // The last is meant.
        let last = try await bench.run("play")
        #expect(last.status == .exited(66))
        #expect(last.errorText.contains(" has been answered, and its audio deleted\n"))
    }
}
