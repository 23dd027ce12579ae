// SPDX-License-Identifier: Apache-2.0

/// The format chunk of a WAV file: `WAVEFORMAT`, `WAVEFORMATEX` or `WAVEFORMATEXTENSIBLE`.
///
/// Offset, size and meaning, little-endian: 0, 2 format tag; 2, 2 channels; 4, 4 frames per
/// second; 8, 4 bytes per second (not read: often wrong, never needed); 12, 2 bytes per frame, or 0;
/// 14, 2 bits per sample; then, when extensible: 16, 2 extension size; 18, 2 valid bits;
/// 20, 4 speaker mask; 24, 16 sub-format GUID, whose first two bytes are the format tag.
struct WAVFormatChunk: Sendable {
    static let minimumByteCount = 16
    static let maximumByteCount = 40

    let sampleFormat: SampleFormat
    let streamFormat: StreamFormat

    private static let tagPCM: UInt16 = 0x0001
    private static let tagFloat: UInt16 = 0x0003
    private static let tagExtensible: UInt16 = 0xFFFE

    /// The last 14 bytes of every sub-format that stands for a format tag
    /// (`xxxxxxxx-0000-0010-8000-00AA00389B71`).
    private static let subformatTail: [UInt8] = [
        0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x80, 0x00, 0x00, 0xAA, 0x00, 0x38, 0x9B, 0x71,
    ]

    /// Reads at least `minimumByteCount` bytes, `maximumByteCount` when there are as many; `offset` is
    /// for errors.
    init(_ bytes: Span<UInt8>, at offset: Int) throws(WAVError) {
        let channelCount = Int(bytes.littleEndian(at: 2, byteCount: 2))
        guard (1...WAVHeader.maximumChannelCount).contains(channelCount) else {
            throw .channelCountOutOfRange(offset: offset + 2, count: channelCount)
        }
        let sampleRate = Int(bytes.littleEndian(at: 4, byteCount: 4))
        guard WAVHeader.sampleRates.contains(sampleRate) else {
            throw .sampleRateOutOfRange(offset: offset + 4, rate: sampleRate)
        }
        let tag = try Self.formatTag(bytes, at: offset)
        let bits = Int(bytes.littleEndian(at: 14, byteCount: 2))
        let blockAlign = Int(bytes.littleEndian(at: 12, byteCount: 2))
        // Samples of 24 bits may stand in the upper bytes of 32.
        let isWide = tag == Self.tagPCM && bits > 16 && blockAlign == 4 * channelCount
        guard let sampleFormat = Self.sampleFormat(tag: tag, bits: isWide ? max(bits, 32) : bits)
        else {
            throw .unsupportedBitDepth(
                offset: offset + 14, bits: bits, isFloat: tag == Self.tagFloat)
        }
        // Some writers leave it out; it says nothing new.
        guard [0, channelCount * sampleFormat.byteCount].contains(blockAlign) else {
            throw .blockAlignMismatch(
                offset: offset + 12, found: blockAlign,
                expected: channelCount * sampleFormat.byteCount)
        }
        self.sampleFormat = sampleFormat
        streamFormat = StreamFormat(sampleRate: sampleRate, channelCount: channelCount)
    }

    private static func formatTag(
        _ bytes: Span<UInt8>, at offset: Int
    ) throws(WAVError) -> UInt16 {
        var tag = UInt16(truncatingIfNeeded: bytes.littleEndian(at: 0, byteCount: 2))
        var tagOffset = offset
        if tag == tagExtensible {
            guard bytes.count >= maximumByteCount else {
                throw .chunkTooShort(
                    offset: offset - 8, chunk: .format, byteCount: bytes.count,
                    minimum: maximumByteCount)
            }
            for (index, byte) in subformatTail.enumerated() where bytes[26 + index] != byte {
                throw .unsupportedSubformat(offset: offset + 24)
            }
            tag = UInt16(truncatingIfNeeded: bytes.littleEndian(at: 24, byteCount: 2))
            tagOffset += 24
        }
        guard tag == tagPCM || tag == tagFloat else {
            throw .unsupportedFormatTag(offset: tagOffset, tag: tag)
        }
        return tag
    }

    /// PCM of a width between whole bytes is kept left-justified in the next whole byte, so
    /// 12-bit samples read as 16-bit ones are right.
    private static func sampleFormat(tag: UInt16, bits: Int) -> SampleFormat? {
        if tag == tagFloat { return bits == 32 ? .float32 : bits == 64 ? .float64 : nil }
        return switch bits {
        case 1...8: .uint8
        case 9...16: .int16
        case 17...24: .int24
        case 25...32: .int32
        default: nil
        }
    }
}
