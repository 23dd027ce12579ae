// SPDX-License-Identifier: Apache-2.0

internal import AudioCore

/// Decodes a stream of Opus in Ogg (RFC 6716, RFC 7845) to 16 kHz mono while it arrives.
///
/// The samples are exactly those that the stream says it has: the pre-skip is dropped from the
/// beginning, and what the last page's granule position cuts off is dropped from the end. A
/// stream that breaks off is decoded up to its last whole page. Stereo is mixed down; streams
/// that follow one another in one file are joined. Used on one thread at a time; memory stays
/// below some megabytes whatever comes in.
///
/// Positions in the file count samples at 48 kHz and the decoder works at 16 kHz, so sample n
/// of the output stands for position 3n of the stream: the first sample is the first one at or
/// after the pre-skip, the last one is the last one before the end.
final class OggOpusDecoder: AudioDecoder {
    private enum State {
        case beginning
        case head
        case tags(OpusHead)
        case audio
        case ended
    }

    private var reader = OggPageReader()
    private var state = State.beginning
    private var codec: OpusPacketDecoder?
    private var pageSamples: [Int16] = []
    private var serialNumber: Int32 = 0
    private var nextSequenceNumber = 0
    /// Samples at 16 kHz of this stream that are still to be dropped from its beginning.
    private var samplesToSkip = 0
    /// The granule position at which the next page's audio begins; nil before the first one.
    private var position: Int64?

    var format: StreamFormat? { .speech }

    var isAtEnd: Bool { if case .ended = state { true } else { false } }

    func decode(
        _ bytes: Span<UInt8>, into output: inout [Int16]
    ) throws(UndecodableAudio) {
        var rest = bytes
        while !rest.isEmpty {
            let piece = rest.extracting(first: Self.pieceByteCount)
            rest = rest.extracting(droppingFirst: piece.count)
            try reader.append(piece)
            while let page = try reader.nextPage() {
                try decode(page, into: &output)
            }
        }
    }

    /// Appends nothing: a part of a page at the end is dropped.
    func finish(into output: inout [Int16]) throws(UndecodableAudio) {
        switch state {
        case .beginning, .head, .tags: throw .endedInHeader
        case .audio, .ended: break
        }
    }

    // MARK: - Pages

    private func decode(
        _ page: OggPageReader.Page, into output: inout [Int16]
    ) throws(UndecodableAudio) {
        if page.isFirst {
            try beginStream(page)
        } else {
            try continueStream(page)
        }
        pageSamples.removeAll(keepingCapacity: true)
        while try reader.nextPacket({ packet throws(UndecodableAudio) in try decode(packet) }) {}
        try appendPage(page, to: &output)
        if page.isLast {
            guard case .audio = state else { throw .endedInHeader }
            state = .ended
        }
    }

    private func beginStream(_ page: OggPageReader.Page) throws(UndecodableAudio) {
        switch state {
        case .beginning, .ended: break
        case .head, .tags, .audio: throw .multiplexed
        }
        state = .head
        serialNumber = page.serialNumber
        nextSequenceNumber = page.sequenceNumber
        position = nil
        reader.beginStream(serialNumber: page.serialNumber)
        try takePage(page)
    }

    private func continueStream(_ page: OggPageReader.Page) throws(UndecodableAudio) {
        switch state {
        case .beginning: throw .ogg("the first page does not begin a stream")
        case .ended: throw .ogg("a page follows the end of the stream")
        case .head, .tags, .audio: break
        }
        guard page.serialNumber == serialNumber else { throw .multiplexed }
        guard page.sequenceNumber == nextSequenceNumber else {
            throw .missingPages(before: page.sequenceNumber)
        }
        try takePage(page)
    }

    private func takePage(_ page: OggPageReader.Page) throws(UndecodableAudio) {
        nextSequenceNumber = Int(UInt32(truncatingIfNeeded: page.sequenceNumber + 1))
        switch state {
        case .audio: try reader.beginPackets(limit: Self.maximumPacketByteCount)
        default: try reader.beginPackets(limit: Self.maximumTagsByteCount)
        }
    }

    // MARK: - Packets

