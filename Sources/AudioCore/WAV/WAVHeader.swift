// SPDX-License-Identifier: Apache-2.0

/// What stands before the samples of a WAV file, and says what they are.
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

    /// How far into a stream `parse` looks for the data chunk, in bytes.
    static let maximumByteCount = 1 << 20

    package let sampleFormat: SampleFormat
    package let streamFormat: StreamFormat
    package let dataOffset: Int
    /// The length of the samples, in bytes, as the header claims it; the file may be shorter.
    ///
    /// `nil` is an unknown length: the samples go on to the end of the file. Writers that
    /// cannot seek say so with `0xFFFFFFFF`, with values around `0x7FFFFFFF` (sox, arecord),
    /// or with 0 in a file whose RIFF chunk ends at its data as well.
    package let dataByteCount: Int?

    package var bytesPerFrame: Int { streamFormat.channelCount * sampleFormat.byteCount }

    /// Whether a file that begins like this calls itself RIFF, RF64, BW64 or RIFX, usable or not.
    package static func isContainer(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count >= 4 else { return false }
        let found = ChunkIdentifier(bytes, at: 0)
        return [.riff, .rf64, .bw64, .rifx].contains(found)
    }

    /// For streams, of which only the beginning is there; a file is better read with
    /// `WAVHeaderParser`, which needs no bytes of the chunks that it skips.
    ///
    /// - Returns: `nil` when more bytes are needed; never for `maximumByteCount` or more.
    /// - Throws: `WAVError` when the bytes are no WAV file that can be used, and when no data
    ///   chunk begins within `maximumByteCount`.
    package static func parse(_ bytes: Span<UInt8>) throws(WAVError) -> WAVHeader? {
        var parser = WAVHeaderParser()
        while true {
            let wanted = parser.wantedOffset..<parser.wantedOffset + parser.wantedByteCount
            guard wanted.upperBound <= maximumByteCount else {
                throw .noDataWithin(limit: maximumByteCount)
            }
            guard wanted.upperBound <= bytes.count else { return nil }
            if let header = try parser.take(bytes.extracting(wanted)) { return header }
        }
    }
}

extension WAVHeader {
    /// Stands for the header that raw samples do not have: signed 16-bit, to the end of the file.
    package init(missingBefore format: StreamFormat) {
        self.init(sampleFormat: .int16, streamFormat: format, dataOffset: 0, dataByteCount: nil)
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
