// SPDX-License-Identifier: Apache-2.0

/// A flaw of a WAV file; every offset is in bytes from the file's start.
package enum WAVError: Error, Sendable, Equatable {
    case notRIFF(found: ChunkIdentifier)
    case notWAVE(found: ChunkIdentifier)
    case endsInHeader(byteCount: Int)
    case tooManyChunks(offset: Int, limit: Int)
    case dataBeforeFormat(offset: Int)
    case secondFormat(offset: Int)
    case chunkTooShort(offset: Int, chunk: ChunkIdentifier, byteCount: Int, minimum: Int)
    case unsupportedFormatTag(offset: Int, tag: UInt16)
    case unsupportedSubformat(offset: Int)
    case channelCountOutOfRange(offset: Int, count: Int)
    case sampleRateOutOfRange(offset: Int, rate: Int)
    case unsupportedBitDepth(offset: Int, bits: Int, isFloat: Bool)
    /// The block align is not channel count × bytes per sample.
    case blockAlignMismatch(offset: Int, found: Int, expected: Int)
    /// Samples behind others are of another rate, or of other channels.
    case otherLayout(offset: Int)
}

extension WAVError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notRIFF(let found):
            switch found {
            case .rifx:
                "big-endian WAV (RIFX) of this kind is not read; convert it: sox FILE NEW.wav"
            case .program: "this is not audio: it begins like an ELF program"
            default:
                found.isText
                    ? "this is not audio: it begins like text, with \(found)"
                    : "this is not audio of a known kind: it begins with \(found)"
            }
        case .notWAVE(let found):
            "byte 8: the RIFF form is \(found), not 'WAVE'"
        case .endsInHeader(let byteCount):
            byteCount == 0
                ? "it is empty" : "byte \(byteCount): the file ends before its data chunk"
        case .tooManyChunks(let offset, let limit):
            "byte \(offset): more than \(limit) chunks stand before the data chunk"
        case .dataBeforeFormat(let offset):
            "byte \(offset): chunk 'data' stands before chunk 'fmt '"
        case .secondFormat(let offset):
            "byte \(offset): a second chunk 'fmt '"
        case .chunkTooShort(let offset, let chunk, let byteCount, let minimum):
            "byte \(offset), chunk \(chunk): "
                + "\(byteCount) bytes are too few, \(minimum) are needed"
        case .unsupportedFormatTag(let offset, let tag):
            "\(Self.inFormat(offset)): format tag \(Self.named(tag)) is not PCM"
        case .unsupportedSubformat(let offset):
            "\(Self.inFormat(offset)): the sub-format is not PCM"
        case .channelCountOutOfRange(let offset, let count):
            count == 0
                ? "\(Self.inFormat(offset)): 0 channels"
                : "\(Self.inFormat(offset)): \(count) channels are more than "
                    + "\(WAVHeader.maximumChannelCount)"
        case .sampleRateOutOfRange(let offset, let rate):
            "\(Self.inFormat(offset)): a sample rate of \(rate) Hz is not between "
                + "\(WAVHeader.sampleRates.lowerBound) and \(WAVHeader.sampleRates.upperBound) Hz"
        case .unsupportedBitDepth(let offset, let bits, let isFloat):
            "\(Self.inFormat(offset)): \(bits)-bit \(isFloat ? "float" : "PCM") is not supported"
        case .blockAlignMismatch(let offset, let found, let expected):
            "\(Self.inFormat(offset)): block align is \(found) bytes, "
                + "but the channels and the sample width make \(expected)"
        case .otherLayout(let offset):
            "byte \(offset): the rate or the channels are not those of the sound before"
        }
    }

    private static func inFormat(_ offset: Int) -> String { "byte \(offset), chunk 'fmt '" }

    /// The tag in hex, with the codec's name when it is one that people meet.
    private static func named(_ tag: UInt16) -> String {
        let digits = String(tag, radix: 16, uppercase: true)
        let hex = "0x" + String(repeating: "0", count: 4 - digits.count) + digits
        let name: String? =
            switch tag {
            case 0x0002: "Microsoft ADPCM"
            case 0x0006: "A-law"
            case 0x0007: "µ-law"
            case 0x0011: "IMA ADPCM"
            case 0x0031: "GSM 6.10"
            case 0x0040, 0x0045, 0x0064: "G.726"
            case 0x0050: "MPEG layer 2"
            case 0x0055: "MP3"
            case 0x00FF, 0x1610: "AAC"
            case 0x0161: "Windows Media Audio"
            case 0x704F: "Opus"
            case 0xF1AC: "FLAC"
            default: nil
            }
        return name.map { "\(hex) (\($0))" } ?? hex
    }
}
