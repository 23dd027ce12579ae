// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCore

@Suite struct SampleFormatTests {
    private func decoded(_ format: SampleFormat, _ bytes: [UInt8]) -> [Int16] {
        var samples: [Int16] = []
        format.decode(bytes.span, into: &samples)
        return samples
    }

    private func floats(_ values: [Float]) -> [UInt8] {
        values.flatMap { WAVBytes.number(Int($0.bitPattern), 4) }
    }

    @Test func eightBitsAreUnsignedAndWiderIntegersAreRoundedAndClipped() {
        #expect(decoded(.uint8, [0, 1, 127, 128, 255]) == [-32_768, -32_512, -256, 0, 32_512])
        #expect(decoded(.int16, [0, 0x80, 0xFF, 0xFF, 0xFF, 0x7F]) == [-32_768, -1, 32_767])
        // An incomplete last sample is left out.
        #expect(decoded(.int24, [0, 0, 1, 9, 9]) == [256])
        let values24 = [0, 127, 128, -128, -129, 0x7F_FFFF, -0x80_0000]
        let bytes24 = values24.flatMap { WAVBytes.number($0, 3) }
        #expect(decoded(.int24, bytes24) == [0, 0, 1, 0, -1, 32_767, -32_768])
        let bytes32 = values24.flatMap { WAVBytes.number($0 << 8, 4) }
        #expect(decoded(.int32, bytes32) == [0, 0, 1, 0, -1, 32_767, -32_768])
    }

    @Test func floatsAreRoundedAndClippedAndNaNIsSilence() {
        let values: [Float] = [
            0, 0.5, -0.5, 1, -1, 1.5, -1e30, .infinity, -.infinity, .nan, -.nan, 1e-30,
            0.49 / 32_768,
        ]
        let expected: [Int16] = [
            0, 16_384, -16_384, 32_767, -32_768, 32_767, -32_768, 32_767, -32_768, 0, 0, 0, 0,
        ]
        #expect(decoded(.float32, floats(values)) == expected)
        let wide = values.flatMap { value in
            (0..<8).map { UInt8(truncatingIfNeeded: Double(value).bitPattern >> (8 * $0)) }
        }
        #expect(decoded(.float64, wide) == expected)
    }

    @Test(arguments: [
        (SampleFormat.uint8, "unsigned", "8"), (.int24, "signed", "24"), (.int32, "signed", "32"),
        (.float32, "floating-point", "32"), (.float64, "floating-point", "64"),
    ])
    func soxMakesTheSameOfEveryFormat(format: SampleFormat, encoding: String, bits: String) throws {
        var random = SeededRandom()
        let folder = try TemporaryFolder()
        let samples = random.noise(count: 20_000).map { $0 / 2 }
        let source = try folder.write(WAVBytes.pcm(samples), to: "source.raw")
        let raw = folder.path("audio.raw")
        // A gain that is no power of two fills the lower bits.
        try ForeignTool("sox").run([
            "-D", "-t", "s16", "-r", "16000", "-c", "1", source,
            "-t", "raw", "-e", encoding, "-b", bits, raw, "vol", "0.7071",
        ])
        let expected = try ForeignTool("sox").run([
            "-D", "-t", "raw", "-e", encoding, "-b", bits, "-r", "16000", "-c", "1", raw,
            "-t", "s16", "-",
        ]).samples
        let ours = decoded(format, try folder.read("audio.raw"))
        #expect(ours.count == expected.count)
        #expect(TestSignal.maximumDifference(ours, expected) <= 1, "seed \(random.seed)")
    }
}
