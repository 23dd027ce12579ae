// SPDX-License-Identifier: Apache-2.0

internal import AudioCore

/// The kind of an input, as its first bytes tell it.
package indirect enum InputType: Sendable, Equatable {
    /// RIFF, RF64 or BW64, with samples of a kind that we read or without a format; RIFX of a kind that
    /// is refused.
    case wav
    case coded(AudioCodec)
    /// Sound of another kind, by its usual name.
    case foreign(String)
    /// A thing that is never sound, with its article, such as "a web page (HTML)".
    case notSound(String)
    /// None of these: raw samples, perhaps.
    case unknown
    /// This many bytes are needed; if the input ends before, it is the other.
    case undecided(byteCount: Int, InputType)

    /// The type if nothing follows the bytes.
    package var settled: InputType {
        if case .undecided(_, let type) = self { type.settled } else { self }
    }

    package var isNeverSound: Bool { if case .notSound = self { true } else { false } }

    /// As many bytes as all short signatures need.
    private static let least = 12

    /// Looks behind longer tags in a file: those of a pipe may be long in coming.
    package init(_ bytes: Span<UInt8>, isFile: Bool = false) {
        let longestTag = isFile ? FLACDecoder.longestPrefix : 1 << 20
        let type = Self.type(of: bytes, longestTag: longestTag)
        self = bytes.count < Self.least ? .undecided(byteCount: Self.least, type) : type
    }

    private static func type(of bytes: Span<UInt8>, longestTag: Int) -> InputType {
        if let type = InputSignature.first(in: bytes) { return type }
        if WAVHeader.isContainer(bytes) { return wav(bytes) }
        if bytes.has("OggS".utf8) { return ogg(bytes) }
        if bytes.has("fLaC".utf8) { return .coded(.flac) }
        if bytes.has("ID3".utf8), bytes.count > 3, (2...4).contains(bytes[3]) {
            return tagged(bytes, longest: longestTag)
        }
        return transportStream(bytes) ?? frames(bytes) ?? PlainText.type(of: bytes)
    }

    /// How far into a WAV file its format is looked for.
    private static let headerLimit = 1 << 20

    /// WAV that `ffmpeg` takes for little-endian.
    package static let bigEndianSamples = "WAV, big-endian with 16 bits"

    /// By its format, as far as that stands near the beginning.
    private static func wav(_ bytes: Span<UInt8>) -> InputType {
        if bytes.has("RIFX".utf8) {
            guard bytes.count >= 36 else { return .undecided(byteCount: 36, .wav) }
            // A plain format of integers, which stands first, is all that `ffmpeg` reads of it.
            guard bytes.has("fmt \0\0\0\u{10}\0\u{1}".utf8, at: 12), bytes[34] == 0 else {
                return .wav
            }
            let kinds: [UInt8: String] = [8: "WAV, big-endian", 16: bigEndianSamples]
            return kinds[bytes[35]].map { .foreign($0) } ?? .wav
        }
        var parser = WAVHeaderParser()
        do throws(WAVError) {
            guard try parser.take(from: bytes, at: 0) == nil, !parser.hasFormat else { return .wav }
        } catch {
            return parser.hasFormat ? .wav : .foreign("WAV of another kind (\(error))")
        }
        let wanted = parser.wantedOffset + parser.wantedByteCount
        return wanted > headerLimit ? .wav : .undecided(byteCount: wanted, .wav)
    }

    /// Looks for the frames that must follow: the few bits of one header may be loud samples.
    private static func frames(_ bytes: Span<UInt8>) -> InputType? {
        guard let first = MPEGFrame(bytes) else { return nil }
        var (frame, offset) = (first, 0)
        for _ in 1..<3 {
            offset += frame.byteCount
            let end = offset + MPEGFrame.headerByteCount
            guard bytes.count >= end else { return .undecided(byteCount: end, .unknown) }
            guard let next = MPEGFrame(bytes.extracting(droppingFirst: offset)),
                next.kind == first.kind
            else { return nil }
            frame = next
        }
        return .foreign(first.name)
    }

    /// Packets of 188 bytes (ISO/IEC 13818-1 §2.4.3.2), also with a time before them (192) or a check
    /// behind (204); each begins with the same byte.
    private static func transportStream(_ bytes: Span<UInt8>) -> InputType? {
        var wanted: Int?
        for (first, size) in [(0, 188), (4, 192), (0, 204)] {
            let places = (0..<4).map { first + $0 * size }
            guard places.allSatisfy({ $0 >= bytes.count || bytes[$0] == 0x47 }) else { continue }
            guard let next = places.first(where: { $0 >= bytes.count }) else {
                return .foreign("an MPEG transport stream")
            }
            wanted = min(wanted ?? .max, next + 1)
        }
        return wanted.map { .undecided(byteCount: $0, PlainText.type(of: bytes)) }
    }

    /// The type behind an ID3v2 tag, whose length has seven bits in a byte; some tag FLAC with it.
    private static func tagged(_ bytes: Span<UInt8>, longest: Int) -> InputType {
        guard bytes.count >= 10 else { return .undecided(byteCount: 10, .foreign("MP3")) }
        let length = 10 + (6..<10).reduce(0) { $0 << 7 | Int(bytes[$1] & 0x7F) }
        guard length <= longest else { return .foreign("MP3") }
        guard bytes.count >= length + 4 else {
            return .undecided(byteCount: length + 4, .foreign("MP3"))
        }
        return bytes.has("fLaC".utf8, at: length) ? .coded(.flac) : .foreign("MP3")
    }

    /// The codec inside Ogg, which the first packet names (RFC 3533 §6), and whether it is alone.
    private static func ogg(_ bytes: Span<UInt8>) -> InputType {
        guard bytes.count > 26 else { return .undecided(byteCount: 27, .foreign("Ogg")) }
        let start = 27 + Int(bytes[26])
        guard bytes.count >= start + 8 else {
            return .undecided(byteCount: start + 8, .foreign("Ogg"))
        }
        guard bytes.has("OpusHead".utf8, at: start) else {
            let names = [
                ("\u{1}vorbis", "Ogg Vorbis"), ("\u{7F}FLAC", "Ogg FLAC"), ("Speex", "Ogg Speex"),
            ]
            // A stream that was joined later has no first packet, and may be ours.
            let isBeginning = bytes[5] & 2 != 0
            let found = names.first { bytes.has($0.0.utf8, at: start) }?.1
            return found.map { .foreign($0) } ?? (isBeginning ? .foreign("Ogg") : .coded(.oggOpus))
        }
        // The next page tells whether there is a second stream beside this one.
        let next = start + (27..<start).reduce(0) { $0 + Int(bytes[$1]) }
        guard bytes.count >= next + 6 else {
            return .undecided(byteCount: next + 6, .coded(.oggOpus))
        }
        let isAlone = !bytes.has("OggS".utf8, at: next) || bytes[next + 5] & 2 == 0
        // Any other head is for ffmpeg.
        let isSimple = (try? OpusHead(packet: bytes.extracting(start..<next))) != nil
        return isAlone && isSimple
            ? .coded(.oggOpus) : .foreign("Ogg Opus of several streams or channels")
    }
}

