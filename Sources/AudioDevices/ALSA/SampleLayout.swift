// SPDX-License-Identifier: Apache-2.0

internal import CALSA

/// How a card writes one sample, and where its upper 16 bits are.
///
/// All are signed and little-endian. Taking the upper 16 bits is exact for a card that pads, and
/// drops what lies below -96 dBFS for one that does not.
enum SampleLayout: CaseIterable {
    case s16
    case s32
    case s24
    case s24Packed

    var format: snd_pcm_format_t {
        switch self {
        case .s16: SND_PCM_FORMAT_S16_LE
        case .s32: SND_PCM_FORMAT_S32_LE
        case .s24: SND_PCM_FORMAT_S24_LE
        case .s24Packed: SND_PCM_FORMAT_S24_3LE
        }
    }

    /// Such as "S16_LE".
    var name: String { unsafe snd_pcm_format_name(format).map { unsafe String(cString: $0) } ?? "" }

    var stride: Int {
        switch self {
        case .s16: 2
        case .s24Packed: 3
        case .s24, .s32: 4
        }
    }

    /// Offset of the upper 16 bits in a sample, in bytes.
    private var offset: Int {
        switch self {
        case .s16: 0
        case .s24, .s24Packed: 1
        case .s32: 2
        }
    }

    func narrow(_ bytes: Span<UInt8>, count: Int, into samples: inout MutableSpan<Int16>) {
        var at = offset
        for index in 0..<count {
            let low = UInt16(bytes[at])
            let high = UInt16(bytes[at + 1])
            samples[index] = Int16(bitPattern: high << 8 | low)
            at += stride
        }
    }
}
