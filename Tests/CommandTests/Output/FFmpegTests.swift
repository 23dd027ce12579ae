// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Capture
@testable import LinuxPlatform
@testable import UtterCommands

/// Forms that we do not read ourselves, by the program `ffmpeg`.
@Suite struct FFmpegTests {
    private let server: RecordingServer
    private let bench: Bench

    init() throws {
        server = try .hearing("heard")
        bench = try Bench(server: server)
    }

    private func encoded(_ form: [String]) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let path = folder.path("out")
        try ForeignTool("ffmpeg").run(["-v", "error", "-i", Clip.digits.path] + form + [path])
        return try readFile(path)
    }

    private static let forms: [(String, [String])] = [
        ("a.mp3", ["-f", "mp3"]), ("a.m4a", ["-f", "ipod"]),
        ("a.ogg", ["-c:a", "libvorbis", "-f", "ogg"]), ("a.webm", ["-f", "webm"]),
    ]

    @Test(arguments: forms + [("-", ["-f", "mp3"])])
    func aFileOrStandardInputIsHeardAsItWasSpoken(_ name: String, _ form: [String]) async throws {
        let bytes = try encoded(form)
        let file = try name == "-" ? name : bench.folder.write(bytes, to: name)
        let result = try await bench.run(
            "send", file, input: name == "-" ? .bytes(bytes) : .nothing)
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.outputText == "heard\n")
        // A lossy form may begin and end a frame or two off.
        let (sent, spoken) = (server.requests[0].body, try Clip.digits.samples.count)
        #expect(abs(sent.count - spoken) < 16_000 / 4, "\(sent.count) of \(spoken)")
        if name == "a.mp3" {
            let raw = try ForeignTool("ffmpeg").run(
                ["-v", "error", "-i", file, "-f", "s16le", "-ac", "1", "-ar", "16000", "-"])
            #expect(sent == raw.output)
        }
    }

    /// Its index stands behind the sound, further than what a pipe lets the program look back.
    @Test func anMP4FileIsReadFromStandardInputAndNotFromAPipe() async throws {
        let path = bench.folder.path("a.m4a")
        try ForeignTool("ffmpeg").run(
            ["-v", "error", "-stream_loop", "9", "-i", Clip.speech.path, path])
        let file = try await bench.startShell(
            #"exec "$0" "$@" <"# + path, ["send", "-q", "-"]
        ).result()
        #expect(file.outputText == "heard\n", "\(file.errorText)")
        let pipe = try await bench.startShell(
            "cat \(path) | " + #""$0" "$@""#, ["send", "-q", "-"]
        ).result()
        #expect(pipe.status == .exited(65))
        #expect(pipe.errorText.contains("MP4 is read from a file, not from a pipe"))
    }

    /// What the program reads is never a file that another thread has just opened.
    @Test(arguments: [forms[0], forms[1], forms[3]])
    func aPipeIsReadWhateverOtherThreadsOpen(_ name: String, _ form: [String]) async throws {
        let bytes = try encoded(form)
        let program = try #require(FFmpegDecoder.program)
        let counts = try await besideReusedNumbers {
            try (0..<5).map { _ in
                let ends = try makePipe()
                let reading = OwnedDescriptor(taking: ends.reading)
                defer { withExtendedLifetime(reading) {} }
                let feed = try NamedThread(name: "test-feed") {
                    _ = bytes.withUnsafeBytes { write(ends.writing, $0.baseAddress, $0.count) }
                    close(ends.writing)
                }
                defer { feed.join() }
                let decoder = FFmpegDecoder(
                    program, .pipe(reading.number, prefix: []), name: name, pace: .unpaced)
                return try Self.frameCount(of: decoder)
            }
        }
        let spoken = try Clip.digits.samples.count / 2
        #expect(counts.allSatisfy { abs($0 - spoken) < 2_000 }, "\(counts) of \(spoken)")
    }

    @Test(arguments: [false, true])
    func aProgramThatNeverBeginsIsGivenUp(isPipe: Bool) async throws {
        let desk = try TemporaryFolder()
        let program = try desk.writeProgram("#!/bin/sh\nexec /bin/sleep 1000\n", to: "ffmpeg")
        let failure = await onOwnThread { () -> CaptureError? in
            let decoder = FFmpegDecoder(
                program, isPipe ? .pipe(STDIN_FILENO, prefix: [1]) : .file("/dev/null"),
                name: "a.mp3", pace: .unpaced, patience: .milliseconds(10))
            do {
                _ = try Self.frameCount(of: decoder)
            } catch {
                return error as? CaptureError
            }
            return nil
        }
        #expect(failure == .readFailed(name: "a.mp3", reason: "ffmpeg delivers nothing"))
    }

    private static func frameCount(of decoder: FFmpegDecoder) throws -> Int {
        _ = try decoder.open()
        defer { decoder.close() }
        var (count, buffer) = (0, [Int16](repeating: 0, count: 16_000))
        while true {
            var room = buffer.mutableSpan
            let due: ContinuousClock.Instant
            switch try decoder.read(into: &room) {
            case .frames(let frames):
                count += frames
                continue
            case .gap, .end: return count
            case .wait(.forDescriptors): due = .now + .patience
            case .wait(.forDescriptorsOrUntil(let instant)), .wait(.until(let instant)):
                due = instant
            }
            var events: [pollfd] = []
            decoder.appendPollDescriptors(to: &events)
            let pause = WorkerPause.until(due).milliseconds
            _ = poll(&events, nfds_t(events.count), pause)
        }
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
        let script = "#!/bin/sh\n/usr/bin/head -c 32000 /dev/zero\necho 'it broke' >&2\nexit 9\n"
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

    @Test func aFileCannotHaveOthersRead() async throws {
        // A playlist of another file; its first bytes do not say so, and what it names is not opened.
        let list = "#EXTM3U\n#EXTINF:3,\n\(server.url())/secret.mp3\n"
        let file = try bench.folder.write(Array(list.utf8), to: "a.mp3")
        let result = try await bench.run("send", file)
        #expect(result.status == .exited(65))
        #expect(server.requests.isEmpty)
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
        #expect(kill(try #require(process), 0) == -1)
    }
}
