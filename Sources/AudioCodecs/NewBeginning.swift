// SPDX-License-Identifier: Apache-2.0

/// What an audio file has to begin with whose own beginning was lost.
///
/// A power cut may take what was written first, and leave what was written after it. What an
/// encoder of ours writes first is known: it depends on nothing that was said.
package struct NewBeginning: Sendable, Equatable {
    /// The new first bytes.
    package let bytes: [UInt8]
    /// The first bytes of the file that they replace.
    package let replacedByteCount: Int
    /// Frames at 16 kHz of silence within, in the place of audio that was lost.
    package let silentFrames: Int
}

extension IntactAudio {
    /// What the file has to begin with; nil when its beginning is whole, or nothing follows it.
    ///
    /// Asked when all of the file was given.
    ///
    /// - Throws: `EncodingError` when there is no memory.
    package func newBeginning() throws(EncodingError) -> NewBeginning? {
        format == .oggOpus ? try newPages() : newHeader
    }

    /// A header that was torn or never written; another one that can be read is left alone.
    private var newHeader: NewBeginning? {
        guard frames > 0, head != WAVEncoder.header else { return nil }
        let isTorn = zip(head, WAVEncoder.header).allSatisfy { $0 == 0 || $0 == $1 }
        guard isTorn || !isOfWAV else { return nil }
        return NewBeginning(
            bytes: WAVEncoder.header, replacedByteCount: WAVEncoder.headerByteCount,
            silentFrames: 0)
    }

    private var isOfWAV: Bool {
        head.starts(with: "RIFF".utf8) && head.dropFirst(8).starts(with: "WAVE".utf8)
    }

    /// The two headers, and silence up to the first page that is left.
    private func newPages() throws(EncodingError) -> NewBeginning? {
        guard let resumption, resumption.page.packetCount > 0 else { return nil }
        let granules = OpusPacketEncoder.framesPerPacket * OggOpusEncoder.granulesPerFrame
        // The last page of a stream may end within a packet.
        let end = (Int(resumption.page.granulePosition) + granules - 1) / granules
        let packets = end - resumption.page.packetCount
        let pages = resumption.page.sequenceNumber - 2
        // Where the numbers do not agree, the pages are not ours. Each had a header, too.
        guard packets >= 0, pages <= resumption.offset / OggPageWriter.pageHeaderByteCount,
            pages == 0 ? packets == 0 : packets % pages == 0
        else { return nil }
        let bytes = try OggOpusEncoder.beginning(
            serialNumber: UInt32(bitPattern: resumption.page.serialNumber), pageCount: pages,
            packetsPerPage: pages == 0 ? 0 : packets / pages)
        return NewBeginning(
            bytes: bytes, replacedByteCount: resumption.offset,
            silentFrames: packets * OpusPacketEncoder.framesPerPacket)
    }
}
