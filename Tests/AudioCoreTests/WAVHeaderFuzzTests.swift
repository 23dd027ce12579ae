// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCore

@Suite struct WAVHeaderFuzzTests {
    /// Bytes that are likely to hurt, wherever they land.
    private static let nasty: [UInt8] = [0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF]

    @Test func noMutationOfAHeaderMakesTheParserTrap() {
        var random = SeededRandom()
        // A trap ends the whole run, so the seed is printed before.
        print("fuzzing WAV headers with seed \(random.seed)")
        let sizes = WAVBytes.chunk("ds64", [UInt8](repeating: 0, count: 28))
        let data = WAVBytes.chunk("data", [1, 2, 3, 4, 5, 6, 7, 8])
        let list = WAVBytes.chunk("LIST", [1, 2, 3])
        let seeds = [
            WAVBytes.file([WAVBytes.chunk("fmt ", WAVBytes.format()), list, data]),
            WAVBytes.file([list, WAVBytes.chunk("fmt ", WAVBytes.extensible(channels: 6)), data]),
            WAVBytes.file(
                [sizes, WAVBytes.chunk("fmt ", WAVBytes.format(tag: 3, bits: 64)), data],
                container: "RF64"),
        ]
        for _ in 0..<100_000 {
            var bytes = seeds[Int.random(in: 0..<seeds.count, using: &random)]
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<5, using: &random) {
                case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes[index] = Self.nasty[Int.random(in: 0..<6, using: &random)]
                case 2: bytes.removeSubrange(index..<min(bytes.count, index + 4))
                case 3: bytes.insert(contentsOf: bytes.suffix(8), at: index)
                default:
                    for place in index..<min(bytes.count, index + 4) { bytes[place] = 0xFF }
                }
                if bytes.isEmpty { bytes = [0] }
            }
            // Most mutations are refused; only a trap would fail this test.
            guard let header = try? WAVHeader.parse(bytes.span) else { continue }
            let isSound =
                header.dataOffset <= bytes.count && header.bytesPerFrame > 0
                && WAVHeader.sampleRates.contains(header.streamFormat.sampleRate)
                && (1...64).contains(header.streamFormat.channelCount)
                && (header.dataByteCount ?? 0) >= 0
            #expect(isSound, "seed \(random.seed): \(bytes)")
        }
    }

    @Test func anyBytesDecodeWithoutATrap() {
        var random = SeededRandom()
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0...64, using: &random)).map { _ in
                Bool.random(using: &random)
                    ? UInt8(truncatingIfNeeded: random.next()) : 0xFF
            }
            for format in SampleFormat.allCases {
                var samples: [Int16] = []
                format.decode(bytes.span, into: &samples)
                #expect(samples.count == bytes.count / format.byteCount, "seed \(random.seed)")
            }
        }
    }
}
