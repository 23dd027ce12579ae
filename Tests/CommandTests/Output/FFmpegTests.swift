// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Forms that we do not read ourselves, by the program `ffmpeg`.
@Suite struct FFmpegTests {
    private let server: RecordingServer
    private let bench: Bench

    init() throws {
        server = try .hearing("heard")
        bench = try Bench(server: server)
    }

    /// Writes a clip in another form, and returns the file's path.
    private func encode(_ form: [String], to name: String) throws -> String {
        let path = bench.folder.path(name)
        try ForeignTool("ffmpeg").run(["-v", "error", "-i", Clip.digits.path] + form + [path])
        return path
    }

    @Test func aFileIsHeardAsItWasSpoken() async throws {
        let file = try encode(["-f", "mp3"], to: "a.mp3")
        let result = try await bench.run("send", file)
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.outputText == "heard\n")
        // A lossy form may begin and end a frame or two off.
        let (sent, spoken) = (server.requests[0].body, try Clip.digits.samples.count)
        #expect(abs(sent.count - spoken) < 16_000 / 4, "\(sent.count) of \(spoken)")
        let raw = try ForeignTool("ffmpeg").run(
            ["-v", "error", "-i", file, "-f", "s16le", "-ac", "1", "-ar", "16000", "-"])
        #expect(sent == raw.output)
    }

    /// Its index stands behind the sound, further than what a pipe lets the program look back.
    @Test func anMP4FileIsReadFromStandardInputAndFromAPipe() async throws {
        let path = bench.folder.path("a.m4a")
        try ForeignTool("ffmpeg").run(
            ["-v", "error", "-stream_loop", "9", "-i", Clip.speech.path, path])
        for script in [#"exec "$0" "$@" <"$HOME/a.m4a""#, #"cat "$HOME/a.m4a" | "$0" "$@""#] {
            let result = try await bench.startShell(script, ["send", "-q", "-"]).result()
            #expect(result.outputText == "heard\n", "\(result.errorText)")
            let request = try #require(server.requests.last)
            #expect(request.body.count / 32_000 == 110)
        }
        #expect(server.requests.count == 2)
    }

    /// A transport stream, as programs that fetch films write it.
    @Test func aStreamInAPipeIsHeardAsItsFileIs() async throws {
        let file = try encode(["-f", "mpegts"], to: "a.ts")
        let bytes = try readFile(file)
        for (name, input) in [(file, CommandRun.Input.nothing), ("-", .bytes(bytes))] {
            #expect(try await bench.run("send", name, input: input).status == .exited(0))
        }
        #expect(server.requests[0].body == server.requests[1].body)
        #expect(server.requests[0].body.count / 2 > 38_000)
    }

    /// Files that are no sound, and what they are called.
    static let notSound: [([UInt8], String)] = [
        (
            Array("<!DOCTYPE html><html><body>\(String(repeating: "a", count: 90))".utf8),
            "a web page (HTML)"
        ),
        (Array("{\"error\": \"there is no such file\"}".utf8), "JSON"),
        (Array("Go on, nothing to hear".utf8), "text"),
        (Array("#!/bin/sh\necho\n".utf8), "a script"),
        (Array("%PDF-1.7\n%\u{E2}\u{E3}".utf8), "a PDF document"),
        ([0x1F, 0x8B, 8, 0], "packed by gzip"),
        (Array("\u{7F}ELF\u{2}\u{1}\u{1}".utf8), "a program"),
        ([0xFF, 0xD8, 0xFF, 0xE0, 0, 16], "a picture"),
        (Array("SQLite format 3\0".utf8), "a database"),
        (Array("#EXTM3U\n#EXTINF:3,\nhttp://127.0.0.1:9/secret.mp3\n".utf8), "a playlist"),
    ]

    @Test func filesThatAreNoSoundAreRefusedByTheirKinds() async throws {
        let files = try Self.notSound.enumerated().map { number, file in
            try bench.folder.write(file.0, to: "\(number).wav")
        }
        let result = try await bench.start(["send"] + files).result()
        #expect(result.status == .exited(65), "\(result.errorText)")
        for (_, kind) in Self.notSound {
            let words = "is \(kind), and not sound: nothing is sent"
            #expect(result.errorText.contains(words), "\(result.errorText)")
        }
        #expect(server.requests.isEmpty)
    }

    /// Text, and a signature.
    @Test(arguments: [notSound[2], notSound[5]])
    func aPipeThatIsNoSoundIsRefusedUnlessItIsSaidToBeSamples(
        _ bytes: [UInt8], _ kind: String
    ) async throws {
        let result = try await bench.run("send", "-", input: .bytes(bytes))
        #expect(result.status == .exited(65), "\(result.errorText)")
        #expect(result.errorText.contains("is \(kind), and not sound: nothing is sent"))
        #expect(server.requests.isEmpty)
        let raw = try await bench.run("send", "--rate", "16000", "-", input: .bytes(bytes))
        #expect(raw.status == .exited(0), "\(raw.errorText)")
        #expect(server.requests[0].body.count == bytes.count / 2 * 2)
    }

    @Test func aVoiceThatAMixWouldLoseIsTakenFromOneChannelAndSaid() async throws {
        let opposite = try encode(["-af", "pan=stereo|c0=c0|c1=-1*c0", "-f", "wav"], to: "a.wav")
        let result = try await bench.run("send", "--json", opposite)
        #expect(server.requests[0].body == (try Clip.digits.samples))
        #expect(result.outputText.contains("a mix of the channels would have lost a voice"))
        let silence = try await bench.run(
            "send", try encode(["-af", "volume=0", "-f", "wav"], to: "b.wav"))
        #expect(silence.errorText.contains("the recording is nothing but digital silence"))
    }

    @Test func itsWordsAreRepeated() async throws {
        let file = try bench.folder.write(
            Array("ID3\u{4}".utf8) + [UInt8](repeating: 0, count: 200), to: "a.mp3")
        let result = try await bench.run("send", file)
        #expect(result.status == .exited(65))
        #expect(
            result.errorText.contains("utter: error: '\(file)' is not usable audio: ffmpeg: "),
            "\(result.errorText)")
        #expect(result.hasPlainErrors)
    }

    @Test func aProgramThatBreaksInTheMiddleIsSaidAndWhatItReadIsSent() async throws {
        let desk = try TemporaryFolder()
        // A header, and a second of sound.
        let header =
            #"RIFF\377\377\377\377WAVEfmt \020\0\0\0\1\0\1\0\200\076\0\0\0\175\0\0\2\0\020\0data\377\377\377\377"#
        let script = """
            #!/bin/sh
            printf '\(header)'
            /usr/bin/head -c 32000 /dev/zero | /usr/bin/tr '\\0' a
            echo 'it broke' >&2
            exit 9
            """
        try desk.writeProgram(script, to: "ffmpeg")
        let server = try RecordingServer(otherwise: .answer(text: "a second"))
        let bench = try Bench(server: server, ["PATH": desk.path])
        let file = try bench.folder.write(Array("ID3\u{4}".utf8), to: "a.mp3")
        let result = try await bench.run("send", file)
        #expect(result.status == .exited(74), "\(result.errorText)")
        #expect(result.outputText == "a second\n")
        #expect(server.requests.first?.body.count == 32_000)
        #expect(result.errorText.contains("reading '\(file)' failed: ffmpeg: it broke"))
    }

    @Test func theProgramGoesWithTheTake() async throws {
        let desk = try TemporaryFolder()
        let mark = desk.path("pid")
        let script = "#!/bin/sh\necho $$ >'\(mark)'\nexec /bin/sleep 1000\n"
        try desk.writeProgram(script, to: "ffmpeg")
        let bench = try Bench(["PATH": desk.path])
        let file = try bench.folder.write(Array("ID3\u{4}".utf8), to: "a.mp3")
        let run = try bench.start(["send", file])
        // It may not have begun.
        #expect(await comesTrue { (try? readFile(mark))?.last == 0x0A })
        let process = pid_t(String(decoding: try readFile(mark).dropLast(), as: UTF8.self))
        run.signal(SIGINT)
        let result = try await run.result()
        #expect(result.status == .exited(130))
        let number = try #require(process)
        #expect(await comesTrue { kill(number, 0) == -1 })
    }
}
