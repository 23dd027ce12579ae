// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import AudioCore
@testable import Capture

@Suite struct WAVReplayFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func converted(_ recorded: Recorded) throws -> [Int16] {
        let converter = try SpeechConverter(from: recorded.format, quality: .recording)
        var output: [Int16] = []
        try converter.convert(recorded.samples.span, into: &output)
        try converter.finish(into: &output)
        return output
    }

    /// A voice of two seconds, made into `odd.wav` by one of the tools.
    private func make(_ tool: String, rate: Int, channels: Int, _ options: [String]) throws
        -> String
    {
        let samples = TestSignal.voice(
            frames: 2 * rate, sampleRate: rate, channelCount: channels)
        let source = try folder.write(
            WAVBytes.speech(samples, rate: rate, channels: channels), to: "plain.wav")
        let path = folder.path("odd.wav")
        try ForeignTool(tool).run(
            tool == "sox"
                ? ["-D", source] + options + [path]
                : ["-v", "error", "-y", "-i", source] + options + [path])
        return path
    }

    static let oddities: [(tool: String, rate: Int, channels: Int, options: [String])] = [
        ("sox", 16_000, 1, ["-e", "unsigned", "-b", "8"]),
        ("sox", 16_000, 1, ["-e", "signed", "-b", "24"]),
        ("sox", 16_000, 1, ["-e", "signed", "-b", "32"]),
        ("sox", 16_000, 1, ["-e", "floating-point", "-b", "32"]),
        ("sox", 16_000, 1, ["-e", "floating-point", "-b", "64"]),
        ("sox", 16_000, 2, ["-e", "signed", "-b", "24"]),
        ("ffmpeg", 16_000, 1, ["-rf64", "always", "-c:a", "pcm_s16le"]),
        ("ffmpeg", 16_000, 1, ["-metadata", "title=odd", "-c:a", "pcm_s16le"]),
        ("ffmpeg", 16_000, 3, ["-c:a", "pcm_s24le"]),
        ("ffmpeg", 44_100, 2, ["-c:a", "pcm_f32le"]),
        ("ffmpeg", 8_000, 1, ["-c:a", "pcm_u8"]),
        ("ffmpeg", 48_000, 6, ["-c:a", "pcm_s32le"]),
        ("sox", 22_050, 1, ["-e", "signed", "-b", "16"]),
        ("sox", 96_000, 2, ["-e", "signed", "-b", "24"]),
    ]

    @Test(arguments: oddities.indices)
    func soxMakesTheSameOfEveryOddFile(index: Int) throws {
        let odd = Self.oddities[index]
        let path = try make(odd.tool, rate: odd.rate, channels: odd.channels, odd.options)
        let source = FileReplay(path: path, pace: .unpaced)
        let ours = try converted(source.record())
        let expected = try ForeignTool("sox").run([
            "-D", path, "-t", "s16", "-r", "16000", "-c", "1", "-",
        ]).samples
        #expect(ours.count == expected.count, "\(odd)")
        if odd.rate == 16_000 {
            let allowed = odd.channels == 1 ? 0 : 1
            #expect(TestSignal.maximumDifference(ours, expected) <= allowed, "\(odd)")
        } else {
            #expect(TestSignal.correlation(ours, expected) > 0.999, "\(odd)")
        }
        #expect(source.warning == nil)
    }

    @Test(arguments: [(16_000, 1), (48_000, 1), (44_100, 1), (8_000, 1)])
    func ffmpegMakesTheSameOfPlainFiles(rate: Int, channels: Int) throws {
        let path = try make("ffmpeg", rate: rate, channels: channels, ["-c:a", "pcm_s16le"])
        let ours = try converted(FileReplay(path: path, pace: .unpaced).record())
        let expected = try ForeignTool("ffmpeg").run([
            "-v", "error", "-i", path, "-ar", "16000", "-ac", "1", "-f", "s16le", "-",
        ]).samples
        #expect(abs(ours.count - expected.count) <= (rate == 16_000 ? 0 : 1))
        #expect(TestSignal.correlation(ours, expected) > (rate == 16_000 ? 0.999_999 : 0.99))
    }

    private static let samples = TestSignal.voice(frames: 5_000, sampleRate: 16_000)
    private static let format = WAVBytes.chunk("fmt ", WAVBytes.format())

    private func replayed(_ bytes: [UInt8]) throws -> (samples: [Int16], warning: String?) {
        let path = try folder.write(bytes, to: "bytes.wav")
        let source = FileReplay(path: path, pace: .unpaced)
        let samples = try source.record().samples
        // A pipe must give the same, and for the same reason.
        let pipe = try TestPipe(bytes)
        let piped = FileReplay.samples(of: pipe.readEnd, name: path, pace: .unpaced)
        #expect(try piped.record().samples == samples)
        #expect(piped.warning == source.warning)
        return (samples, source.warning)
    }

    @Test func chunksAroundTheDataAreNotPlayed() throws {
        let data = WAVBytes.chunk("data", WAVBytes.pcm(Self.samples))
        let list = WAVBytes.chunk("LIST", [UInt8](repeating: 0x55, count: 4_001))
        let (samples, warning) = try replayed(
            WAVBytes.file([list, Self.format, list, data, list]))
        #expect(samples == Self.samples)
        #expect(warning == nil)
    }

    @Test(arguments: [(0xFFFF_FFFF, 0xFFFF_FFFF), (0x7FFF_F024, 0x7FFF_F000), (0, 0), (36, 0)])
    func anUnknownLengthGoesToTheEnd(riff: Int, size: Int) throws {
        let data = WAVBytes.chunk("data", WAVBytes.pcm(Self.samples), claimed: size)
        let (samples, warning) = try replayed(
            WAVBytes.file([Self.format, data], claimed: riff))
        #expect(samples == Self.samples)
        #expect(warning == nil)
    }

    @Test func aTruncatedFileYieldsWhatIsThereAndAWarning() throws {
        let whole = WAVBytes.speech(Self.samples)
        let (samples, warning) = try replayed(Array(whole.prefix(44 + 4_001)))
        #expect(samples == Array(Self.samples.prefix(2_000)))
        #expect(
            warning?.hasSuffix(
                "ends after 4001 of the 10000 bytes of audio that its header promises")
                == true)
    }

    @Test func aFileOfNoFramesIsEmptyAndNotAnError() throws {
        #expect(try replayed(WAVBytes.speech([])).samples == [])
        let data = WAVBytes.chunk("data", [])
        let list = WAVBytes.chunk("LIST", [1, 2, 3, 4])
        #expect(try replayed(WAVBytes.file([Self.format, data, list])).samples == [])
    }

    @Test func anIncompleteLastFrameIsLeftOutWithAWarning() throws {
        let bytes = WAVBytes.pcm(Self.samples) + [9]
        let (samples, warning) = try replayed(
            WAVBytes.file([Self.format, WAVBytes.chunk("data", bytes)]))
        #expect(samples == Self.samples)
        #expect(warning?.contains("less than a frame") == true)
    }

    @Test func aHoleOfFourGigabytesBeforeTheDataIsSeekedOver() throws {
        // A sparse file: the chunk takes no room on disk, and no time when it is skipped.
        let size = 0xFFFF_FF00
        let path = try folder.write(
            WAVBytes.file([Self.format, WAVBytes.chunk("JUNK", [], claimed: size)]), to: "big.wav")
        let tail = WAVBytes.chunk("data", WAVBytes.pcm(Self.samples))
        let file = Glibc.open(path, O_WRONLY | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        let offset = off_t(12 + 24 + 8 + size)
        #expect(pwrite(file, tail, tail.count, offset) == tail.count)
        #expect(try FileReplay(path: path, pace: .unpaced).record().samples == Self.samples)
    }

    @Test func aSharedFileDescriptorIsReadFromWhereItStandsAndLeftThere() throws {
        let path = try folder.write([1, 2, 3] + WAVBytes.speech(Self.samples), to: "shifted")
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        lseek(file, 3 + 4, SEEK_SET)
        let prefix = Array("RIFF".utf8)
        let source = FileReplay.samples(of: file, name: "it", pace: .unpaced, prefix: prefix)
        #expect(try source.record().samples == Self.samples)
        #expect(lseek(file, 0, SEEK_CUR) == 7)
    }

    @Test func whatCannotBeOpenedSaysWhy() throws {
        let missing = folder.path("missing.wav")
        #expect(throws: CaptureError.cannotOpen(name: missing, reason: "No such file or directory"))
        {
            try FileReplay(path: missing).open()
        }
        #expect(throws: CaptureError.cannotOpen(name: folder.path, reason: "it is a folder")) {
            try FileReplay(path: folder.path).open()
        }
        let text = try folder.write(Array("hello, this is not audio".utf8), to: "text.wav")
        #expect(
            throws: CaptureError.unusableAudio(
                name: text, detail: "this is no audio: it begins like text, with 'hell'")
        ) {
            try FileReplay(path: text).open()
        }
        let short = try folder.write(Array(WAVBytes.speech([]).prefix(30)), to: "short.wav")
        #expect(
            throws: CaptureError.unusableAudio(
                name: short, detail: "byte 30: the file ends before its data chunk")
        ) {
            try FileReplay(path: short).open()
        }
        let cut = try folder.write(
            WAVBytes.file([Self.format, WAVBytes.chunk("LIST", [1], claimed: 1 << 31)]),
            to: "cut.wav")
        #expect(
            throws: CaptureError.unusableAudio(
                name: cut, detail: "byte 46: the file ends before its data chunk")
        ) {
            try FileReplay(path: cut).open()
        }
    }

    @Test func aSecondPieceOfAudioIsSaidToBeLeftOut() throws {
        let samples: [Int16] = (0..<800).map { Int16($0) }
        let data = WAVBytes.chunk("data", WAVBytes.pcm(samples))
        let note = WAVBytes.chunk("LIST", [1, 2, 3])
        for (chunks, isOdd) in [([data, note, data], true), ([data, note], false)] {
            let path = try folder.write(
                WAVBytes.file([Self.format] + chunks), to: "two-\(isOdd).wav")
            let source = FileReplay(path: path, pace: .unpaced)
            let recorded = try source.record()
            #expect(recorded.samples == samples)
            let warning = isOdd ? "'\(path)' has a second piece of audio, which is left out" : nil
            #expect(source.warning == warning)
        }
    }
}
