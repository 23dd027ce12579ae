// SPDX-License-Identifier: Apache-2.0

/// The identification header of an Ogg Opus stream (RFC 7845 §5.1).
///
/// | offset | size | meaning |
/// | ---: | ---: | --- |
/// | 0 | 8 | `OpusHead` |
/// | 8 | 1 | version; the upper four bits must be 0 |
/// | 9 | 1 | channels, not 0 |
/// | 10 | 2 | pre-skip, in samples at 48 kHz, little-endian |
/// | 12 | 4 | rate of the original, in Hz, little-endian; informative |
/// | 16 | 2 | output gain, in 1/256 dB, signed, little-endian |
/// | 18 | 1 | channel mapping family |
struct OpusHead: Equatable {
    /// Samples at 48 kHz to drop from the beginning.
    let preSkip: Int

    /// What to apply to the decoded samples, in 1/256 dB.
    let outputGain: Int

    /// Reads the first packet of a stream.
    init(packet: Span<UInt8>) throws(OggOpusError) {
        guard packet.count >= 19, Self.hasPrefix("OpusHead", packet) else {
            throw .notOpus(reason: "the first packet is not 'OpusHead'")
        }
        guard packet[8] < 16 else {
            throw .notOpus(reason: "version \(packet[8]) of the format is not known")
        }
        guard packet[18] == 0, (1...2).contains(packet[9]) else {
            let layout = "\(packet[9]) channels in mapping family \(packet[18])"
            throw .notOpus(reason: "\(layout) are not supported, only mono and stereo")
        }
        preSkip = Int(packet[10]) | Int(packet[11]) << 8
        outputGain = Int(Int16(bitPattern: UInt16(packet[16]) | UInt16(packet[17]) << 8))
    }

    /// Whether `packet` begins with the bytes of `magic`.
    static func hasPrefix(_ magic: StaticString, _ packet: Span<UInt8>) -> Bool {
        let magic = Array("\(magic)".utf8)
        guard packet.count >= magic.count else { return false }
        return magic.indices.allSatisfy { packet[$0] == magic[$0] }
    }
}
