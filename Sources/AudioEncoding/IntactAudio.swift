// SPDX-License-Identifier: Apache-2.0

/// How much of an audio file is whole after its writer was cut off.
///
/// A WAV file ends at its last whole frame, an Ogg file at its last page with a right checksum
/// (RFC 3533 §6). Bytes are given in order; at most one page is kept in memory.
public struct IntactAudio: ~Copyable {
    private let format: AudioFormat
    private var pages = OggPageReader()
    private var seen = 0
    private var isBroken = false
    private var pageEnd = 0
    private var granule: Int64 = 0
    /// Samples at 48 kHz that a decoder drops at the start; bytes 10 and 11 of `OpusHead`.
    private var preSkip = 0

    /// Begins at the start of a file.
    public init(format: AudioFormat) { self.format = format }

    /// The bytes from the start that are whole.
    public var byteCount: Int {
        if format == .oggOpus { return pageEnd }
        let header = WAVEncoder.headerByteCount
        return seen < header ? 0 : header + (seen - header) / 2 * 2
    }

    /// The frames at 16 kHz in them.
    public var frames: Int {
        if format == .oggOpus { return max(0, Int(granule) - preSkip) / 3 }
        return max(0, byteCount - WAVEncoder.headerByteCount) / 2
    }

    /// Takes the next bytes of the file in; at most a few kilobytes at once.
    public mutating func append(_ bytes: Span<UInt8>) {
        if format == .oggOpus && !isBroken { readPages(bytes) }
        seen += bytes.count
    }

    private mutating func readPages(_ bytes: Span<UInt8>) {
        // The first page is 28 bytes of page header and `OpusHead` (RFC 7845 §5.1).
        for offset in 38..<40 where (seen..<seen + bytes.count).contains(offset) {
            preSkip |= Int(bytes[offset - seen]) << (8 * (offset - 38))
        }
        do throws(OggOpusError) {
            try pages.append(bytes)
            while let page = try pages.nextPage() {
                pageEnd = pages.byteCount
                granule = max(granule, page.granulePosition)
            }
        } catch {
            // What follows the first broken page cannot be trusted.
            isBroken = true
        }
    }
}