    private func decode(_ packet: Span<UInt8>) throws(UndecodableAudio) {
        switch state {
        case .head:
            state = .tags(try OpusHead(packet: packet))
        case .tags(let head):
            guard packet.has("OpusTags".utf8) else {
                throw .ogg("the second packet is not 'OpusTags'")
            }
            codec = try OpusPacketDecoder(gain: head.outputGain)
            samplesToSkip = (head.preSkip + 2) / 3
            state = .audio
        case .audio:
            try codec?.decode(packet, into: &pageSamples)
        case .beginning, .ended:
            break
        }
    }

    /// Appends the page's samples without those that the stream says do not belong to it.
    private func appendPage(
        _ page: OggPageReader.Page, to output: inout [Int16]
    ) throws(UndecodableAudio) {
        guard !pageSamples.isEmpty else { return }
        let end = page.granulePosition
        guard end >= 0, end <= Self.maximumPosition else { throw .impossiblePosition(end) }
        let length = Int64(pageSamples.count) * 3
        var kept = pageSamples.count
        if page.isLast {
            // The first page begins at zero when it is also the last (RFC 7845 §4.5).
            let playable = end - (position ?? 0)
            kept = Int(min(length, max(0, playable)) + 2) / 3
        } else if position == nil, end < length {
            throw .impossiblePosition(end)
        }
        guard end >= position ?? 0 else { throw .impossiblePosition(end) }
        position = end
        let skipped = min(samplesToSkip, kept)
        samplesToSkip -= skipped
        output.append(contentsOf: pageSamples[skipped..<kept])
    }

    /// How many bytes libogg is given at once, which bounds its buffer.
    private static let pieceByteCount = 4096

    /// The longest comment header that is read; covers belong into music.
    private static let maximumTagsByteCount = 1 << 20

    /// The longest audio packet that is read (RFC 7845 §6).
    private static let maximumPacketByteCount = 61_440

    /// The highest position that is believed: far beyond any recording, and far from overflow.
    private static let maximumPosition = Int64(1) << 62
}

/// The identification header of an Ogg Opus stream (RFC 7845 §5.1).
///
/// | offset | size | meaning |
/// | ---: | ---: | --- |
/// | 0 | 8 | `OpusHead` |
/// | 8 | 1 | version; the upper four bits must be 0 |
/// | 9 | 1 | channels, not 0 |
/// | 10 | 2 | pre-skip, in samples at 48 kHz, little-endian |
/// | 12 | 4 | rate of the original, in Hz, little-endian; informative |
/// | 16 | 2 | output gain, in 1/256 dB, signed, little-endian |
/// | 18 | 1 | channel mapping family |
struct OpusHead {
    /// Samples at 48 kHz to drop from the beginning.
    let preSkip: Int

    /// What to apply to the decoded samples, in 1/256 dB.
    let outputGain: Int

    init(packet: Span<UInt8>) throws(UndecodableAudio) {
        guard packet.count >= 19, packet.has("OpusHead".utf8) else {
            throw .ogg("the first packet is not 'OpusHead'")
        }
        guard packet[8] < 16 else {
            throw .ogg("version \(packet[8]) of the format is not known")
        }
        guard packet[18] == 0, (1...2).contains(packet[9]) else {
            let layout = "\(packet[9]) channels in mapping family \(packet[18])"
            throw .ogg("\(layout) are not supported, only mono and stereo")
        }
        preSkip = Int(packet[10]) | Int(packet[11]) << 8
        outputGain = Int(Int16(bitPattern: UInt16(packet[16]) | UInt16(packet[17]) << 8))
    }
}

extension UndecodableAudio {
    static func ogg(_ reason: String) -> UndecodableAudio {
        UndecodableAudio("Ogg Opus: \(reason)")
    }

    /// No Ogg page begins at this byte, or its checksum is wrong (RFC 3533 §6).
    static func notAPage(offset: Int) -> UndecodableAudio {
        ogg("byte \(offset) does not begin an intact Ogg page")
    }

    static func missingPages(before sequence: Int) -> UndecodableAudio {
        ogg("pages are missing before page \(sequence)")
    }

    static let multiplexed = ogg("the file holds more than one stream")

    /// A page's granule position contradicts the audio before it (RFC 7845 §4).
    static func impossiblePosition(_ position: Int64) -> UndecodableAudio {
        ogg("granule position \(position) contradicts the audio before it")
    }

    static let endedInHeader = ogg("the stream ended before its headers were complete")

    static func codecFailed(reason: String) -> UndecodableAudio {
        ogg("cannot create a decoder: \(reason)")
    }
}
