// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import Upload

/// A recording of 16 kHz as one of 24 kHz.
@Suite struct ResampledSourceTests {
    /// Samples behind a header of four bytes.
    private static func source(
        _ samples: some Collection<Int16>, isSealed: Bool = true
    ) -> ResampledSource {
        let bytes = [0, 0, 0, 0] + WAVBytes.pcm(Array(samples))
        return ResampledSource(source: GrowingBytes(bytes, isSealed: isSealed), start: 4)
    }

    private static func read(_ source: ResampledSource, pieces: [Int]) throws -> [UInt8] {
        var (bytes, turn): ([UInt8], Int) = ([], 0)
        while bytes.count < source.byteCount {
            var buffer = [UInt8](repeating: 0, count: pieces[turn % pieces.count])
            turn += 1
            let count = try buffer.fill(from: source, at: bytes.count, to: 0)
            try #require(count > 0)
            bytes += buffer.prefix(count)
        }
        return bytes
    }

    private static func samples(_ bytes: [UInt8]) -> [Int16] {
        stride(from: 0, to: bytes.count - 1, by: 2).map {
            Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
        }
    }

    @Test(arguments: [200.0, 1_000, 3_000, 6_500])
    func aToneKeepsItsPitchAndItsLevel(_ frequency: Double) throws {
        let tone = (0..<16_000).map {
            Int16(8_000 * sin(2 * Double.pi * frequency * Double($0) / 16_000))
        }
        let source = Self.source(tone)
        let made = Self.samples(try Self.read(source, pieces: [4_096]))
        #expect(made.count == 24_000)
        var (worst, wanted) = (0.0, 0.0)
        for place in 200..<(made.count - 200) {
            wanted = 8_000 * sin(2 * Double.pi * frequency * Double(place) / 24_000)
            worst = max(worst, abs(Double(made[place]) - wanted))
        }
        #expect(worst < 8_000 * 0.02, "\(worst)")
    }

    @Test func theBytesAreTheSameHoweverTheyAreRead() throws {
        var random = SeededRandom()
        let samples = random.noise(count: 5_000)
        let source = Self.source(samples)
        let whole = try Self.read(source, pieces: [1 << 20])
        for pieces in [[1], [3, 640, 7], [640], [8_191]] {
            #expect(try Self.read(source, pieces: pieces) == whole, "seed \(random.seed)")
        }
        // A recording that still grows has the first bytes of the whole.
        let part = Self.source(samples.prefix(2_000), isSealed: false)
        #expect(part.byteCount == 2 * (2_000 - 12) * 3 / 2)
        #expect(try Self.read(part, pieces: [333]) == Array(whole.prefix(part.byteCount)))
    }

    @Test func theRecordingIsCountedInItsOwnBytes() {
        let source = Self.source([Int16](repeating: 0, count: 300))
        #expect(source.byteCount == 900)
        #expect(source.recordingByteCount(at: 900) == 600)
    }
}
