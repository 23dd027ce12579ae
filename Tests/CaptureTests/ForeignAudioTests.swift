// SPDX-License-Identifier: Apache-2.0

import AudioCore
import Glibc
import TestSupport
import Testing

@testable import Capture
@testable import LinuxPlatform

/// What we do not read ourselves, by the program `ffmpeg`.
@Suite struct ForeignAudioTests {
    private let folder: TemporaryFolder
    private static let converter = Converter(path: "/usr/bin/ffmpeg") { [] }

    init() throws { folder = try TemporaryFolder() }

    private func made(_ options: [String], _ input: String = Clip.goForward.path) throws -> String {
        let path = folder.path("made")
        try ForeignTool("ffmpeg").run(["-v", "error", "-y", "-i", input] + options + [path])
        return path
    }

    /// Sound as the program delivers it, of a file or as a pipe has it.
    private func counted(_ path: String, asPipe: Bool = false, _ more: [String] = []) throws -> Int
    {
        let words = ["-v", "error", "-i", asPipe ? "pipe:0" : path] + more
        let end = ["-ac", "1", "-ar", "16000", "-f", "s16le", "-"]
        let shell = #"cat "$0" | ffmpeg "$@""#
        return asPipe
            ? try ForeignTool("sh").run(["-c", shell, path] + words + end).samples.count
            : try ForeignTool("ffmpeg").run(words + end).samples.count
    }

    private func replay(_ path: String) -> FileReplay {
        FileReplay(path: path, pace: .unpaced, converter: Self.converter)
    }

    private func fromFile(_ path: String) throws -> Recorded {
        try replay(path).record(room: 9_999)
    }

    private func fromPipe(_ path: String) throws -> Recorded {
        let bytes = try readFile(path)
        let ends = try makePipe()
        let reading = OwnedDescriptor(taking: ends.reading)
        defer { withExtendedLifetime(reading) {} }
        let writer = try NamedThread(name: "test-feed") {
            _ = bytes.withUnsafeBytes { write(ends.writing, $0.baseAddress, $0.count) }
            close(ends.writing)
        }
        defer { writer.join() }
        return try FileReplay.samples(
            of: reading.number, name: "pipe", pace: .unpaced, converter: Self.converter
        ).record()
    }

    /// Options of the program, and whether a pipe has to be read to its end first.
    static let forms: [([String], isReadBackwards: Bool)] = [
        (["-c:a", "pcm_alaw", "-f", "wav"], false), (["-c:a", "adpcm_ms", "-f", "wav"], false),
        (["-c:a", "libmp3lame", "-f", "wav"], false), (["-f", "w64"], false),
        (["-f", "aiff"], true), (["-f", "caf"], true), (["-f", "au"], false),
        (["-f", "ipod"], true), (["-f", "mov"], true),
        (["-f", "ogg", "-c:a", "libvorbis"], false), (["-f", "ogg", "-c:a", "libspeex"], false),
        (["-f", "webm"], false), (["-f", "mp3"], false), (["-f", "adts"], false),
        (["-f", "latm", "-c:a", "aac"], false), (["-f", "ac3"], false), (["-f", "mpegts"], false),
        (["-f", "vob"], false), (["-f", "asf"], false), (["-f", "wv"], true),
        (["-f", "tta"], true), (["-f", "avi"], false),
        (["-f", "ogg", "-c:a", "libopus", "-ac", "6"], false),
        (["-f", "wav", "-ar", "44100", "-c:a", "pcm_mulaw", "-ac", "2"], false),
    ]

    @Test(arguments: forms)
    func aFileAndAPipeHaveTheFramesThatTheProgramReads(
        _ options: [String], _ isReadBackwards: Bool
    ) throws {
        let path = try made(options)
        let count = try counted(path)
        #expect(try fromFile(path).frameCount == count, "\(options)")
        let piped = isReadBackwards ? count : try counted(path, asPipe: true)
        #expect(try fromPipe(path).frameCount == piped, "\(options)")
    }

    @Test func aBigEndianWAVIsRead() throws {
        let path = folder.path("a.wav")
        try ForeignTool("sox").run([Clip.goForward.path, "-B", path])
        #expect(try readFile(path).starts(with: "RIFX".utf8))
        #expect(try fromFile(path).samples == fromFile(Clip.goForward.path).samples)
    }

    /// The program takes them for little-endian.
    @Test func aBigEndianWAVOfAnyOtherKindIsRefused() throws {
        let path = folder.path("a.wav")
        try ForeignTool("sox").run([Clip.goForward.path, "-B", path])
        let plain = Array(try readFile(path).prefix(9_000))
        var wide = plain
        (wide[33], wide[35]) = (3, 24)
        for bytes in [wide, plain[..<12] + Array("LIST\0\0\0\u{4}INFO".utf8) + plain[12...]] {
            let path = try folder.write(bytes, to: "b.wav")
            for read in [fromFile, fromPipe] {
                let error = #expect(throws: CaptureError.self) { try read(path) }
                #expect(error?.description.hasSuffix("convert it: sox FILE NEW.wav") == true)
            }
        }
    }