extension Span<UInt8> {
    func has(_ magic: some Collection<UInt8>, at offset: Int = 0) -> Bool {
        guard count >= offset + magic.count else { return false }
        for (index, byte) in magic.enumerated() where self[offset + index] != byte { return false }
        return true
    }
}

/// The header of a frame of MP2 or MP3 (ISO/IEC 11172-3 §2.4.1.3), or of AAC in ADTS (ISO/IEC
/// 13818-7 §6.2) or LATM (ISO/IEC 14496-3 §1.7.2), as far as it says where the next frame begins.
struct MPEGFrame {
    let name: String
    let byteCount: Int

    /// The bits that all frames of a file share: version, layer, protection and rate; of AAC the
    /// profile too.
    let kind: UInt16

    /// Enough for every kind of header.
    static let headerByteCount = 6

    /// Kilobits a second by index: layer III of MPEG-1, both layers of MPEG-2 and 2.5, layer II of
    /// MPEG-1.
    private static let bitRates = [
        [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
        [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
        [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    ]

    /// Frames of MPEG-1 a second by index; MPEG-2 has half, MPEG-2.5 a quarter.
    private static let sampleRates = [44_100, 48_000, 32_000]

    /// Reads a header; nil when the bytes are not one.
    init?(_ bytes: Span<UInt8>) {
        guard bytes.count >= Self.headerByteCount, bytes[1] >= 0xE0 else { return nil }
        if bytes[0] == 0x56 {
            let length = Int(bytes[1] & 0x1F) << 8 | Int(bytes[2])
            (name, byteCount, kind) = ("AAC in LATM", length + 3, 0x56E0)
            return
        }
        guard bytes[0] == 0xFF else { return nil }
        if bytes[1] & 0xF6 == 0xF0 {
            let length = Int(bytes[3] & 3) << 11 | Int(bytes[4]) << 3 | Int(bytes[5]) >> 5
            guard bytes[2] >> 2 & 15 < 13, length > 7 else { return nil }
            (name, byteCount) = ("AAC", length)
            kind = UInt16(bytes[1]) << 8 | UInt16(bytes[2])
            return
        }
        // 0 is MPEG-2.5, 1 is none, 2 is MPEG-2, 3 is MPEG-1; layer III has the number 1, layer II 2.
        let version = Int(bytes[1] >> 3 & 3)
        let (rateIndex, bitRateIndex) = (Int(bytes[2] >> 2 & 3), Int(bytes[2] >> 4))
        let layer = bytes[1] >> 1 & 3
        guard version != 1, [1, 2].contains(layer), rateIndex < 3, (1...14).contains(bitRateIndex)
        else { return nil }
        let (isFirst, isSecondLayer) = (version == 3, layer == 2)
        let rates = Self.bitRates[isFirst ? (isSecondLayer ? 2 : 0) : 1]
        let bitRate = rates[bitRateIndex - 1] * 1_000
        let sampleRate = Self.sampleRates[rateIndex] >> (isFirst ? 0 : version == 2 ? 1 : 2)
        let padding = Int(bytes[2] >> 1 & 1)
        kind = UInt16(bytes[1]) << 8 | UInt16(bytes[2] & 0x0C)
        let scale = isFirst || isSecondLayer ? 144 : 72
        (name, byteCount) = (isSecondLayer ? "MP2" : "MP3", scale * bitRate / sampleRate + padding)
    }
}
