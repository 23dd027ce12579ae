// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs

/// What the program `flac` says about our FLAC, and what it makes of it.
@Suite struct FLACEncoderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The samples that `flac` decodes of each file, in one start and without a complaint.
    private func decoded(_ files: [[UInt8]]) throws -> [[UInt8]] {
        let names = files.indices.map { "audio\($0)" }
        let paths = try zip(files, names).map { try folder.write($0, to: $1 + ".flac") }
        // It writes each beside its file.
        let result = try ForeignTool("flac").run(
            ["-s", "-d", "--force-raw-format", "--endian=little", "--sign=signed"] + paths)
        // While it grows a file knows no sum.
        let unset = "WARNING, cannot check MD5 signature since it was unset in the STREAMINFO\n"
        let complaint = names.reduce(result.complaint) {
            $0.replacing("\($1).flac: \(unset)", with: "")
        }
        #expect(complaint == "")
        return try names.map { try folder.read($0 + ".raw") }
    }

    @Test func samplesOfAnyLengthComeBackAsTheyWere() throws {
        var random = SeededRandom()
        let voice = TestSignal.voice(frames: 20_000, sampleRate: 16_000)
        let noise = random.noise(count: 20_000)
        let lengths =
            [1, 2, 16, 318, 319, 320, 638, 639, 16_000]
            + (0..<60).map { _ in Int.random(in: 1...20_000, using: &random) }
        let all = lengths.flatMap { [Array(voice.prefix($0)), Array(noise.prefix($0))] }
        let files = try all.map { samples in
            let pieces = random.pieces(of: samples.count, upTo: 1_000)
            return try FLACEncoder().file(of: samples, in: pieces)
        }
        for (samples, bytes) in zip(all, try decoded(files)) {
            #expect(bytes == WAVBytes.pcm(samples), "seed \(random.seed), \(samples.count)")
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
        #expect(try decoded([bytes]) == [WAVBytes.pcm(samples)])
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
