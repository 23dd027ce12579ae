// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs

/// What opusinfo, opusdec and ffprobe say about our Ogg Opus.
@Suite struct OggOpusToolTests {
    @Test func opusdecDecodesAsManyFramesAsWentInForTwoHundredRandomLengths() throws {
        var random = SeededRandom()
        let folder = try TemporaryFolder()
        var lengths = [0, 1, 2, 100, 216, 217, 319, 320, 321, 1_600]
        while lengths.count < 200 { lengths.append(.random(in: 1...20_000, using: &random)) }
        let voice = TestSignal.voice(frames: 20_000, sampleRate: 16_000)
        for length in lengths {
            let samples = Array(voice.prefix(length))
            let pieces = random.pieces(of: length, upTo: 1_000)
            let bytes = try OggOpusEncoder().file(of: samples, in: pieces)
            let path = try folder.write(bytes, to: "audio.ogg")
            let raw = folder.path("audio.raw")
            try ForeignTool("opusdec").run(["--quiet", "--rate", "48000", path, raw])
            #expect(
                try folder.read("audio.raw").count == length * 3 * 2,
                "seed \(random.seed), \(length) samples")
        }
    }

    @Test(arguments: [0, 1, 319, 320, 321, 4_000, 16_000, 160_001])
    func opusinfoFindsNothingToComplainAbout(length: Int) throws {
        let folder = try TemporaryFolder()
        let samples = TestSignal.voice(frames: length, sampleRate: 16_000)
        let path = try folder.write(OggOpusEncoder().file(of: samples), to: "audio.ogg")
        let report = try ForeignTool("opusinfo").run([path])
        let words = (report.text + report.complaint).lowercased()
        #expect(!words.contains("warning") && !words.contains("error"), "\(words)")
        #expect(words.contains("pre-skip: 312"))
        #expect(words.contains("original sample rate: 16000"))
    }

    @Test(arguments: [1, 320, 4_000, 16_000, 160_001])
    func ffprobeAndFFmpegCountTheFramesThatWentIn(length: Int) throws {
        let folder = try TemporaryFolder()
        let samples = TestSignal.voice(frames: length, sampleRate: 16_000)
        let path = try folder.write(OggOpusEncoder().file(of: samples), to: "audio.ogg")
        let report = try ForeignTool("ffprobe").run([
            "-v", "warning", "-show_entries", "stream=codec_name,duration_ts", "-of", "csv=p=0",
            path,
        ])
        #expect(report.complaint == "")
        #expect(report.text == "opus,\(length * 3 + 312)\n")
        let decoded = try ForeignTool("ffmpeg").run([
            "-v", "warning", "-i", path, "-f", "s16le", "-ar", "48000", "-",
        ])
        #expect(decoded.complaint == "")
        #expect(decoded.samples.count == length * 3)
    }

    @Test func theDecodedVoiceIsTheRecordedOneWithoutDelay() throws {
        let folder = try TemporaryFolder()
        let samples = TestSignal.voice(frames: 48_000, sampleRate: 16_000)
        // At a rate at which the codec keeps the wave and not only its sound.
        let path = try folder.write(
            OggOpusEncoder(bitrate: 128_000).file(of: samples),
            to: "audio.ogg")
        let raw = folder.path("audio.raw")
        try ForeignTool("opusdec").run(["--quiet", "--rate", "48000", path, raw])
        let decoded = try ForeignTool("sox").run([
            "-t", "raw", "-r", "48000", "-e", "signed", "-b", "16", "-c", "1", raw,
            "-t", "s16", "-r", "16000", "-",
        ]).samples
        // The codec's high-pass filter turns the phase of low tones by up to a frame or two.
        let likeness = (-40...40).map { lag in
            TestSignal.correlation(
                Array(samples.dropFirst(100)), Array(decoded.dropFirst(100 + lag)))
        }
        let best = try #require(likeness.indices.max { likeness[$0] < likeness[$1] }) - 40
        #expect(abs(best) <= 2)
        #expect(likeness[best + 40] > 0.8)
    }

    @Test func aFileCutAnywhereStillDecodesUpToTheCut() throws {
        let folder = try TemporaryFolder()
        let samples = TestSignal.voice(frames: 32_000, sampleRate: 16_000)
        let bytes = try OggOpusEncoder().file(of: samples)
        let path = try folder.write(Array(bytes.prefix(bytes.count / 2)), to: "audio.ogg")
        let raw = folder.path("audio.raw")
        try ForeignTool("opusdec").run(["--quiet", "--rate", "48000", path, raw])
        let frames = try folder.read("audio.raw").count / 6
        #expect(frames > 12_000 && frames < 20_000)
    }
}
