// SPDX-License-Identifier: Apache-2.0

package import AudioCodecs
internal import AudioCore

/// What kind of audio an input is, as far as its first bytes tell.
package enum InputType: Sendable, Equatable {
    /// A WAV file: RIFF, RF64, BW64 or RIFX, whether or not it can be used.
    case wav
    /// A form that has to be decoded, such as Opus in Ogg.
    case coded(AudioCodec)
    /// Another kind of audio, by the name that people know it by.
    case foreign(String)
    /// None of these: raw samples, perhaps.
    case unknown
    /// It takes this many bytes to tell, more than there were.
    case undecided(byteCount: Int)

    /// Looks at the first bytes of an input.
    ///
    /// - Parameter bytes: as many as there are; `undecided` says how many would do. Where the
    ///   input ends before, it is `unknown`.
    package init(_ bytes: Span<UInt8>) {
        guard bytes.count >= 4 else {
            self = .undecided(byteCount: 4)
            return
        }
        if WAVHeader.isContainer(bytes) {
            self = .wav
        } else if let codec = Self.codec(bytes) {
            self = .coded(codec)
        } else if Self.has("OggS", in: bytes, at: 0) {
            self = Self.ogg(bytes)
        } else if let name = Self.magic(bytes) {
            self = .foreign(name)
        } else if bytes[0] == 0, bytes[1] == 0 {
            // An MP4 file begins with the length of its first box. So does silence, nearly.
            self = Self.decided(bytes, by: 8) {
                Self.has("ftyp", in: $0, at: 4) ? "MP4 (M4A)" : nil
            }
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
                && codec.signature.allSatisfy { has($0.bytes, in: bytes, at: $0.offset) }
        }
    }

    /// Looks for the frames that must follow the first: its few bits alone may be loud samples.
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
        let names: [(StaticString, String)] = [
            ("FORM", "AIFF"), ("#!AM", "AMR"), (".snd", "AU"), ("caff", "CAF"),
        ]
        if let found = names.first(where: { has($0.0, in: bytes, at: 0) }) { return found.1 }
        if has("ID3", in: bytes, at: 0), (2...4).contains(bytes[3]) { return "MP3" }
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
        let names: [(StaticString, String)] = [
            ("\u{1}vorbis", "Ogg Vorbis"), ("\u{7F}FLAC", "Ogg FLAC"), ("Speex", "Ogg Speex"),
        ]
        return .foreign(names.first { has($0.0, in: bytes, at: start) }?.1 ?? "Ogg")
    }

    /// Asks for more bytes, or takes the answer of those that are there.
    private static func decided(
        _ bytes: Span<UInt8>, by count: Int, _ name: (Span<UInt8>) -> String?
    ) -> InputType {
        guard bytes.count >= count else { return .undecided(byteCount: count) }
        return name(bytes).map { .foreign($0) } ?? .unknown
    }

    private static func has(_ magic: StaticString, in bytes: Span<UInt8>, at offset: Int) -> Bool {
        has(Array("\(magic)".utf8), in: bytes, at: offset)
    }

    private static func has(_ magic: [UInt8], in bytes: Span<UInt8>, at offset: Int) -> Bool {
        guard bytes.count >= offset + magic.count else { return false }
        return magic.indices.allSatisfy { bytes[offset + $0] == magic[$0] }
    }
}
