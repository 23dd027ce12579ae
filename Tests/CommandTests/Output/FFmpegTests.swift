// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Forms that we do not read ourselves, by the program `ffmpeg`.
@Suite struct FFmpegTests {
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

    @Test(arguments: forms)
    func aFileIsHeardAsItWasSpoken(_ name: String, _ form: [String]) async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench(server: server)
        let file = try bench.folder.write(try encoded(form), to: name)
        let result = try await bench.run("send", file)
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.outputText == "heard\n")
        // A lossy form may begin and end a frame or two off.
        let (sent, spoken) = (server.requests[0].body.count, try Clip.digits.samples.count)
        #expect(abs(sent - spoken) < 16_000 / 4, "\(sent) of \(spoken)")
    }

    @Test func whatIsReadIsWhatFFmpegMakesOfIt() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench(server: server)
        let file = try bench.folder.write(try encoded(["-f", "mp3"]), to: "a.mp3")
        let raw = try ForeignTool("ffmpeg").run(
            ["-v", "error", "-i", file, "-f", "s16le", "-ac", "1", "-ar", "16000", "-"])
        _ = try await bench.run("send", file)
        #expect(server.requests.first?.body == raw.output)
    }

    @Test func standardInputIsReadToo() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bytes = try encoded(["-f", "mp3"])
        let run = try Bench(server: server).start(["send", "-"], input: .bytes(bytes))
        let result = try await run.result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(abs(server.requests[0].body.count - (try Clip.digits.samples.count)) < 4_000)
    }

    @Test func withoutTheProgramTheMessageNamesIt() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "no"))
        let bench = try Bench(server: server, ["PATH": "/nowhere"])
        let file = try bench.folder.write(try encoded(["-f", "mp3"]), to: "a.mp3")
        let result = try await bench.run("send", file)
        #expect(result.status == .exited(65))
        #expect(
            result.errorText == """
                utter: error: '\(file)' is MP3, which utter does not read
                utter: hint: install the program ffmpeg, by which utter reads it: sudo apt install \
                ffmpeg

                """)
        #expect(try bench.takes().isEmpty)
    }

    @Test func itsWordsAreRepeated() async throws {
        let bench = try Bench()
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
        chmod(try desk.write(Array(script.utf8), to: "ffmpeg"), 0o700)
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
        let server = try RecordingServer(otherwise: .answer(text: "no"))
        let bench = try Bench(server: server)
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
        chmod(try desk.write(Array(script.utf8), to: "ffmpeg"), 0o700)
        let bench = try Bench(["PATH": desk.path])
        let file = try bench.folder.write(Array("ID3\u{4}".utf8), to: "a.mp3")
        let run = try bench.start(["send", file])
        let process = await onOwnThread { () -> pid_t? in
            let deadline = MonotonicTime.now + .patience
            while MonotonicTime.now < deadline {
                // It may not have begun.
                if let bytes = try? readFile(mark), bytes.last == 0x0A {
                    return pid_t(String(decoding: bytes.dropLast(), as: UTF8.self))
                }
                poll(nil, 0, 10)
            }
            return nil
        }
        run.signal(SIGINT)
        let result = try await run.result()
        #expect(result.status == .exited(130))
        #expect(kill(try #require(process), 0) == -1)
    }
}
