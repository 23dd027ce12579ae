// SPDX-License-Identifier: Apache-2.0

/// Finds the last page of an Ogg Opus file with a right checksum (RFC 3533 §6), or the first hole
/// before such a page.
final class OggOpusRecoverer: AudioRecoverer {
    private static let headerPageCount = 2

    private var pages = OggPageReader()
    private var seen = 0
    private var isBroken = false
    private var pageCount = 0
    private var pageEnd = 0
    private var granule: Int64 = 0
    /// Samples at 48 kHz that a decoder drops at the start; bytes 10 and 11 of `OpusHead`.
    private var preSkip = 0
    /// Where the file goes on behind a hole: an intact page, and where it begins.
    private var resumption: (offset: Int, page: OggPageReader.Page)?

    func append(_ bytes: Span<UInt8>) {
        if !isBroken || isResuming { readPages(bytes) }
        seen += bytes.count
    }

    func finish() throws(EncodingError) -> IntactAudio {
        IntactAudio(
            byteCount: pageEnd, frames: max(0, Int(granule) - preSkip) / 3,
            hole: try hole())
    }

    private var isResuming: Bool {
        isBroken && resumption == nil
    }

    private func readPages(_ bytes: Span<UInt8>) {
        // The first page is 28 bytes of page header and `OpusHead` (RFC 7845 §5.1).
        for offset in 38..<40 where (seen..<seen + bytes.count).contains(offset) {
            preSkip |= Int(bytes[offset - seen]) << (8 * (offset - 38))
        }
        do throws(UndecodableAudio) {
            try pages.append(bytes)
        } catch {
            isBroken = true
            return
        }
        while true {
            do throws(UndecodableAudio) {
                guard let page = try pages.nextPage() else { return }
                take(page)
            } catch {
                // Pages behind a broken one are trusted only where their numbers agree.
                isBroken = true
            }
            if isBroken && !isResuming { return }
        }
    }

    private func take(_ page: OggPageReader.Page) {
        guard isBroken else {
            pageCount += 1
            pageEnd = pages.byteCount
            granule = max(granule, page.granulePosition)
            return
        }
        // A header may have been spared; both are made anew.
        guard page.sequenceNumber >= Self.headerPageCount else { return }
        resumption = (pages.byteCount - page.byteCount, page)
    }

    private func hole() throws(EncodingError) -> FileHole? {
        guard let resumption, resumption.page.packetCount > 0 else { return nil }
        let granules = OpusPacketEncoder.framesPerPacket * OggOpusEncoder.granulesPerFrame
        // The last page of a stream may end within a packet.
        let end = (Int(resumption.page.granulePosition) + granules - 1) / granules
        let (first, next) = (
            max(0, pageCount - Self.headerPageCount),
            resumption.page.sequenceNumber - Self.headerPageCount
        )
        let offset = pageCount < Self.headerPageCount ? 0 : pageEnd
        // Where the numbers do not agree, the pages are not ours. Each had a header, too.
        guard end - resumption.page.packetCount == next,
            first < next || offset == 0 && first == next,
            next - first <= (resumption.offset - offset) / OggPageWriter.pageHeaderByteCount
        else { return nil }
        let bytes = try OggOpusEncoder.silence(
            first..<next, serialNumber: UInt32(bitPattern: resumption.page.serialNumber),
            withHeaders: offset == 0)
        return FileHole(
            offset: offset, replacedByteCount: resumption.offset - offset, bytes: bytes,
            silentFrames: (next - first) * OpusPacketEncoder.framesPerPacket)
    }
}
