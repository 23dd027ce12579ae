// SPDX-License-Identifier: Apache-2.0

/// What stands before the samples of a WAV file, and says what they are.
///
/// RIFF, RF64 and BW64 (EBU Tech 3306, ITU-R BS.2088) with PCM or IEEE float samples, plain
/// or as `WAVE_FORMAT_EXTENSIBLE`, and any chunks before the data.
package struct WAVHeader: Sendable, Hashable {
    /// The most channels that a file may have.
    static let maximumChannelCount = 64

    /// The sample rates that a file may have, in Hz.
    ///
    /// Below the lower bound a period of 20 ms would hold no frame, and the resampler refuses
    /// ratios above 256.
    package static let sampleRates = 100...384_000

    /// How far into a stream `parse` looks for the data chunk, in bytes.
    package static let maximumByteCount = 1 << 20

    /// How each sample is stored.
    package let sampleFormat: SampleFormat

    /// The rate and channel count of the frames.
    package let streamFormat: StreamFormat

    /// Where the samples begin, in bytes from the file's start.
    package let dataOffset: Int

    /// The length of the samples, in bytes, as the header claims it; the file may be shorter.
    ///
    /// `nil` is an unknown length: the samples go on to the end of the file. Writers that
    /// cannot seek say so with `0xFFFFFFFF`, with values around `0x7FFFFFFF` (sox, arecord),
    /// or with 0 in a file whose RIFF chunk ends at its data as well.
    package let dataByteCount: Int?

    /// Bytes in one frame of the file.
    package var bytesPerFrame: Int { streamFormat.channelCount * sampleFormat.byteCount }

    /// Whether a file that begins like this calls itself RIFF.
    ///
    /// - Parameter bytes: at least the first four bytes.
    /// - Returns: true for RIFF, RF64, BW64 and RIFX, be the rest usable or not.
    package static func isContainer(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count >= 4 else { return false }
        let found = ChunkIdentifier(bytes, at: 0)
        return [.riff, .rf64, .bw64, .rifx].contains(found)
    }

    /// Reads the header at the start of `bytes`.
    ///
    /// For streams, of which only the beginning is there. A file is better read with
    /// `WAVHeaderParser`, which needs no bytes of the chunks that it skips.
    ///
    /// - Parameter bytes: the file from its first byte on, as much of it as has come.
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
