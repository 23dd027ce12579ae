// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `utter play`, by a program that writes what it hears, and `utter export`.
@Suite struct PlayTests {
    /// Keeps a take that could not be delivered, and returns its samples as an export has them.
    private func keep(
        _ clip: Clip = .goForward, as format: String = "pcm", in bench: Bench
    ) async throws -> [UInt8] {
        _ = try await bench.keep(clip, "--format", format)
        let path = bench.folder.path("\(format).wav")
        #expect(try await bench.here("export", "last", path).status == .exited(0))
        return Array(try readFile(path)[44...])
    }

    /// Players of the test's own, each a script, and nothing else on the search path.
    private struct Players: Sendable {
        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        /// Adds one that writes its arguments, and runs the script.
        func add(_ name: String, _ script: String = "") throws {
            let text = "#!/bin/sh\necho \"$*\" >\"$0.words\"\n\(script)\n"
            try folder.writeProgram(text, to: name)
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
        let players = try Players()
        for name in names { try players.add(name, script) }
        return (players, try Bench(["PATH": players.folder.path]))
    }

    /// It takes as long as the recording; what programs are given of each format is shown below.
    @Test func aplayPlaysEverySampleOnALoudspeaker() async throws {
        let speaker = try VirtualLoudspeaker()
        let bench = try Bench(speaker.environment)
        let list = try await bench.run("devices", "--playback")
        #expect(list.outputText == "default   Default (default)\nspeakers  Loud\n")
        let samples = try await keep(as: "ogg-opus", in: bench)
        let result = try await bench.run("play", "last", "--device", "speaker")
        #expect(result.status == .exited(0), "\(result.errorText)")
        // It fills its last period with silence.
        #expect(speaker.heard.starts(with: samples))
        #expect(speaker.heard.dropFirst(samples.count).allSatisfy { $0 == 0 })
    }

    @Test func theFirstThatIsInstalledGetsEverySampleAndNothingElse() async throws {
        let names = ["pw-play", "paplay", "aplay"]
        let (players, bench) = try stage(names)
        for (number, format) in ["ogg-opus", "flac", "wav", "pcm"].enumerated() {
            let samples = try await keep(as: format, in: bench)
            let result = try await bench.run("play", "last")
            #expect(result.status == .exited(0))
            #expect(result.output.isEmpty)
            #expect(result.error.isEmpty)
            let name = names[min(number, 2)]
            #expect(try players.heard(of: name) == samples)
            for other in names.drop(while: { $0 != name }).dropFirst() {
                #expect(players.words(of: other) == nil)
            }
            if name != "aplay" { #expect(unlink(players.folder.path(name)) == 0) }
        }
    }

    @Test func whatCannotBePlayedIsSaidWithTheReason() async throws {
        let (players, bench) = try stage([])
        let take = try await bench.keep()
        let missing = try await bench.run("play", "2099")
        #expect(missing.status == .exited(66))
        #expect(missing.errorText.contains("utter: error: there is no take '2099'\n"))
        for options in [[], ["--device", "hw:0"]] {
            let result = try await bench.start(["play", "last"] + options).result()
            #expect(result.status == .exited(78))
            #expect(
                result.errorText.contains("utter: hint: install one: sudo apt install alsa-utils"))
        }
        try players.add("pw-play")
        try players.add("aplay", "echo 'aplay: no such card' >&2; exit 1")
        // A device is one of ALSA's, which aplay knows.
        let refused = try await bench.run("play", "last", "--device", "hw:1,0")
        #expect(players.words(of: "aplay") == "-q -D hw:1,0 -\n")
        #expect(players.words(of: "pw-play") == nil)
        #expect(refused.status == .exited(66))
        #expect(refused.errorText.contains("utter: error: aplay: aplay: no such card\n"))
        #expect(refused.errorText.contains("utter: hint: run 'utter devices --playback', and pass"))
        #expect(truncate("\(take.path)/audio.wav", 44) == 0)
        let empty = try await bench.run("play", "last")
        #expect(empty.status == .exited(65))
        #expect(empty.errorText.contains("take \(take.id) has no sound in it\n"))
    }

    @Test(arguments: [
        ("pcm", "out.mp3", "WAV"), ("wav", "out.raw", "WAV"), ("ogg-opus", "out.m4a", "Ogg Opus"),
        ("flac", "out.MP3", "FLAC"),
    ])
    func anExportIsWhatItsNameSaysOrIsRefused(
        _ format: String, _ name: String, _ form: String
    ) async throws {
        let bench = try Bench()
        let samples = try await keep(as: format, in: bench)
        let (flac, ogg) = (bench.folder.path("out.flac"), bench.folder.path("out.OGG"))
        #expect(try await bench.here("export", "last", flac).status == .exited(0))
        // Its sum is there, and right: otherwise this would be warned of.
        let told = try ForeignTool("flac").run([
            "-w", "-s", "-d", "-c", "--force-raw-format", "--endian=little", "--sign=signed", flac,
        ])
        #expect(told.complaint == "")
        #expect(told.output == samples)
        #expect(try await bench.here("export", "last", ogg).status == .exited(0))
        #expect(try ForeignTool("opusinfo").run([ogg]).complaint == "")

        let path = bench.folder.path(name)
        let refused = try await bench.here("export", "last", path)
        #expect(refused.status == .exited(64))
        #expect(
            refused.errorText.hasPrefix(
                "utter: error: '\(path)' would hold \(form), despite its name\n"))
        #expect(refused.errorText.contains("utter: hint: name it with ."))
        #expect(access(path, F_OK) != 0)
        #expect(try await bench.here("export", "last", path + ".wav").status == .exited(0))
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

    @Test func aSignalStopsItAtOnce() async throws {
        // It hears a quarter of a second, and then nothing.
        let (players, bench) = try stage(
            ["aplay"], "/usr/bin/head -c 8044 >\"$0.heard\"; exec /bin/sleep 3600")
        let samples = try await keep(.speech, in: bench)
        for (signal, status) in [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)] {
            let run = try bench.start(["play", "last"], terminal: try PseudoTerminal())
            #expect(await run.wait(for: "play 0:0", in: .screen))
            run.signal(signal)
            #expect(try await run.result().status == .exited(status))
            // The program may not have begun, or read nothing yet.
            let heard = (try? players.folder.read("aplay.heard")) ?? []
            #expect(samples.starts(with: heard.dropFirst(44)))
        }
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
        _ = try await bench.keep()
        let terminal = try PseudoTerminal()
        let run = try bench.start(["play", "last"], terminal: terminal)
        #expect(await run.wait(for: "play 0:00.", in: .screen))
        #expect(write(go, "go\n", 3) == 3)
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(result.screenText.contains("/ 0:02.7"))
        #expect(Screen(result.screenText).lines.joined().isEmpty)
    }
}
