// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `utter play`, by a program that writes what it hears, and `utter export`.
@Suite struct PlayTests {
    static let formats = ["pcm", "wav", "ogg-opus", "flac"]

    /// Keeps a take that could not be delivered, and returns its samples as an export has them.
    private func keep(
        _ clip: Clip = .goForward, as format: String = "pcm", in bench: Bench
    ) async throws -> [UInt8] {
        let result = try await bench.run(
            "send", "-q", "-c", "retry.never=true", "--format", format, clip.path)
        #expect(result.status == .exited(75))
        let path = bench.folder.path("\(format).wav")
        #expect(try await bench.run("export", "last", path).status == .exited(0))
        return Array(try readFile(path)[44...])
    }

    /// Players of the test's own, each a script, and nothing else on the search path.
    private struct Players: Sendable {
        let folder: TemporaryFolder

        /// Each writes its arguments, and runs the script.
        init(_ names: [String], _ script: String) throws {
            folder = try TemporaryFolder()
            for name in names {
                let text = "#!/bin/sh\necho \"$*\" >\"$0.words\"\n\(script)\n"
                try folder.writeProgram(text, to: name)
            }
        }

        func words(of name: String) -> String? {
            // One that was not run has written none.
            (try? folder.read("\(name).words")).map { String(decoding: $0, as: UTF8.self) }
        }

        /// The samples behind a header that says 16 kHz mono, and no length.
        func heard(of name: String = "aplay") throws -> [UInt8] {
            let bytes = try folder.read("\(name).heard")
            #expect(bytes.starts(with: "RIFF".utf8) && bytes[36..<40].elementsEqual("data".utf8))
            return Array(bytes.dropFirst(44))
        }
    }

    /// Players on a bench that finds no others.
    private func stage(
        _ names: [String], _ script: String = "/bin/cat >\"$0.heard\""
    ) throws -> (Players, Bench) {
        let players = try Players(names, script)
        return (players, try Bench(["PATH": players.folder.path]))
    }

    @Test(arguments: formats)
    func aplayPlaysEverySampleOnALoudspeaker(_ format: String) async throws {
        let speaker = try VirtualLoudspeaker()
        let bench = try Bench(speaker.environment)
        let samples = try await keep(as: format, in: bench)
        let result = try await bench.run("play", "last", "--device", "speaker")
        #expect(result.status == .exited(0), "\(result.errorText)")
        // It fills its last period with silence.
        #expect(speaker.heard.starts(with: samples))
        #expect(speaker.heard.dropFirst(samples.count).allSatisfy { $0 == 0 })
    }

