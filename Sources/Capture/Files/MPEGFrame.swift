// SPDX-License-Identifier: Apache-2.0

/// The header of a frame of MP3 (ISO/IEC 11172-3 §2.4.1.3) or of AAC in ADTS (ISO/IEC 13818-7
/// §6.2), as far as it says where the next frame begins.
struct MPEGFrame {
    /// What people call such a file.
    let name: String
    /// From this header to the next.
    let byteCount: Int

    /// The bits that all frames of a file share: version, layer, protection and rate; of AAC the
    /// profile too.
    let kind: UInt16

    /// So many bytes say it all.
    static let headerByteCount = 6

    /// Kilobits a second of layer III by index: MPEG-1, then MPEG-2 and 2.5.
    private static let bitRates = [
        [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
        [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    ]

    /// Frames of MPEG-1 a second by index; MPEG-2 has half, MPEG-2.5 a quarter.
    private static let sampleRates = [44_100, 48_000, 32_000]

    /// Reads a header; nil when these bytes are none.
    init?(_ bytes: Span<UInt8>) {
        guard bytes.count >= Self.headerByteCount, bytes[0] == 0xFF, bytes[1] >= 0xE0
        else { return nil }
        if bytes[1] & 0xF6 == 0xF0 {
            let length = Int(bytes[3] & 3) << 11 | Int(bytes[4]) << 3 | Int(bytes[5]) >> 5
            guard bytes[2] >> 2 & 15 < 13, length > 7 else { return nil }
            (name, byteCount) = ("AAC", length)
            kind = UInt16(bytes[1]) << 8 | UInt16(bytes[2])
            return
        }
        // 0 is MPEG-2.5, 1 is none, 2 is MPEG-2, 3 is MPEG-1; layer III has the number 1.
        let version = Int(bytes[1] >> 3 & 3)
        let (rateIndex, bitRateIndex) = (Int(bytes[2] >> 2 & 3), Int(bytes[2] >> 4))
        guard version != 1, bytes[1] >> 1 & 3 == 1, rateIndex < 3, (1...14).contains(bitRateIndex)
        else { return nil }
        let isFirst = version == 3
        let bitRate = Self.bitRates[isFirst ? 0 : 1][bitRateIndex - 1] * 1_000
        let sampleRate = Self.sampleRates[rateIndex] >> (isFirst ? 0 : version == 2 ? 1 : 2)
        let padding = Int(bytes[2] >> 1 & 1)
        kind = UInt16(bytes[1]) << 8 | UInt16(bytes[2] & 0x0C)
        (name, byteCount) = ("MP3", (isFirst ? 144 : 72) * bitRate / sampleRate + padding)
    }
}
