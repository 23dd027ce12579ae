// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs

/// What the program `flac` says about our FLAC, and what it makes of it.
@Suite struct FLACEncoderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The samples that `flac` decodes, which must have nothing to complain about.
    private func decoded(_ bytes: [UInt8]) throws -> [Int16] {
        let path = try folder.write(bytes, to: "audio.flac")
        let result = try ForeignTool("flac").run([
            "-s", "-d", "-c", "--force-raw-format", "--endian=little", "--sign=signed", path,
        ])
        // While it grows a file knows no sum.
        let complaint = result.complaint.replacing(
            "audio.flac: WARNING, cannot check MD5 signature since it was unset in the STREAMINFO\n",
            with: "")
        #expect(complaint == "")
        return result.samples
    }

    @Test func samplesOfAnyLengthComeBackAsTheyWere() throws {
        var random = SeededRandom()
        let voice = TestSignal.voice(frames: 20_000, sampleRate: 16_000)
        let noise = random.noise(count: 20_000)
        let lengths =
            [1, 2, 16, 318, 319, 320, 638, 639, 16_000]
            + (0..<60).map { _ in Int.random(in: 1...20_000, using: &random) }
        for length in lengths {
            for source in [voice, noise] {
                let samples = Array(source.prefix(length))
                let pieces = random.pieces(of: length, upTo: 1_000)
                let bytes = try FLACEncoder().file(of: samples, in: pieces)
                #expect(try decoded(bytes) == samples, "seed \(random.seed), \(length)")
            }
        }
    }

    @Test(.spec("RFC 9639 §8.2"))
    func theHeaderSaysTheTotalsWhenTheyAreKnown() throws {
        let samples = TestSignal.voice(frames: 40_001, sampleRate: 16_000)
        let encoder = try FLACEncoder()
        var bytes = try encoder.file(of: samples)
        let header = try #require(encoder.settledHeader)
        #expect(Array(bytes[..<8]) == Array(header[..<8]))
        let unknown = try folder.write(bytes, to: "unknown.flac")
        bytes.replaceSubrange(..<header.count, with: header)
        let known = try folder.write(bytes, to: "known.flac")
        let show = ["--show-total-samples", "--show-md5sum", "--show-max-blocksize"]
        let none = String(repeating: "0", count: 32)
        #expect(try ForeignTool("metaflac").run(show + [unknown]).text == "0\n\(none)\n319\n")
        let told = try ForeignTool("metaflac").run(show + [known]).text
        #expect(told.hasPrefix("40001\n") && !told.contains(none))
        // With the sum it compares what it has decoded.
        #expect(try ForeignTool("flac").run(["-w", "-s", "-t", known]).complaint == "")
        #expect(try decoded(bytes) == samples)
    }

    @Test(.spec("RFC 9639 §7"))
    func eachFrameSaysWhatItTakesToDecodeIt() throws {
        let samples = TestSignal.voice(frames: 3_190, sampleRate: 16_000)
        let frames = try FLACFile(FLACEncoder().file(of: samples)).frames
        #expect(frames.count == 10)
        for (number, frame) in frames.enumerated() {
            // A fixed size, 16 bits to say it; 16 kHz; one channel; 16 bits a sample.
            #expect(Array(frame.prefix(5)) == [0xFF, 0xF8, 0x75, 0x08, UInt8(number)])
        }
    }

    @Test func everyPeriodButTheFirstsLastSampleIsOutAtOnce() throws {
        let samples = TestSignal.voice(frames: 320, sampleRate: 16_000)
        let encoder = try FLACEncoder()
        var bytes: [UInt8] = []
        try encoder.begin(into: &bytes)
        for period in 1...321 {
            try encoder.encode(samples.span, into: &bytes)
            guard period < 10 || period > 318 else { continue }
            let frames = FLACFile(bytes).frames.count
            // What is held back grows by a sample each time: a frame has one fewer than a period.
            #expect(frames == (period * 320 - 1) / 319)
        }
    }

    @Test func theSameSamplesMakeTheSameBytesHoweverTheyCome() throws {
        var random = SeededRandom()
        let samples = TestSignal.voice(frames: 10_000, sampleRate: 16_000)
        let whole = try FLACEncoder().file(of: samples)
        for _ in 0..<10 {
            let pieces = random.pieces(of: samples.count, upTo: 2_000)
            #expect(try FLACEncoder().file(of: samples, in: pieces) == whole, "\(random.seed)")
        }
    }

    @Test func nothingMakesMoreBytesThanIsSaid() throws {
        var random = SeededRandom()
        for count in [1, 320, 1_600, 3_200] {
            let encoder = try FLACEncoder()
            var bytes: [UInt8] = []
            try encoder.begin(into: &bytes)
            #expect(bytes.count <= encoder.maximumByteCount(forFrames: 0))
            for _ in 0..<20 {
                let before = bytes.count
                try encoder.encode(random.noise(count: count).span, into: &bytes)
                #expect(bytes.count - before <= encoder.maximumByteCount(forFrames: count))
            }
            let before = bytes.count
            try encoder.finish(into: &bytes)
            #expect(bytes.count - before <= encoder.maximumByteCount(forFrames: 0))
        }
    }
}