    @Test(
        arguments: [
            (["pw-play", "paplay", "aplay"], "ogg-opus"), (["paplay", "aplay"], "flac"),
            (["aplay"], "wav"), (["aplay"], "pcm"),
        ] as [([String], String)])
    func theFirstThatIsInstalledGetsEverySampleAndNothingElse(
        _ names: [String], _ format: String
    ) async throws {
        let (players, bench) = try stage(names)
        let samples = try await keep(as: format, in: bench)
        let result = try await bench.run("play", "last")
        #expect(result.status == .exited(0))
        #expect(result.output.isEmpty)
        #expect(result.error.isEmpty)
        #expect(try players.heard(of: names[0]) == samples)
        for name in names.dropFirst() { #expect(players.words(of: name) == nil) }
    }

    @Test func aDeviceIsOneOfALSAsWhichAplayKnows() async throws {
        let (players, bench) = try stage(["pw-play", "aplay"])
        _ = try await keep(in: bench)
        let result = try await bench.run("play", "last", "--device", "hw:1,0")
        #expect(result.status == .exited(0))
        #expect(players.words(of: "aplay") == "-q -D hw:1,0 -\n")
        #expect(players.words(of: "pw-play") == nil)
    }

    @Test func whatTheProgramComplainsOfIsSaid() async throws {
        let (players, bench) = try stage(["aplay"], "echo 'aplay: no such card' >&2; exit 1")
        defer { withExtendedLifetime(players) {} }
        _ = try await keep(in: bench)
        let result = try await bench.run("play", "last")
        #expect(result.status == .exited(66))
        #expect(result.errorText.contains("utter: error: aplay: aplay: no such card\n"))
        #expect(result.errorText.contains("utter: hint: run 'utter devices --playback', and pass"))
    }

    @Test func theDevicesThatPlayAreListed() async throws {
        let speaker = try VirtualLoudspeaker()
        let list = try await Bench(speaker.environment).run("devices", "--playback")
        withExtendedLifetime(speaker) {}
        #expect(list.outputText == "default   Default (default)\nspeakers  Loud\n")
    }

    @Test(arguments: [[], ["--device", "hw:0"]])
    func withoutAProgramItIsSaidWhichToInstall(_ options: [String]) async throws {
        let (players, bench) = try stage([])
        defer { withExtendedLifetime(players) {} }
        _ = try await keep(in: bench)
        let result = try await bench.start(["play", "last"] + options).result()
        #expect(result.status == .exited(78))
        #expect(result.errorText.contains("utter: hint: install one: sudo apt install alsa-utils"))
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

    @Test func aTakeThatACrashCutIsListedAndHeardUpToItsEnd() async throws {
        let players = try stage(["aplay"]).0
        let server = try RecordingServer.hearing("no")
        let bench = try Bench(server: server, microphone: try VirtualMicrophone())
        let run = try bench.start([])
        _ = try #require(await server.wait(untilBytes: 16_000))
        run.signal(SIGKILL)
        _ = try await run.result()
        let take = try #require(try bench.onlyTake())
        // The writer was cut off in the middle of a sample.
        let file = open("\(take.path)/audio.wav", O_WRONLY | O_APPEND | O_CLOEXEC)
        #expect(Glibc.write(file, "x", 1) == 1)
        close(file)
        let list = try await bench.run("list")
        #expect(
            list.outputText.hasSuffix(
                "  may have been delivered; the program ended while it was recording\n"))
        #expect(list.outputText.contains(#/  kept  0:0\d\.\d  may have been delivered; /#))
        let result = try await bench.start(
            ["play", "last"], variables: ["PATH": players.folder.path]
        ).result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        let written = try players.heard()
        #expect(written == VirtualMicrophone.pcm(written.count / 2))
        #expect(written.count >= 16_000)
    }

    static let signals: [(Int32, Int32)] = [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)]

    @Test(arguments: signals)
    func aSignalStopsItAtOnce(_ signal: Int32, _ status: Int32) async throws {
        // It hears a quarter of a second, and then nothing.
        let (players, bench) = try stage(
            ["aplay"], "/usr/bin/head -c 8044 >\"$0.heard\"; exec /bin/sleep 3600")
        let samples = try await keep(.speech, in: bench)
        let terminal = try PseudoTerminal()
        let run = try bench.start(["play", "last"], terminal: terminal)
        #expect(await run.wait(for: "play 0:0", in: .screen))
        run.signal(signal)
        let result = try await run.result()
        #expect(result.status == .exited(status))
        // The program may not have begun, or read nothing yet.
        let heard = (try? players.folder.read("aplay.heard")) ?? []
        #expect(samples.starts(with: heard.dropFirst(44)))
    }

    @Test func aTerminalShowsThePositionAndClearsIt() async throws {
        // It hears a quarter of a second, and the rest once that was seen.
        let (players, bench) = try stage(
            ["aplay"],
            "/usr/bin/head -c 8044 >\"$0.heard\"; read word <\"$0.go\"; "
                + "exec /bin/cat >>\"$0.heard\"")
        defer { withExtendedLifetime(players) {} }
        let door = players.folder.path("aplay.go")
        #expect(mkfifo(door, 0o600) == 0)
        let go = open(door, O_RDWR | O_CLOEXEC)
        defer { close(go) }
        _ = try await keep(in: bench)
        let terminal = try PseudoTerminal()
        let run = try bench.start(["play", "last"], terminal: terminal)
        #expect(await run.wait(for: "play 0:00.", in: .screen))
        #expect(write(go, "go\n", 3) == 3)
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(result.screenText.contains("/ 0:02.7"))
        #expect(Screen(result.screenText).lines.joined().isEmpty)
    }

    @Test func aTakeWithoutSoundIsSaidToBeEmpty() async throws {
        let bench = try Bench()
        let take = try await bench.keep()
        #expect(truncate("\(take.path)/audio.wav", 44) == 0)
        let result = try await bench.run("play", "last")
        #expect(result.status == .exited(65))
        #expect(result.errorText.contains("take \(take.id) has no sound in it\n"))
    }
}
