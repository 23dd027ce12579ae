// SPDX-License-Identifier: Apache-2.0

internal import AudioCore

/// Decodes a stream of Opus in Ogg (RFC 6716, RFC 7845) to 16 kHz mono while it arrives.
///
/// The samples are exactly those that the stream says it has: the pre-skip is dropped from the
/// beginning, and what the last page's granule position cuts off is dropped from the end. Behind lost
/// and damaged pages it goes on, and granule positions say how much is silent; a stream that breaks
/// off is decoded up to its last whole page. Stereo is mixed down; streams that follow one another in
/// one file are joined, and those beside it are passed over. Used on one thread at a time; memory
/// stays below some megabytes whatever comes in.
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
    /// The serial numbers of streams that are passed over.
    private var others: Set<Int32> = []
    /// Samples at 16 kHz of this stream that are still to be dropped from its beginning.
    private var samplesToSkip = 0
    /// The granule position at which the next page's audio begins; nil before the first one.
    private var position: Int64?
    private var timeline = DecodedTimeline()
    private var pageCount = 0
    /// Where the present page begins.
    private var pageOffset = 0

    var format: StreamFormat? { .speech }

    var isAtEnd: Bool { if case .ended = state { true } else { false } }

    func decode(
        _ bytes: Span<UInt8>, into output: inout [Int16]
    ) throws(UndecodableAudio) {
        var rest = bytes
        while !rest.isEmpty {
            let piece = rest.extracting(first: OggPageReader.pieceByteCount)
            rest = rest.extracting(droppingFirst: piece.count)
            try reader.append(piece)
            while let page = try nextPage() { try decode(page, into: &output) }
        }
    }

    /// Appends nothing: a part of a page at the end is dropped.
    func finish(into output: inout [Int16]) throws(UndecodableAudio) {
        switch state {
        case .beginning where timeline.damage != nil:
            throw .notAPage(offset: timeline.damage ?? 0)
        case .beginning, .head, .tags: if timeline.frameCount == 0 { throw .endedInHeader }
        case .ended: timeline.noteEnd()
        case .audio: break
        }
    }

    func takeFlaws() -> [AudioFlaw] { timeline.take() }

    // MARK: - Pages

    /// The next intact page, whatever stands before it; nil when more bytes are needed.
    private func nextPage() throws(UndecodableAudio) -> OggPageReader.Page? {
        while true {
            let offset = reader.byteCount
            do throws(UndecodableAudio) {
                return try reader.nextPage()
            } catch {
                timeline.damage = timeline.damage ?? offset
                guard reader.brokenCount <= Self.mostBroken + pageCount else { throw error }
            }
        }
    }

    private func decode(
        _ page: OggPageReader.Page, into output: inout [Int16]
    ) throws(UndecodableAudio) {
        pageCount += 1
        pageOffset = reader.byteCount - page.byteCount
        guard try isOfStream(page) else { return }
        if case .audio = state {
            try reader.beginPackets(limit: Self.maximumPacketByteCount)
        } else {
            try reader.beginPackets(limit: Self.maximumTagsByteCount)
        }
        pageSamples.removeAll(keepingCapacity: true)
        while try reader.nextPacket({ packet throws(UndecodableAudio) in try decode(packet) }) {}
        appendPage(page, to: &output)
        if page.isLast { state = .ended }
    }

    /// Whether the page belongs to the stream that is decoded, which it may begin.
    private func isOfStream(_ page: OggPageReader.Page) throws(UndecodableAudio) -> Bool {
        let offset = pageOffset
        if page.isFirst {
            let isOpus = reader.begins(with: Array("OpusHead".utf8))
            switch state {
            case .audio where !isOpus, .ended where !isOpus:
                timeline.note(
                    "holds another stream at byte \(offset), which is left out: it is not Opus")
                return pass(page)
            case _ where !isOpus: return pass(page)
            // Streams that are mixed begin before any of them goes on.
            case .head where page.serialNumber != serialNumber,
                .tags where page.serialNumber != serialNumber:
                return pass(page)
            case .beginning, .head, .tags: break
            case .audio, .ended: timeline.note("holds another stream at byte \(offset)")
            }
            others.remove(page.serialNumber)
            state = .head
        } else {
            let isOwn = page.serialNumber == serialNumber
            switch state {
            case .beginning: return false
            case _ where others.contains(page.serialNumber): return false
            case .ended: timeline.note("goes on behind its end mark, at byte \(offset)")
            case .head, .tags, .audio: return isOwn
            }
            state = .audio
            guard !isOwn else { return true }
            // The beginning of a further stream is lost.
        }
        (serialNumber, position, samplesToSkip) = (page.serialNumber, nil, 0)
        reader.beginStream(serialNumber: page.serialNumber)
        return true
    }

    private func pass(_ page: OggPageReader.Page) -> Bool {
        if others.count < Self.mostOthers { others.insert(page.serialNumber) }
        return false
    }

    // MARK: - Packets

    private func decode(_ packet: Span<UInt8>) throws(UndecodableAudio) {
        switch state {
        case .head:
            do throws(UndecodableAudio) {
                state = .tags(try OpusHead(packet: packet))
            } catch {
                guard timeline.frameCount > 0 else { throw error }
                timeline.note("holds another stream, which is left out: \(error.description)")
                others.insert(serialNumber)
                state = .ended
            }
        case .tags(let head):
            codec = try OpusPacketDecoder(gain: head.outputGain)
            samplesToSkip = (head.preSkip + 2) / 3
            state = .audio
            // The page of the tags may be lost.
            if !packet.has("OpusTags".utf8) { try decode(packet) }
        case .audio:
            do throws(UndecodableAudio) {
                try codec?.decode(packet, into: &pageSamples)
            } catch {
                // The page's position says how much is missing.
                timeline.damage = timeline.damage ?? pageOffset
            }
        case .beginning, .ended:
            break
        }
    }

    /// Appends the page's samples without those that the stream says do not belong to it.
    private func appendPage(_ page: OggPageReader.Page, to output: inout [Int16]) {
        guard !pageSamples.isEmpty else { return }
        let length = Int64(pageSamples.count) * 3
        let isKnown = (0...Self.maximumPosition).contains(page.granulePosition)
        let end = isKnown ? page.granulePosition : (position ?? 0) + length
        var kept = pageSamples.count
        // A damaged first page still tells its place.
        if let position = position ?? (timeline.damage == nil ? nil : 0) {
            let isBack = end < position
            timeline.lose(
                isBack ? -1 : Int(max(0, end - length - position) / 3),
                sampleRate: StreamFormat.speech.sampleRate,
                capacity: reader.byteCount * Self.mostFramesPerByte, before: pageOffset)
        } else if end > length {
            timeline.note("begins in the middle of a stream")
        }
        if page.isLast, end >= position ?? 0 {
            // The first page begins at zero when it is also the last (RFC 7845 §4.5).
            kept = Int(min(length, end - (position ?? 0)) + 2) / 3
        }
        position = end
        let skipped = min(samplesToSkip, kept)
        samplesToSkip -= skipped
        output.append(contentsOf: pageSamples[skipped..<kept])
        timeline.add(kept - skipped)
    }

    /// The longest comment header that is read; covers belong into music.
    private static let maximumTagsByteCount = 1 << 20

    /// The longest audio packet that is read (RFC 7845 §6).
    private static let maximumPacketByteCount = 61_440

    /// Places without a page, beside the pages that there are.
    private static let mostBroken = 10_000

    /// Streams that are passed over and known.
    private static let mostOthers = 64

    /// A packet of two bytes may last for 60 ms, and needs a third in its page's head.
    private static let mostFramesPerByte = 640

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
/// | 19 | 1 | streams; only in a family other than 0 |
struct OpusHead {
    /// Samples at 48 kHz to drop from the beginning.
    let preSkip: Int

    /// The gain for the decoded samples, in 1/256 dB.
    let outputGain: Int

    init(packet: Span<UInt8>) throws(UndecodableAudio) {
        guard packet.count >= 19, packet.has("OpusHead".utf8) else {
            throw .ogg("the first packet is not 'OpusHead'")
        }
        guard packet[8] < 16 else {
            throw .ogg("version \(packet[8]) of the format is not known")
        }
        let isSingle = packet[18] == 0 || packet.count > 19 && packet[19] == 1
        guard isSingle, (1...2).contains(packet[9]) else {
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

    static let endedInHeader = ogg("the stream ended before its headers were complete")

    static func codecFailed(reason: String) -> UndecodableAudio {
        ogg("cannot create a decoder: \(reason)")
    }
}
