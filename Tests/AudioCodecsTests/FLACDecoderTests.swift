// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs
@testable import AudioCore

/// FLAC of the program `flac`, whole, in pieces, cut off and damaged.
@Suite struct FLACDecoderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func decode(_ file: [UInt8], in pieces: [Range<Int>]? = nil) throws -> Reading {
        try Reading(of: file, by: .flac, in: pieces)
    }

    private func recovered(_ file: [UInt8], by limit: Int = .max) throws -> IntactAudio {
        let recoverer = FLACRecoverer()
        var rest = file[...]
        while !rest.isEmpty {
            recoverer.append(Array(rest.prefix(limit)).span)
            rest = rest.dropFirst(limit)
        }
        return try recoverer.finish()
    }

    /// What `flac` makes of samples of a rate and layout.
    private func encoded(
        _ samples: [Int16], _ format: StreamFormat, _ options: [String] = []
    ) throws -> [UInt8] {
        let path = try folder.write(
            WAVBytes.speech(samples, rate: format.sampleRate, channels: format.channelCount),
            to: "in.wav")
        return try ForeignTool("flac").run(["-s", "-f", "-c"] + options + [path]).output
    }

    @Test(arguments: [
        (8_000, 1, ["-0"]), (16_000, 1, ["-8", "--padding=100000"]), (44_100, 2, ["-5"]),
        (48_000, 6, ["-5", "--channel-map=none"]), (16_000, 2, ["--lax", "-b", "65535"]),
        (22_050, 2, ["--no-mid-side", "-b", "576"]),
    ])
    func whatFLACEncodesComesBackInPiecesOfAnyLength(
        _ rate: Int, _ channels: Int, _ options: [String]
    ) throws {
        var random = SeededRandom()
        let format = StreamFormat(sampleRate: rate, channelCount: channels)
        let samples = TestSignal.voice(frames: 70_001, sampleRate: rate, channelCount: channels)
        let file = try encoded(samples, format, options)
        for limit in [file.count * 2, 20_000, 700] {
            let decoded = try decode(file, in: random.pieces(of: file.count, upTo: limit))
            #expect(decoded.samples == samples, "seed \(random.seed)")
            #expect(decoded.rate == rate && decoded.channels == channels && decoded.isAtEnd)
        }
    }

    @Test(arguments: [8, 24])
    func otherWidthsAreRoundedAsThoseOfWAVFiles(_ bits: Int) throws {
        var random = SeededRandom()
        let path = try folder.write(random.bytes(8_000), to: "in.raw")
        let flac = try ForeignTool("sox").run([
            "-D", "-t", "raw", "-r", "16000", "-c", "1", "-e", "signed", "-b", "\(bits)", path,
            "-b", "\(bits)", "-t", "flac", "-",
        ]).output
        let wav = try ForeignTool("sox").run(
            [
                "-D", "-t", "flac", "-", "-b", "\(bits)", "-e", bits == 8 ? "unsigned" : "signed",
                "-t", "wav", "-",
            ], input: flac
        ).output
        let decoder = WAVDecoder()
        var samples: [Int16] = []
        try decoder.decode(wav.span, into: &samples)
        #expect(try decode(flac).samples == samples, "seed \(random.seed)")
    }

    @Test func aFileThatIsCutAnywhereYieldsItsWholeFrames() throws {
        let samples = TestSignal.voice(frames: 2_000, sampleRate: 16_000)
        let file = try FLACEncoder().file(of: samples)
        let whole = FLACFile(file)
        let header = try #require(whole.headerByteCount)
        #expect(whole.wholeByteCount == file.count && whole.frames.count == 7)
        for count in 0...file.count {
            let part = Array(file[..<count])
            let intact = try recovered(part, by: 500)
            let frames = whole.frames.filter { $0.endIndex <= count }.count
            #expect(
                intact.byteCount
                    == (count < header
                        ? 0 : frames > 0 ? whole.frames[frames - 1].endIndex : header))
            #expect(intact.frames == min(2_000, frames * 319))
            #expect(intact.hole == nil)
            if count < header {
                #expect(throws: UndecodableAudio.self) { try decode(part) }
                continue
            }
            let decoded = try decode(part)
            #expect(decoded.samples == Array(samples[..<intact.frames]))
            #expect(decoded.isAtEnd == (count == intact.byteCount))
        }
    }

    @Test func aDamagedByteCostsItsFrameWhichBecomesSilence() throws {
        var random = SeededRandom()
        let samples = TestSignal.voice(frames: 3_190, sampleRate: 16_000)
        let file = try FLACEncoder().file(of: samples)
        let frames = FLACFile(file).frames
        for _ in 0..<100 {
            var damaged = file
            let place = Int.random(in: frames[1].startIndex..<frames[9].startIndex, using: &random)
            damaged[place] ^= UInt8.random(in: 1...255, using: &random)
            let number = try #require(frames.firstIndex { $0.indices.contains(place) })
            let silent = Array(samples[..<(number * 319)]) + [Int16](repeating: 0, count: 319)
            let expected = silent + samples[(number * 319 + 319)...]
            let mended = try mended(damaged, holes: 1)
            #expect(try decode(mended).samples == expected, "seed \(random.seed), byte \(place)")
            let intact = try recovered(mended)
            #expect(intact == IntactAudio(byteCount: mended.count, frames: 3_190))
        }
    }

    /// What recovery makes of a file of ours, which has so many holes.
    private func mended(_ file: [UInt8], holes: Int) throws -> [UInt8] {
        var file = file
        for _ in 0..<holes {
            let hole = try #require(try recovered(file, by: 500).hole)
            file.replaceSubrange(
                hole.offset..<hole.offset + hole.replacedByteCount, with: hole.bytes)
        }
        return file
    }

    @Test(arguments: [[1], [2, 5], [0], [0, 1, 3], [3, 4, 5]])
    func blocksThatNeverCameToTheDiskBecomeSilence(_ blocks: [Int]) throws {
        let samples = TestSignal.voice(frames: 40_000, sampleRate: 16_000)
        var file = try FLACEncoder().file(of: samples)
        for block in blocks {
            let place = block * 4_096..<(block + 1) * 4_096
            file.replaceSubrange(place, with: [UInt8](repeating: 0, count: 4_096))
        }
        let runs = blocks.count { !blocks.contains($0 - 1) }
        let decoded = try decode(mended(file, holes: runs))
        #expect(decoded.samples.count == samples.count)
        let wrong = zip(decoded.samples, samples).filter { $0 != $1 && $0 != 0 }
        #expect(wrong.isEmpty)
    }

    @Test func zerosBehindTheLastFrameAreNoneOfIt() throws {
        let file = try FLACEncoder().file(of: TestSignal.voice(frames: 1_000, sampleRate: 16_000))
        let intact = try recovered(file + [UInt8](repeating: 0, count: 3_000))
        #expect(intact == IntactAudio(byteCount: file.count, frames: 1_000))
    }

    @Test func noiseIsNoFLAC() throws {
        var random = SeededRandom()
        for _ in 0..<20 {
            let bytes = random.bytes(20_000)
            #expect(throws: UndecodableAudio.self) { try decode(bytes) }
            for bytes in [bytes, Array("fLaC".utf8) + bytes] {
                let intact = try recovered(bytes)
                #expect(intact.frames == 0 && intact.hole == nil, "seed \(random.seed)")
            }
        }
    }

    @Test func aStreamOfNothingButHeadsOfFramesEnds() throws {
        let header = try FLACEncoder().header
        let heads = (0..<20_000).flatMap { _ in [UInt8](arrayLiteral: 0xFF, 0xF8) }
        #expect(try recovered(heads, by: 4_096).frames == 0)
        #expect(throws: UndecodableAudio.self) { try decode(header + heads) }
    }
}
