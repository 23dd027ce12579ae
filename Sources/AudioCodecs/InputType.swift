// SPDX-License-Identifier: Apache-2.0

internal import AudioCore

/// What the first bytes of an input say about it.
package enum InputType: Sendable, Equatable {
    /// RIFF, RF64, BW64 or RIFX, usable or not.
    case wav
    case coded(AudioCodec)
    /// Another kind of audio, by its usual name.
    case foreign(String)
    /// None of these: raw samples, perhaps.
    case unknown
    /// This many bytes are needed.
    case undecided(byteCount: Int)

    /// `undecided` says how many bytes are needed; if the input ends before, it is `unknown`.
    package init(_ bytes: Span<UInt8>) {
        guard bytes.count >= 4 else {
            self = .undecided(byteCount: 4)
            return
        }
        if WAVHeader.isContainer(bytes) {
            self = .wav
        } else if let codec = Self.codec(bytes) {
            self = .coded(codec)
        } else if bytes.has("OggS".utf8) {
            self = Self.ogg(bytes)
        } else if let name = Self.magic(bytes) {
            self = .foreign(name)
        } else if bytes[0] == 0, bytes[1] == 0 {
            // An MP4 file begins with the length of its first box. So does silence, nearly.
            guard bytes.count >= 8 else {
                self = .undecided(byteCount: 8)
                return
            }
            self = bytes.has("ftyp".utf8, at: 4) ? .foreign("MP4 (M4A)") : .unknown
        } else if bytes[0] == 0xFF, bytes[1] >= 0xE0, bytes.count < MPEGFrame.headerByteCount {
            self = .undecided(byteCount: MPEGFrame.headerByteCount)
        } else if let frame = MPEGFrame(bytes) {
            self = Self.frames(bytes, of: frame)
        } else {
            self = .unknown
        }
    }

    private static func codec(_ bytes: Span<UInt8>) -> AudioCodec? {
        AudioCodec.allCases.first { codec in
            !codec.signature.isEmpty
                && codec.signature.allSatisfy { bytes.has($0.bytes, at: $0.offset) }
        }
    }

    /// Looks for the frames that must follow: the few bits of one header may be loud samples.
    private static func frames(_ bytes: Span<UInt8>, of first: MPEGFrame) -> InputType {
        var (frame, offset) = (first, 0)
        for _ in 1..<3 {
            offset += frame.byteCount
            let end = offset + MPEGFrame.headerByteCount
            guard bytes.count >= end else { return .undecided(byteCount: end) }
            guard let next = MPEGFrame(bytes.extracting(droppingFirst: offset)),
                next.kind == first.kind
            else { return .unknown }
            frame = next
        }
        return .foreign(first.name)
    }

    /// Kinds that four bytes tell from anything that a microphone says.
    private static func magic(_ bytes: Span<UInt8>) -> String? {
        let names = [
            ("FORM", "AIFF"), ("#!AM", "AMR"), (".snd", "AU"), ("caff", "CAF"),
        ]
        if let found = names.first(where: { bytes.has($0.0.utf8) }) { return found.1 }
        if bytes.has("ID3".utf8), (2...4).contains(bytes[3]) { return "MP3" }
        return switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
        case (0x1A, 0x45, 0xDF, 0xA3): "WebM (Matroska)"
        case (0x30, 0x26, 0xB2, 0x75): "WMA"
        default: nil
        }
    }

    /// The codec inside Ogg, which the first packet names (RFC 3533 §6).
    private static func ogg(_ bytes: Span<UInt8>) -> InputType {
        guard bytes.count > 26 else { return .undecided(byteCount: 27) }
        let start = 27 + Int(bytes[26])
        guard bytes.count >= start + 8 else { return .undecided(byteCount: start + 8) }
        let names = [
            ("\u{1}vorbis", "Ogg Vorbis"), ("\u{7F}FLAC", "Ogg FLAC"), ("Speex", "Ogg Speex"),
        ]
        return .foreign(names.first { bytes.has($0.0.utf8, at: start) }?.1 ?? "Ogg")
    }
}

extension Span<UInt8> {
    func has(_ magic: some Collection<UInt8>, at offset: Int = 0) -> Bool {
        guard count >= offset + magic.count else { return false }
        for (index, byte) in magic.enumerated() where self[offset + index] != byte { return false }
        return true
    }
}

/// The header of a frame of MP3 (ISO/IEC 11172-3 §2.4.1.3) or of AAC in ADTS (ISO/IEC 13818-7
/// §6.2), as far as it says where the next frame begins.
struct MPEGFrame {
    let name: String
    let byteCount: Int

    /// The bits that all frames of a file share: version, layer, protection and rate; of AAC the
    /// profile too.
    let kind: UInt16

    /// Enough for every kind of header.
    static let headerByteCount = 6

    /// Kilobits a second of layer III by index: MPEG-1, then MPEG-2 and 2.5.
    private static let bitRates = [
        [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
        [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    ]

    /// Frames of MPEG-1 a second by index; MPEG-2 has half, MPEG-2.5 a quarter.
    private static let sampleRates = [44_100, 48_000, 32_000]

    /// Nil when the bytes are no such header.
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
