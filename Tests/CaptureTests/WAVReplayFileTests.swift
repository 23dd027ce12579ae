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
        ("ffmpeg", 16_000, 3, ["-c:a", "pcm_s24le"]),
        ("ffmpeg", 44_100, 2, ["-c:a", "pcm_f32le"]),
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

    private static let samples = TestSignal.voice(frames: 5_000, sampleRate: 16_000)
    private static let format = WAVBytes.chunk("fmt ", WAVBytes.format())

    private static let data = WAVBytes.chunk("data", WAVBytes.pcm(samples))
    /// Longer than what is read at once.
    private static let list = WAVBytes.chunk("LIST", [UInt8](repeating: 0x55, count: 10_001))
    private static let whole = WAVBytes.speech(samples)

    /// Bytes, how many frames come of them, and what the warning says of them; nil without one.
    @Test(
        arguments: [
            ("chunks around", WAVBytes.file([list, format, list, data, list]), 5_000, nil),
            ("unknown length", claiming(0xFFFF_FFFF, 0xFFFF_FFFF), 5_000, nil),
            (
                "cut off", Array(whole.prefix(44 + 4_001)), 2_000,
                "breaks off; what is there was taken"
            ),
            ("no frames", WAVBytes.speech([]), 0, nil),
            (
                "no frames before a chunk",
                WAVBytes.file([format, WAVBytes.chunk("data", []), list]), 0, nil
            ),
            (
                "a frame that is not whole",
                WAVBytes.file([format, WAVBytes.chunk("data", WAVBytes.pcm(samples) + [9])]),
                5_000, "has sound that ends within a frame"
            ),
            (
                "a second piece", WAVBytes.file([format, data, list, data]), 10_000,
                "has a second piece of audio at byte 20054"
            ),
        ] as [(String, [UInt8], Int, String?)])
    func whatThereIsIsPlayed(
        _ what: String, _ bytes: [UInt8], _ count: Int, _ warning: String?
    ) throws {
        let path = try folder.write(bytes, to: "bytes.wav")
        let source = FileReplay(path: path, pace: .unpaced)
        let expected = Array((Self.samples + Self.samples).prefix(count))
        #expect(try source.record().samples == expected)
        #expect(source.warning == warning.map { "'\(path)' \($0)" })
        // A pipe must give the same, and for the same reason.
        let pipe = try TestPipe(bytes)
        let piped = FileReplay.samples(of: pipe.readEnd, name: path, pace: .unpaced)
        #expect(try piped.record().samples == expected)
        #expect(piped.warning == source.warning)
    }

    /// A file that claims lengths.
    private static func claiming(_ riff: Int, _ size: Int) -> [UInt8] {
        let data = WAVBytes.chunk("data", WAVBytes.pcm(samples), claimed: size)
        return WAVBytes.file([format, data], claimed: riff)
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
}
