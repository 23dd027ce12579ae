// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Files and standard input, as `utter send` takes them.
@Suite struct SendTests {

    @Test func aFileThatIsNotThereIsStatus66AndLeavesNoTake() async throws {
        let bench = try Bench(server: .hearing("no"))
        let result = try await bench.run("send", "missing.wav")
        #expect(result.status == .exited(66))
        #expect(result.output.isEmpty)
        #expect(
            result.errorText == """
                utter: error: cannot open 'missing.wav': No such file or directory
                utter: hint: check the name

                """)
        #expect(try bench.takes().isEmpty)
    }

    @Test func controlsInTheNameOfAFileDoNotReachTheTerminal() async throws {
        let result = try await Bench().run("send", "\u{1B}]0;title\u{7}.wav")
        #expect(result.status == .exited(66))
        #expect(result.hasPlainErrors)
    }

    @Test(arguments: [[], Array("RIFF".utf8), Array("RIFFxxxxWAVEjunk".utf8)])
    func aFileThatIsNoAudioIsStatus65(_ bytes: [UInt8]) async throws {
        let bench = try Bench()
        let file = try bench.folder.write(bytes, to: "x.wav")
        let result = try await bench.run("send", file)
        #expect(result.status == .exited(65))
        #expect(result.output.isEmpty)
        #expect(result.errorText.contains("utter: error: '\(file)' is not usable audio: "))
        #expect(
            result.errorText.contains(
                "utter: hint: utter reads WAV of PCM and floating point, FLAC and Ogg"))
        #expect(try bench.takes().isEmpty)
    }

    /// In a form of which the service reads no other, and from a pipe, whose length is known at its end.
    @Test func liveFLACWaitsForItsLengthWhereTheServiceNeedsIt() async throws {
        let bench = try Bench(server: .hearing("heard"))
        let samples = try Clip.digits.samples
        let result = try await bench.run(
            "send", "--service", "whisper-cpp", "--to", bench.environment["UTTER_URL"] ?? "",
            "--format", "flac", "--pace", "20", "-", input: .bytes(samples))
        #expect(result.outputText == "heard\n", "\(result.errorText)")
        let request = try #require(bench.requests.first)
        #expect(request["Content-Length"] != nil)
        let start = try #require(request.body.firstRange(of: Array("fLaC".utf8))).lowerBound
        let count = request.body[(start + 22)..<(start + 26)].reduce(0) { $0 << 8 | Int($1) }
        #expect(count == samples.count / 2)
    }

    @Test func everyObjectNamesItsFileAndHasEveryKey() async throws {
        let server = try RecordingServer(
            scripts: [.answer(text: "one"), .answer(status: 413, text: "")],
            otherwise: .answer(text: "three"))
        let bench = try Bench(server: server)
        let mp3 = try bench.folder.write(Array("ID3\u{4} and so on".utf8), to: "a.mp3")
        let run = try bench.start(
            ["send", "--json", Clip.digits.path, Clip.goForward.path, "-", mp3, Clip.cards.path],
            input: .bytes([]))
        let result = try await run.result()
        let objects = try result.output.split(separator: 0x0A).map { try ParsedJSON(Array($0)) }
        #expect(
            objects.map { $0["file"]?.string }
                == [Clip.digits.path, Clip.goForward.path, "-", mp3, Clip.cards.path])
        #expect(objects.map { $0["exit"]?.number } == [0, 69, 65, 65, 0])
        #expect(objects.map { $0["text"] == .null } == [false, true, true, true, false])
        #expect(objects.map { $0["error"] == .null } == [true, false, false, false, true])
        #expect(objects.map { $0["id"] == .null } == [false, false, true, false, false])
        for object in objects { #expect(object.names == objects[0].names) }
        let clips: [Clip] = [.digits, .goForward, .cards]
        #expect(try bench.requests.map(\.body) == clips.map { try $0.samples })
        let attempt = try #require(objects[0]["attempts"]?[0])
        #expect(attempt.names == objects[1]["attempts"]?[0]?.names)
        #expect(attempt["reason"] == .null)
    }

    // MARK: - Kinds of files

    @Test(arguments: [false, true])
    func anMP3IsNamedAndNotSentWhereNothingReadsIt(isPiped: Bool) async throws {
        let bench = try Bench(server: .hearing("no"), ["PATH": "/nowhere"])
        let bytes = try ForeignTool("ffmpeg").run([
            "-v", "error", "-i", Clip.digits.path, "-f", "mp3", "-",
        ]).output
        let file = try bench.folder.write(bytes, to: "a.mp3")
        let result = try await bench.run(
            "send", isPiped ? "-" : file, input: isPiped ? .bytes(bytes) : .nothing)
        #expect(result.status == .exited(65))
        let name = isPiped ? "standard input" : file
        #expect(
            result.errorText.contains(
                "utter: error: '\(name)' is MP3, which utter does not read\n"
                    + "utter: hint: install the program ffmpeg"))
        #expect(bench.requests.allSatisfy { $0.body.isEmpty })
        #expect(try bench.takes().isEmpty)
    }

    @Test(arguments: [false, true])
    func aKeptRecordingAsOggOpusCanBeSentAgain(isPiped: Bool) async throws {
        let bench = try Bench(server: .hearing("again"))
        _ = try await bench.run(
            "send", "--keep-audio", "1d", "--format", "ogg-opus", Clip.digits.path)
        let kept = "\(try #require(try bench.onlyTake()).path)/audio.ogg"
        let result = try await bench.run(
            "send", isPiped ? "-" : kept, input: isPiped ? .bytes(try readFile(kept)) : .nothing)
        #expect(result.status == .exited(0))
        #expect(result.outputText == "again\n")
        // There are as many samples as went in.
        #expect(bench.requests.last?.body.count == (try Clip.digits.samples.count))
    }

    @Test func rawStandardInputIsReplayedAtAPace() async throws {
        let bench = try Bench(server: .hearing("yes"))
        let samples = try Clip.digits.samples
        // All of it would take minutes; unpaced, it is answered at once.
        let run = try bench.start(["send", "--pace", "0.1", "-"], input: .bytes(samples))
        #expect(await bench.server?.wait(untilBytes: 1_600) != nil)
        run.signal(SIGTERM)
        #expect(try await run.result().status == .exited(143))
        let kept = try #require(try bench.onlyTake()?.samples)
        #expect(kept.count < samples.count && samples.starts(with: kept))
    }

    @Test(arguments: ["pcm", "wav", "ogg-opus", "flac"])
    func theFormatIsWhatIsSentAndKept(_ format: String) async throws {
        let bench = try Bench(server: .hearing("yes"))
        let result = try await bench.run(
            "send", "--keep-audio", "1d", "--format", format, Clip.digits.path)
        #expect(result.status == .exited(0))
        let take = try #require(try bench.onlyTake())
        let name = ["ogg-opus": "audio.ogg", "flac": "audio.flac"][format] ?? "audio.wav"
        #expect(result.errorText.contains("utter: kept: \(take.path)/\(name) (0:02.4)\n"))
        let journal = try readFile("\(take.path)/\(name)")
        var body = try #require(bench.requests.first?.body)
        if format == "flac" {
            // The journal was written before its length was known; what is sent says it.
            #expect(FLACFile.sampleCount(journal) == 0)
            #expect(try FLACFile.sampleCount(body) == Clip.digits.samples.count / 2)
            let sent = try bench.folder.write(body, to: "sent.flac")
            _ = try ForeignTool("flac").run(["-s", "-t", sent])
            body.replaceSubrange(21..<26, with: journal[21..<26])
        }
        #expect(body == Array(journal.dropFirst(format == "pcm" ? 44 : 0)))
    }

    @Test(arguments: [true, false])
    func aFLACFileIsRead(_ isFile: Bool) async throws {
        let bench = try Bench(server: .hearing("yes"))
        let path = bench.folder.path("said.flac")
        try ForeignTool("flac").run(["-s", "-o", path, Clip.digits.path])
        let result =
            try await isFile
            ? bench.run("send", path) : bench.run("send", "-", input: .bytes(readFile(path)))
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(bench.requests.first?.body == (try Clip.digits.samples))
    }

    // MARK: - Standard input

    /// It says its rate itself.
    @Test(arguments: [[], ["--rate", "8000"]])
    func aWavFileOnStandardInputIsKnownByItsBeginning(_ options: [String]) async throws {
        let bench = try Bench(server: .hearing("yes"))
        let result = try await bench.start(
            ["send"] + options + ["-"], input: .bytes(try readFile(Clip.speech.path))
        ).result()
        #expect(result.status == .exited(0))
        let warning = """
            utter: warning: --rate and --channels do not count: standard input begins like a \
            file, which says both itself

            """
        let sending = "utter: sending standard input, 16000 Hz mono\n"
        #expect(result.errorText == (options.isEmpty ? "" : warning) + sending)
        #expect(bench.requests.first?.body == (try Clip.speech.samples))
    }

    @Test(
        arguments: [
            (
                ["--rate", "48000", "--channels", "2"],
                WAVBytes.pcm(
                    TestSignal.voice(frames: 48_000, sampleRate: 48_000, channelCount: 2)),
                32_000, "48000 Hz, 2 channels"
            ),
            (
                [], [UInt8](repeating: 1, count: 6_401), 6_400,
                "utter: warning: 'standard input' ends within a frame"
            ),
        ] as [([String], [UInt8], Int, String)])
    func rawSamplesAreConvertedAndHalfAFrameIsLeftOut(
        _ options: [String], _ input: [UInt8], _ sent: Int, _ said: String
    ) async throws {
        let bench = try Bench(server: .hearing("yes"))
        let result = try await bench.start(["send"] + options + ["-"], input: .bytes(input))
            .result()
        #expect(result.status == .exited(0))
        #expect(result.errorText.contains(said))
        #expect(bench.requests.first?.body.count == sent)
    }

    @Test func whatTricklesInIsSentWhileItTrickles() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "yes"))
        let run = try Bench(server: server).start(["send", "-"], input: .pipe)
        let samples = try Clip.digits.samples
        run.write(Array(samples[..<3]))
        run.write(Array(samples[3..<8_001]))
        #expect(await server.wait(untilBytes: 8_000) != nil)
        #expect(server.requests.first?.lastChunkAt == nil)
        run.write(Array(samples[8_001...]))
        run.closeInput()
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(server.requests.first?.body == samples)
    }

    @Test(arguments: [("/tmp", "Is a directory"), ("&-", "Bad file descriptor")])
    func aStandardInputThatCannotBeReadIsStatus66(_ place: String, _ reason: String) async throws {
        let result = try await Bench().startShell("exec \"$0\" send - <\(place)", []).result()
        #expect(result.status == .exited(66))
        #expect(
            result.errorText.hasPrefix("utter: error: standard input cannot be read: \(reason)\n"),
            "\(result.errorText)")
    }

    @Test func aFileWhoseNameIsNotUTF8IsSent() async throws {
        let bench = try Bench(server: .hearing("heard"))
        let words = [bench.folder.path, Clip.digits.path]
        let result = try await bench.startShell(
            #"cp "$2" "$1/$(printf 'caf\351.wav')"; exec "$0" send "$1/$(printf 'caf\351.wav')""#,
            words
        ).result()
        #expect(result.outputText == "heard\n", "\(result.errorText)")
    }

    @Test(arguments: [["list", "--json"], ["--help"], ["--version"], ["setup", "binds", "sway"]])
    func aStandardOutputThatTakesNothingIsSaid(_ words: [String]) async throws {
        let result = try await Bench().here(words, output: "/dev/full")
        #expect(result.status == .exited(74))
        #expect(
            result.errorText
                == "utter: error: standard output takes nothing: No space left on device\n")
    }

    @Test func nothingOnStandardInputIsStatus65() async throws {
        let bench = try Bench()
        for input in [CommandRun.Input.nothing, .bytes([])] {
            let result = try await bench.run("send", "-", input: input)
            #expect(result.status == .exited(65))
            #expect(result.output.isEmpty)
            #expect(result.errorText.hasPrefix("utter: error: standard input is empty\n"))
        }
        #expect(try bench.takes().isEmpty)
    }

    @Test func aTerminalOnStandardInputIsNotWaitedFor() async throws {
        let result = try await Bench().run(
            "send", "-", input: .terminal, terminal: try PseudoTerminal())
        #expect(result.status == .exited(66))
        #expect(result.screenText.contains("standard input is a terminal"))
    }

    @Test func ctrlCEndsTheWaitForStandardInput() async throws {
        let bench = try Bench()
        let terminal = try PseudoTerminal()
        let run = try bench.start(["send", "-v", "-"], input: .pipe, terminal: terminal)
        // A signal that comes before anything is set up must be obeyed too.
        try terminal.type("\u{3}")
        let result = try await run.result()
        #expect([.signalled(SIGINT), .exited(130)].contains(result.status))
        #expect(result.output.isEmpty)
        #expect(try bench.takes().isEmpty)
    }

    // MARK: - Pace

    /// Ten minutes, of which a paced replay sends next to nothing before it is stopped.
    @Test(arguments: ["realtime", "2"])
    func aPacedFileIsSentAsItIsSpoken(_ pace: String) async throws {
        let bench = try Bench(server: .hearing("yes"))
        let path = try bench.folder.write(Self.tenMinutes, to: "long.wav")
        let run = try bench.start(["send", "--pace", pace, path])
        #expect(await bench.server?.wait(untilBytes: 16_000) != nil)
        run.signal(SIGUSR1)
        #expect(try await run.result().status == .exited(0))
        let request = try #require(bench.requests.first)
        #expect(request.body.count < Self.tenMinutes.count / 2)
    }

    private static let tenMinutes = WAVBytes.speech([Int16](repeating: 1, count: 9_600_000))
}
