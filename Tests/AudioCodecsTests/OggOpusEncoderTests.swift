// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs

@Suite struct OggOpusEncoderTests {
    @Test func theHeadersAreTheOnesOfTheSpecificationAndSerialNumbersDiffer() throws {
        let bytes = try OggOpusEncoder(serialNumber: 0x1234_5678).file(of: [])
        let pages = try OggPage.all(in: bytes)
        // RFC 7845 §5.1: one channel, pre-skip 312, 16000 Hz, no gain, mapping family 0.
        let head: [UInt8] =
            Array("OpusHead".utf8) + [1, 1, 0x38, 0x01, 0x80, 0x3E, 0, 0, 0, 0, 0]
        #expect(pages[0].body == head)
        #expect(pages[0].flags == OggPage.beginning)
        #expect(pages[0].serialNumber == 0x1234_5678)
        #expect(pages[1].body.starts(with: Array("OpusTags".utf8)))
        #expect(pages[0].granulePosition == 0 && pages[1].granulePosition == 0)
        #expect(pages.map(\.sequenceNumber) == Array(0..<UInt32(pages.count)))
        let one = try OggPage.all(in: OggOpusEncoder().file(of: []))
        let other = try OggPage.all(in: OggOpusEncoder().file(of: []))
        // Equal by chance once in four milliards.
        #expect(one[0].serialNumber != other[0].serialNumber)
    }

    @Test func aPageIsWrittenWithTheLastFrameOfItsPacket() throws {
        let encoder = try OggOpusEncoder()
        var bytes: [UInt8] = []
        try encoder.begin(into: &bytes)
        // The headers come before any frame.
        #expect(try OggPage.all(in: bytes).count == 2)
        let samples = TestSignal.voice(frames: 16_000, sampleRate: 16_000)
        let interval = 320
        for start in stride(from: 0, to: samples.count - interval, by: interval) {
            let before = bytes.count
            try encoder.encode(
                samples.span.extracting(start..<start + interval - 1), into: &bytes)
            #expect(bytes.count == before)
            try encoder.encode(
                samples.span.extracting(start + interval - 1..<start + interval), into: &bytes)
            let new = try OggPage.all(in: Array(bytes[before...]))
            #expect(new.count == 1)
            #expect(new.last?.granulePosition == Int64(start + interval) * 3)
        }
    }

    @Test func theLastPageCarriesTheEndMarkAndTheExactLength() throws {
        for length in [0, 1, 215, 216, 217, 319, 320, 321, 1_599, 1_600, 1_601, 16_000] {
            let samples = TestSignal.voice(frames: length, sampleRate: 16_000)
            let pages = try OggPage.all(in: OggOpusEncoder().file(of: samples))
            let marked = pages.filter { $0.flags & OggPage.end != 0 }
            #expect(marked.count == 1)
            #expect(pages.last?.flags == OggPage.end)
            #expect(pages.last?.granulePosition == Int64(312 + length * 3))
            let positions = pages.map(\.granulePosition)
            #expect(positions == positions.sorted())
        }
    }

    @Test func equalFramesMakeEqualBytesHoweverTheyAreDivided() throws {
        var random = SeededRandom()
        let voice = TestSignal.voice(frames: 30_000, sampleRate: 16_000)
        for _ in 0..<20 {
            let length = Int.random(in: 0...30_000, using: &random)
            let samples = Array(voice.prefix(length))
            let whole = try OggOpusEncoder(serialNumber: 7).file(of: samples)
            for limit in [1, 50, 2_000] {
                let pieces = random.pieces(of: length, upTo: limit)
                let bytes = try OggOpusEncoder(serialNumber: 7).file(of: samples, in: pieces)
                #expect(bytes == whole, "seed \(random.seed), \(length) samples")
            }
        }
    }

    @Test func theBoundHoldsForWhiteNoiseAtTheHighestBitRate() throws {
        var random = SeededRandom()
        for length in [0, 1, 319, 320, 1_000, 16_000] {
            let samples = random.noise(count: length)
            let encoder = try OggOpusEncoder(bitrate: 510_000)
            let bound = encoder.maximumByteCount(forFrames: length)
            let bytes = try encoder.file(of: samples)
            #expect(bytes.count <= bound, "seed \(random.seed), \(length) samples")
        }
        // In the middle of a stream the bound of the next frames and the end holds, too.
        let encoder = try OggOpusEncoder(bitrate: 510_000)
        var bytes: [UInt8] = []
        try encoder.begin(into: &bytes)
        try encoder.encode(random.noise(count: 319 + 320 * 4).span, into: &bytes)
        let bound = encoder.maximumByteCount(forFrames: 320)
        let before = bytes.count
        try encoder.encode(random.noise(count: 320).span, into: &bytes)
        try encoder.finish(into: &bytes)
        #expect(bytes.count - before <= bound, "seed \(random.seed)")
    }
}
