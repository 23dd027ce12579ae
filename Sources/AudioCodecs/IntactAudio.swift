// SPDX-License-Identifier: Apache-2.0

/// How much of an audio file is whole after its writer was cut off.
///
/// A WAV file ends at its last whole frame, an Ogg file at its last page with a right checksum
/// (RFC 3533 §6). Bytes are given in order; at most one page is kept in memory.
package struct IntactAudio: ~Copyable {
    /// A file system makes a file longer before the new bytes are on the disk, but by no more than
    /// it has room for in the file's last block: ext4, of which one of 4 KiB is the largest here.
    private static let blockByteCount = 4_096
    /// Fewer zeros at the end, which is 1 ms, may as well be samples.
    private static let shortestEmptyTail = 32
    /// `OpusHead` and `OpusTags`.
    private static let headerPageCount = 2

    /// An intact page of audio behind a beginning that is not.
    struct Resumption {
        /// Where it begins.
        var offset: Int
        var page: OggPageReader.Page
    }

    let format: AudioFormat
    private let dropsEmptyTail: Bool
    private var pages = OggPageReader()
    private var seen = 0
    private var isBroken = false
    private var pageCount = 0
    private var pageEnd = 0
    private var granule: Int64 = 0
    /// Samples at 48 kHz that a decoder drops at the start; bytes 10 and 11 of `OpusHead`.
    private var preSkip = 0
    /// Where the last byte that is not zero ends.
    private var contentEnd = 0
    /// The first bytes of a WAV file, as many as its header has.
    private(set) var head: [UInt8] = []
    /// Where an Ogg file goes on whose headers are lost.
    private(set) var resumption: Resumption?

    /// Begins at the start of a file.
    ///
    /// - Parameters:
    ///   - format: what the file holds.
    ///   - dropsEmptyTail: whether zeros at the end of a WAV file, as far as they are in its last
    ///     4,096 bytes, are bytes that never arrived on the disk, and no samples.
    package init(format: AudioFormat, dropsEmptyTail: Bool = false) {
        (self.format, self.dropsEmptyTail) = (format, dropsEmptyTail)
    }

    /// The bytes from the start that are whole.
    package var byteCount: Int {
        if format == .oggOpus { return pageEnd }
        let header = WAVEncoder.headerByteCount
        guard seen > header else { return seen < header ? 0 : header }
        let end = header + (seen - header) / 2 * 2
        let block = (seen - 1) / Self.blockByteCount * Self.blockByteCount
        let content = max(header, block, (contentEnd + 1) / 2 * 2)
        return dropsEmptyTail && end - content >= Self.shortestEmptyTail ? content : end
    }

    /// The frames at 16 kHz in them.
    package var frames: Int {
        if format == .oggOpus { return max(0, Int(granule) - preSkip) / 3 }
        return max(0, byteCount - WAVEncoder.headerByteCount) / 2
    }

    /// Takes the next bytes of the file in; at most a few kilobytes at once.
    package mutating func append(_ bytes: Span<UInt8>) {
        if format == .oggOpus {
            if !isBroken || isResuming { readPages(bytes) }
        } else {
            readSamples(bytes)
        }
        seen += bytes.count
    }

    private mutating func readSamples(_ bytes: Span<UInt8>) {
        for index in 0..<min(bytes.count, WAVEncoder.headerByteCount - head.count) {
            head.append(bytes[index])
        }
        for index in bytes.indices.reversed() where bytes[index] != 0 {
            contentEnd = seen + index + 1
            return
        }
    }

    /// Whether the beginning is lost, and what follows it is being looked for.
    private var isResuming: Bool {
        isBroken && pageCount < Self.headerPageCount && resumption == nil
    }

    private mutating func readPages(_ bytes: Span<UInt8>) {
        // The first page is 28 bytes of page header and `OpusHead` (RFC 7845 §5.1).
        for offset in 38..<40 where (seen..<seen + bytes.count).contains(offset) {
            preSkip |= Int(bytes[offset - seen]) << (8 * (offset - 38))
        }
        do throws(OggOpusError) {
            try pages.append(bytes)
        } catch {
            isBroken = true
            return
        }
        while true {
            do throws(OggOpusError) {
                guard let page = try pages.nextPage() else { return }
                take(page)
            } catch {
                // What follows the first broken page cannot be trusted.
                isBroken = true
            }
            if isBroken && !isResuming { return }
        }
    }

    private mutating func take(_ page: OggPageReader.Page) {
        guard isBroken else {
            pageCount += 1
            pageEnd = pages.byteCount
            granule = max(granule, page.granulePosition)
            return
        }
        // One of the headers may have been spared; both are made anew.
        guard page.sequenceNumber >= Self.headerPageCount else { return }
        resumption = Resumption(offset: pages.byteCount - page.byteCount, page: page)
    }
}