    @Test func whatTheProgramRepeatsIsToldInItsOwnWords() throws {
        var bytes = try readFile(try made(["-f", "ogg", "-c:a", "libvorbis"]))
        let place = bytes.count * 2 / 5
        for index in place..<place + 600 { bytes[index] = 0xA5 }
        let source = replay(try folder.write(bytes, to: "a.ogg"))
        _ = try source.record(room: 9_999)
        let warning = try #require(source.warning)
        #expect(!warning.contains("repeated"), "\(warning)")
    }

    /// The program itself says nothing of either.
    @Test(arguments: [["-f", "aiff"], ["-f", "wav", "-c:a", "pcm_alaw"]])
    func aFileOfAnotherLengthThanItsHeaderSaysIsTold(_ options: [String]) throws {
        let whole = try readFile(try made(options))
        func warning(_ bytes: [UInt8]) throws -> String? {
            let source = replay(try folder.write(bytes, to: "a"))
            _ = try source.record(room: 9_999)
            return source.warning
        }
        #expect(try warning(whole) == nil)
        let (joined, cut) = (try warning(whole + whole), try warning(Array(whole.dropLast(9_000))))
        let count = whole.count
        #expect(joined?.contains("has \(count) bytes behind the end that its header") ?? false)
        #expect(cut?.contains("ends 9000 bytes before its header says so") ?? false)
    }

    /// Opposite halves of a file, cut where a program before us has read.
    @Test func aFileIsReadFromWhereItIs() throws {
        let path = try made(["-f", "adts"])
        let whole = try counted(path)
        let bytes = Array("12345".utf8) + (try readFile(path))
        let file = Glibc.open(try folder.write(bytes, to: "behind"), O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        lseek(file, 5, SEEK_SET)
        let source = FileReplay.samples(
            of: file, name: "it", pace: .unpaced, converter: Self.converter)
        #expect(try source.record().frameCount == whole)
    }

    @Test(arguments: ["matroska", "mpegts"])
    func ofSeveralSoundsTheFirstIsTakenThatIsNotSilent(_ form: String) throws {
        let path = folder.path("two")
        let codec = form == "matroska" ? "libopus" : "aac"
        let silence = ["-f", "lavfi", "-t", "4", "-i", "anullsrc=r=48000:cl=stereo"]
        try ForeignTool("ffmpeg").run(
            ["-v", "error"] + silence + ["-i", Clip.goForward.path]
                + ["-map", "0:a", "-map", "1:a", "-c:a", codec, "-f", form, path])
        let heard = try fromFile(path)
        #expect(heard.samples.contains { $0.magnitude > 1_000 })
        #expect(try heard.frameCount == counted(path, ["-map", "0:a:1"]))
    }

    /// In front of a sound, and in a file of nothing else.
    @Test func silenceKeepsItsLength() throws {
        let late = try made(["-af", "adelay=1500:all=1", "-c:a", "pcm_alaw", "-f", "wav"])
        let delayed = try fromFile(late)
        #expect(delayed.samples.count == 24_000 + (try fromFile(Clip.goForward.path).samples.count))
        #expect(delayed.samples.prefix(24_000).allSatisfy { $0.magnitude <= 8 })
        // Also where less than a period is taken at a time.
        #expect(try replay(late).record(room: 300).frameCount == delayed.frameCount)
        let silent = try made(["-af", "volume=0", "-f", "matroska"])
        #expect(try fromFile(silent).frameCount == counted(silent))
    }

    /// A picture of a disc, and a font that is attached to a film, are neither read nor written.
    @Test(arguments: ["mp3", "ipod", "matroska"])
    func thingsBesideTheSoundAreLeftAlone(_ form: String) throws {
        let (picture, path) = (folder.path("picture.png"), folder.path("beside"))
        try ForeignTool("ffmpeg").run(
            ["-v", "error", "-f", "lavfi", "-i", "color=s=64x64", "-frames:v", "1", picture])
        let cover = [
            "-i", picture, "-map", "0", "-map", "1", "-c:v", "copy", "-disposition:v",
            "attached_pic",
        ]
        let font = ["-attach", picture, "-metadata:s:t", "mimetype=font/ttf"]
        try ForeignTool("ffmpeg").run(
            ["-v", "error", "-i", Clip.goForward.path] + (form == "matroska" ? font : cover)
                + ["-f", form, path])
        let names = try folder.names()
        #expect(try fromFile(path).frameCount == counted(path, ["-map", "0:a:0"]))
        #expect(try fromPipe(path).frameCount > 40_000)
        #expect(try folder.names() == names)
    }

    // MARK: - What is not read

    /// Names of other files and servers, in each form that has them, and what is no recording.
    private func hostile(_ secret: String, _ url: String) -> [String] {
        [
            "#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\n\(secret)\n#EXT-X-ENDLIST\n",
            "#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\n\(url)\n#EXT-X-ENDLIST\n",
            "ffconcat version 1.0\nfile '\(secret)'\n", "ffconcat version 1.0\nfile '\(url)'\n",
            "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=a\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 9 RTP/AVP 0\n",
            "<?xml version=\"1.0\"?><MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\"><Period>"
                + "<BaseURL>\(url)</BaseURL></Period></MPD>",
            "1\n00:00:01,000 --> 00:00:02,000\nhello\n", "[Script Info]\nTitle: a\n",
            ";FFMETADATA1\ntitle=a\n", "\u{1B}[1mtty\u{1B}[0m\n",
        ]
    }

    @Test func aFileThatNamesOthersOpensNone() throws {
        let server = try RecordingServer(otherwise: .answer(text: "a"))
        let secret = try folder.write(
            WAVBytes.speech([Int16](repeating: 9_000, count: 16_000)), to: "s")
        for text in hostile(secret, server.url()) {
            let path = try folder.write(Array(text.utf8), to: "a.mp3")
            // Its first bytes refuse it, and so does the program if they are not asked.
            #expect(throws: CaptureError.self) { try fromFile(path) }
            #expect(throws: CaptureError.self) { try fromPipe(path) }
            for isPipe in [false, true] {
                let pipe = isPipe ? try TestPipe(Array(text.utf8)) : nil
                #expect(throws: CaptureError.self, "\(text)") {
                    let reader =
                        try pipe.map {
                            try ByteReader(descriptor: $0.readEnd, name: "a", prefix: [])
                        } ?? ByteReader(opening: path)
                    _ = try ForeignAudio(Self.converter, reading: reader, kind: "MP3", name: "a")
                }
            }
        }
        #expect(server.requests.isEmpty)
    }

