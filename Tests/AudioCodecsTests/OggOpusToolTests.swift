// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs

/// What opusinfo, opusdec and ffprobe say about our Ogg Opus.
@Suite struct OggOpusToolTests {
    @Test func opusdecDecodesAsManyFramesAsWentInForTwoHundredRandomLengths() throws {
        var random = SeededRandom()
        var lengths = [0, 1, 2, 100, 216, 217, 319, 320, 321, 1_600]
        while lengths.count < 200 { lengths.append(.random(in: 1...20_000, using: &random)) }
        let voice = TestSignal.voice(frames: 20_000, sampleRate: 16_000)
        let folder = try TemporaryFolder()
        let paths = try lengths.enumerated().map { index, length in
            let pieces = random.pieces(of: length, upTo: 1_000)
            let file = try OggOpusEncoder().file(of: Array(voice.prefix(length)), in: pieces)
            return try folder.write(file, to: "\(index)")
        }
        let each = #"for file; do opusdec --quiet --rate 48000 - - < "$file" > "$file.raw"; done"#
        try ForeignTool("sh").run(["-ec", each, "sh"] + paths)
        for (index, length) in lengths.enumerated() {
            let count = try folder.read("\(index).raw").count
            #expect(count == length * 3 * 2, "seed \(random.seed), \(length) samples")
        }
    }

    @Test func opusinfoFFprobeAndFFmpegFindNothingToComplainAbout() throws {
        let folder = try TemporaryFolder()
        let lengths = [0, 1, 319, 320, 321, 4_000, 16_000, 160_001]
        let paths = try lengths.map { length in
            let samples = TestSignal.voice(frames: length, sampleRate: 16_000)
            return try folder.write(OggOpusEncoder().file(of: samples), to: "\(length).ogg")
        }
        let report = try ForeignTool("opusinfo").run(paths)
        let words = (report.text + report.complaint).lowercased()
        #expect(!words.contains("warning") && !words.contains("error"), "\(words)")
        #expect(words.ranges(of: "pre-skip: 312").count == lengths.count)
        #expect(words.ranges(of: "original sample rate: 16000").count == lengths.count)
        for (length, path) in zip(lengths, paths) where length > 0 {
            let probed = try ForeignTool("ffprobe").run([
                "-v", "warning", "-show_entries", "stream=codec_name,duration_ts", "-of",
                "csv=p=0", path,
            ])
            #expect(probed.complaint == "")
            #expect(probed.text == "opus,\(length * 3 + 312)\n")
            let decoded = try ForeignTool("ffmpeg").run([
                "-v", "warning", "-i", path, "-f", "s16le", "-ar", "48000", "-",
            ])
            #expect(decoded.complaint == "")
            #expect(decoded.samples.count == length * 3)
        }
    }

    @Test func theDecodedVoiceIsTheRecordedOneWithoutDelay() throws {
        let samples = TestSignal.voice(frames: 48_000, sampleRate: 16_000)
        // At a rate at which the codec keeps the wave and not only its sound.
        let decoded = try opusdecSpeech(OggOpusEncoder(bitrate: 128_000).file(of: samples))
        let best = bestLag(samples, decoded)
        // The codec's high-pass filter turns the phase of low tones by up to a frame or two.
        #expect(abs(best.lag) <= 2)
        #expect(best.likeness > 0.8)
    }

    @Test func aFileCutAnywhereStillDecodesUpToTheCut() throws {
        let samples = TestSignal.voice(frames: 32_000, sampleRate: 16_000)
        let bytes = try OggOpusEncoder().file(of: samples)
        let frames = try opusdec(Array(bytes.prefix(bytes.count / 2))).count / 3
        #expect(frames > 12_000 && frames < 20_000)
    }
}
