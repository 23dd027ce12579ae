// SPDX-License-Identifier: Apache-2.0

package import AudioCore

extension WAVHeader {
    /// The header of a file, of which these are the first bytes; nil when more are needed.
    package static func parse(_ bytes: Span<UInt8>) throws(WAVError) -> WAVHeader? {
        var parser = WAVHeaderParser()
        return try parser.take(from: bytes, at: 0)
    }
}

/// Builds WAV files byte by byte, right ones and wrong ones.
package enum WAVBytes {
    /// `value` in `byteCount` little-endian bytes.
    package static func number(_ value: Int, _ byteCount: Int) -> [UInt8] {
        (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// The samples as signed 16-bit little-endian bytes.
    package static func pcm(_ samples: [Int16]) -> [UInt8] {
        // An optimised loop of the library: tests are not optimised, and make hours of samples.
        unsafe samples.withUnsafeBytes { unsafe Array($0) }
    }

    /// A chunk with its padding byte; `claimed` is the size in its head if not the true one.
    package static func chunk(_ name: String, _ body: [UInt8], claimed: Int? = nil) -> [UInt8] {
        Array(name.utf8) + number(claimed ?? body.count, 4) + body
            + (body.count % 2 == 1 ? [0] : [])
    }

    package static func format(
        tag: Int = 1, channels: Int = 1, rate: Int = 16_000, bits: Int = 16, align: Int? = nil
    ) -> [UInt8] {
        let align = align ?? channels * ((bits + 7) / 8)
        return number(tag, 2) + number(channels, 2) + number(rate, 4) + number(rate * align, 4)
            + number(align, 2) + number(bits, 2)
    }

    package static func extensible(
        tag: Int = 1, channels: Int = 1, rate: Int = 16_000, bits: Int = 16,
        tail: [UInt8] = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]
    ) -> [UInt8] {
        format(tag: 0xFFFE, channels: channels, rate: rate, bits: bits) + number(22, 2)
            + number(bits, 2) + number(0, 4) + number(tag, 2) + tail
    }

    /// A whole file of the chunks given.
    package static func file(
        _ chunks: [[UInt8]], container: String = "RIFF", claimed: Int? = nil
    ) -> [UInt8] {
        let body = Array("WAVE".utf8) + chunks.flatMap { $0 }
        return Array(container.utf8) + number(claimed ?? body.count, 4) + body
    }

    /// A plain file of 16-bit samples.
    package static func speech(
        _ samples: [Int16], rate: Int = 16_000, channels: Int = 1
    ) -> [UInt8] {
        file([
            chunk("fmt ", format(channels: channels, rate: rate)), chunk("data", pcm(samples)),
        ])
    }
}