    /// A track of a film may name a file in which its samples are.
    @Test func aTrackInAnotherFileIsNotOpened() throws {
        var bytes = try readFile(try made(["-f", "mov", "-c:a", "pcm_s16le"]))
        let other = try folder.write([UInt8](repeating: 0x55, count: 90_000), to: "other")
        let place = try #require(bytes.firstRange(of: Array("url ".utf8)))
        // The reference is not to the file itself, whose samples are gone.
        bytes[place.upperBound + 3] = 0
        let data = try #require(bytes.firstRange(of: Array("mdat".utf8)))
        for index in data.upperBound..<data.upperBound + 80_000 { bytes[index] = 0 }
        let path = try folder.write(bytes, to: "a.mov")
        // A refusal is as good.
        let samples = (try? fromFile(path).samples) ?? []
        #expect(!samples.contains(0x5555), "\(other) was read")
    }

    @Test(arguments: [false, true])
    func aProgramThatNeverBeginsIsGivenUp(isPipe: Bool) async throws {
        let program = try folder.writeProgram("#!/bin/sh\nexec /bin/sleep 1000\n", to: "ffmpeg")
        let pipe = try TestPipe()
        defer { withExtendedLifetime(pipe) {} }
        let end = pipe.readEnd
        let failure = await onOwnThread { () -> CaptureError? in
            do throws(CaptureError) {
                let reader =
                    try isPipe
                    ? ByteReader(descriptor: end, name: "a", prefix: [])
                    : ByteReader(opening: "/dev/null")
                _ = try ForeignAudio(
                    Converter(path: program) { [] }, reading: reader, kind: "MP3",
                    name: "a.mp3", patience: .milliseconds(10))
            } catch {
                return error
            }
            return nil
        }
        #expect(failure == .readFailed(name: "a.mp3", reason: "ffmpeg delivers nothing"))
    }

    /// What the program reads is never a file that another thread has just opened.
    @Test(arguments: ["mp3", "ipod"])
    func aPipeIsReadWhateverOtherThreadsOpen(_ form: String) async throws {
        let path = try made(["-f", form])
        let expected = try fromFile(path).frameCount
        let counts = try await besideReusedNumbers {
            try (0..<5).map { _ in try fromPipe(path).frameCount }
        }
        #expect(counts.allSatisfy { abs($0 - expected) < 2_000 }, "\(counts), not \(expected)")
    }

    @Test func itMayUseSoMuchMemoryAndTime() throws {
        let script = "#!/bin/sh\necho $(ulimit -v) $(ulimit -t) >&2\nexit 3\n"
        let program = try folder.writeProgram(script, to: "ffmpeg")
        let path = try folder.write(Array("ID3\u{4}".utf8), to: "a.mp3")
        #expect(
            throws: CaptureError.unusableAudio(name: path, detail: "ffmpeg: 1048576 3600")
        ) {
            try FileReplay(
                path: path, pace: .unpaced, converter: Converter(path: program) { [] }
            ).open()
        }
    }
}

extension Recorded {
    fileprivate var frameCount: Int { samples.count / max(1, format.channelCount) }
}
