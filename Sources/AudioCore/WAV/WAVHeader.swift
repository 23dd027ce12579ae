// SPDX-License-Identifier: Apache-2.0

/// The chunks before the samples of a WAV file, which describe them.
///
/// RIFF, RF64 and BW64 (EBU Tech 3306, ITU-R BS.2088) with PCM or IEEE float samples, plain
/// or as `WAVE_FORMAT_EXTENSIBLE`, and any chunks before the data.
package struct WAVHeader: Sendable, Hashable {
    static let maximumChannelCount = 64

    /// The sample rates that a file may have, in Hz.
    ///
    /// Below the lower bound a period of 20 ms would hold no frame, and the resampler refuses
    /// ratios above 256.
    package static let sampleRates = 100...384_000

    package let sampleFormat: SampleFormat
    package let streamFormat: StreamFormat
    package let dataOffset: Int
    /// The length of the samples, in bytes, as the header claims it; the file may be shorter.
    ///
    /// `nil` is an unknown length: the samples go on to the end of the file. Writers that
    /// cannot seek say so with `0xFFFFFFFF`, with values around `0x7FFFFFFF` (sox, arecord),
    /// or with 0 where no chunk follows.
    package let dataByteCount: Int?
    /// An oddity in the samples that follow: "holds another recording at byte 4711".
    package private(set) var oddity: String?

    package var bytesPerFrame: Int { streamFormat.channelCount * sampleFormat.byteCount }

    /// Whether a file that begins like this calls itself RIFF, RF64, BW64 or RIFX, usable or not.
    package static func isContainer(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count >= 4 else { return false }
        let found = ChunkIdentifier(bytes, at: 0)
        return [.riff, .rf64, .bw64, .rifx].contains(found)
    }

    /// A file's first bytes, which are never sound in a row; a dot stands for any.
    package static let beginning = Array("RIFF....WAVE".utf8)

    /// Where they begin, or fewer of them that are the last ones.
    package static func place(in bytes: Span<UInt8>) -> Int? {
        bytes.indices.first { place in
            bytes[place] == beginning[0]
                && zip(place..<bytes.count, beginning).allSatisfy {
                    bytes[$0] == $1 || $1 == UInt8(ascii: ".")
                }
        }
    }
}

extension WAVHeader {
    /// - Throws: `WAVError` for samples that cannot follow those of this layout.
    package func require(_ layout: StreamFormat) throws(WAVError) {
        guard streamFormat == layout else { throw .otherLayout(offset: dataOffset) }
    }
}

/// The four bytes that name a RIFF chunk, such as `fmt ` or `data`.
package struct ChunkIdentifier: Sendable, Hashable {
    /// The bytes, the first one in the lowest place.
    let code: UInt32

    init(_ bytes: Span<UInt8>, at offset: Int) {
        code = UInt32(truncatingIfNeeded: bytes.littleEndian(at: offset, byteCount: 4))
    }

    private init(_ name: String) { self.init(Array(name.utf8).span, at: 0) }

    static let riff = ChunkIdentifier("RIFF")
    static let rf64 = ChunkIdentifier("RF64")
    static let bw64 = ChunkIdentifier("BW64")
    static let rifx = ChunkIdentifier("RIFX")
    static let program = ChunkIdentifier("\u{7F}ELF")
    static let wave = ChunkIdentifier("WAVE")
    static let sizes = ChunkIdentifier("ds64")
    static let format = ChunkIdentifier("fmt ")
    static let data = ChunkIdentifier("data")

    /// Chunks that are recognised behind the samples whatever size they claim.
    static let usual = Set(
        ["fmt ", "LIST", "JUNK", "PAD ", "bext", "cue ", "data", "fact", "iXML", "id3 ", "PEAK"]
            .map(ChunkIdentifier.init))
}

extension Span<UInt8> {
    /// Whether they begin like a tag that players write around a recording: ID3, APE or Lyrics3.
    package var isTag: Bool {
        ["TAG", "ID3", "APETAGEX", "LYRICS"].contains { name in
            count >= name.utf8.count && zip(indices, name.utf8).allSatisfy { self[$0] == $1 }
        }
    }
}

extension ChunkIdentifier: CustomStringConvertible {
    private var bytes: [UInt8] {
        (0..<UInt32(4)).map { UInt8(truncatingIfNeeded: code >> (8 * $0)) }
    }

    var isText: Bool { bytes.allSatisfy { (0x20..<0x7F).contains($0) || (9...13).contains($0) } }

    /// The name in quotes; bytes that are not printable ASCII as `\x` and two hex digits.
    package var description: String {
        let characters = bytes.map { byte -> String in
            if (0x20..<0x7F).contains(byte) { return String(Unicode.Scalar(byte)) }
            return (byte < 16 ? "\\x0" : "\\x") + String(byte, radix: 16, uppercase: true)
        }
        return "'\(characters.joined())'"
    }
}
