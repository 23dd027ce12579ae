// SPDX-License-Identifier: Apache-2.0

/// Writes PCM behind a WAV header of unknown length.
///
/// The header, offset and bytes, little-endian: 0 `RIFF`; 4 the size `0xFFFFFFFF`; 8 `WAVE`;
/// 12 `fmt `; 16 its size 16; 20 format tag 1 (PCM); 22 channels 1; 24 rate 16000 Hz; 28 bytes
/// per second 32000; 32 bytes per frame 2; 34 bits per sample 16; 36 `data`; 40 the size
/// `0xFFFFFFFF`; 44 signed 16-bit samples to the end of the file. Both sizes stand for
/// "unknown": it is the only pair that sox, ffmpeg and Python's `wave` all read to the end.
///
/// An encoder belongs to one take and is used by one thread at a time, which is why `Sendable`
/// is stated unchecked: it is handed over whole, with the take, and never shared.
package final class WAVEncoder: AudioEncoder, @unchecked Sendable {
    /// The header's length, in bytes.
    package static let headerByteCount = 44

    static let header: [UInt8] =
        Array("RIFF".utf8) + [0xFF, 0xFF, 0xFF, 0xFF] + Array("WAVEfmt ".utf8)
        + [16, 0, 0, 0, 1, 0, 1, 0, 0x80, 0x3E, 0, 0, 0x00, 0x7D, 0, 0, 2, 0, 16, 0]
        + Array("data".utf8) + [0xFF, 0xFF, 0xFF, 0xFF]

    private var byteCount = 0

    package init() {}

    package func begin(into output: inout [UInt8]) throws(EncodingError) {
        output.append(contentsOf: Self.header)
    }

    /// Appends every sample as two bytes, the low one first.
    package func encode(
        _ frames: Span<Int16>, into output: inout [UInt8]
    ) throws(EncodingError) {
        byteCount += 2 * frames.count
        for index in frames.indices {
            let sample = UInt16(bitPattern: frames[index])
            output.append(UInt8(truncatingIfNeeded: sample))
            output.append(UInt8(truncatingIfNeeded: sample >> 8))
        }
    }

    package func finish(into output: inout [UInt8]) throws(EncodingError) {}

    /// The header with the two lengths; a longer file than they can say keeps the unknown ones.
    package var settledHeader: [UInt8]? {
        guard byteCount < 0xFFFF_FFFF - Self.headerByteCount else { return nil }
        var header = Self.header
        for (offset, length) in [(4, byteCount + Self.headerByteCount - 8), (40, byteCount)] {
            for index in 0..<4 { header[offset + index] = UInt8(length >> (8 * index) & 0xFF) }
        }
        return header
    }

    /// The header and two bytes a frame.
    package func maximumByteCount(forFrames frames: Int) -> Int {
        Self.headerByteCount + 2 * frames
    }
}
