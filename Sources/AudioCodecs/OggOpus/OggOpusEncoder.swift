// SPDX-License-Identifier: Apache-2.0

extension AudioCodec {
    /// Opus in Ogg (RFC 6716, RFC 7845), as it suits speech.
    public static let oggOpus = AudioCodec(
        name: "ogg-opus", title: "Ogg Opus", fileExtension: "ogg",
        fileExtensions: ["ogg", "opus", "oga"], mediaType: "audio/ogg;codecs=opus",
        mediaTypes: ["audio/ogg", "application/ogg", "audio/opus"],
        highestByteRate: 8_000, nominalByteRate: 5_000, isLossless: false,
        // RFC 7845 §3: the first packet has the first page for itself.
        encoder: { serialNumber, _ throws(EncodingError) in
            try OggOpusEncoder(serialNumber: serialNumber)
        },
        makeDecoder: { OggOpusDecoder() }, makeRecoverer: { _ in OggOpusRecoverer() })
}

/// Writes Opus in Ogg (RFC 6716, RFC 7845).
///
/// The stream: a page with `OpusHead`, a page with `OpusTags`, then a page for each packet of
/// 20 ms, written as soon as that is full. Audio waits for its page, and a killed program loses it;
/// a page costs 28 bytes. The last page carries the end mark and the granule position that makes the
/// decoded length equal to the recorded one, to the frame. Equal frames and serial number make equal
/// bytes, however the frames are divided among the calls.
final class OggOpusEncoder: AudioEncoder {
    /// Granule positions count at 48 kHz, whatever the input rate (RFC 7845 §4).
    static let granulesPerFrame = 3
    private static let granulesPerPage = OpusPacketEncoder.framesPerPacket * granulesPerFrame

    private var opus: OpusPacketEncoder
    private var pages: OggPageWriter
    private let identificationHeader: [UInt8]
    private let commentHeader: [UInt8]

    private var frames: [Int16] = []
    private var packet = [UInt8](repeating: 0, count: OpusPacketEncoder.maximumPacketByteCount)
    private var takenFrameCount = 0
    private var packetCount = 0

    /// The serial number tells this stream from others in one file; random by RFC 3533 §6.
    init(
        serialNumber: UInt32 = .random(in: .min ... .max), bitrate: Int = 32_000
    ) throws(EncodingError) {
        opus = try OpusPacketEncoder(bitrate: bitrate)
        pages = try OggPageWriter(serialNumber: serialNumber)
        identificationHeader = Self.identificationHeader(
            preSkip: opus.lookahead * Self.granulesPerFrame)
        commentHeader = Self.commentHeader()
        frames.reserveCapacity(OpusPacketEncoder.framesPerPacket)
    }

    func begin(into output: inout [UInt8]) throws(EncodingError) {
        for var header in [identificationHeader, commentHeader] {
            try pages.queue(&header, byteCount: header.count, granulePosition: 0)
            pages.flush(into: &output)
        }
    }

    func encode(
        _ frames: Span<Int16>, into output: inout [UInt8]
    ) throws(EncodingError) {
        for index in frames.indices {
            self.frames.append(frames[index])
            guard self.frames.count == OpusPacketEncoder.framesPerPacket else { continue }
            takenFrameCount += self.frames.count
            try encodePacket(into: &output)
        }
    }

    /// Appends the rest, filled up with silence that the last granule position trims off.
    func finish(into output: inout [UInt8]) throws(EncodingError) {
        takenFrameCount += frames.count
        let end = preSkip + takenFrameCount * Self.granulesPerFrame
        // The decoder's delay makes at least one more packet necessary, so that there always
        // is one to bear the end mark.
        repeat {
            while frames.count < OpusPacketEncoder.framesPerPacket { frames.append(0) }
            try encodePacket(endingAt: end, into: &output)
        } while granulePosition < end
    }

    /// A stream of its own from pages of another one that follow each other: the same packets behind
    /// new headers, with numbers and positions from the beginning, and an end.
    static func stream(of pages: [UInt8], serialNumber: UInt32) throws -> [UInt8] {
        var packets: [(bytes: [UInt8], end: Int)] = []
        var reader = OggPageReader()
        var rest = pages.span
        while !rest.isEmpty {
            let piece = rest.extracting(first: OggPageReader.pieceByteCount)
            rest = rest.extracting(droppingFirst: piece.count)
            try reader.append(piece)
            while let page = try reader.nextPage() {
                if packets.isEmpty { reader.beginStream(serialNumber: page.serialNumber) }
                try reader.beginPackets(limit: OpusPacketEncoder.maximumPacketByteCount)
                let end = Int(page.granulePosition)
                while try reader.nextPacket({ packet in
                    packets.append((packet.indices.map { packet[$0] }, end))
                }) {}
            }
        }
        let encoder = try OggOpusEncoder(serialNumber: serialNumber)
        var bytes: [UInt8] = []
        try encoder.begin(into: &bytes)
        let origin = (packets.first?.end ?? 0) - granulesPerPage
        for (index, packet) in packets.enumerated() {
            var packetBytes = packet.bytes
            try encoder.pages.queue(
                &packetBytes, byteCount: packetBytes.count, granulePosition: packet.end - origin,
                isLast: index == packets.count - 1)
            encoder.pages.flush(into: &bytes)
        }
        return bytes
    }

    /// Pages of silence by their numbers, from 0 behind the headers, in the place of lost ones; also
    /// the headers, if asked for.
    ///
    /// The serial number is that of the pages that are left.
    static func silence(
        _ pages: Range<Int>, serialNumber: UInt32, withHeaders: Bool
    ) throws(EncodingError) -> [UInt8] {
        let encoder = try OggOpusEncoder(serialNumber: serialNumber)
        var bytes: [UInt8] = []
        try encoder.begin(into: &bytes)
        if !withHeaders { bytes = [] }
        var silence = silentPacket
        for number in 0..<pages.upperBound {
            encoder.packetCount += 1
            try encoder.pages.queue(
                &silence, byteCount: silence.count, granulePosition: encoder.granulePosition)
            var page: [UInt8] = []
            encoder.pages.flush(into: &page)
            if pages.contains(number) { bytes += page }
        }
        return bytes
    }

    /// A frame of no bytes, as for a pause: 20 ms of SILK, wideband, mono (RFC 6716 §3.1, §3.2.1).
    private static let silentPacket: [UInt8] = [9 << 3]

    /// Every packet as long as RFC 6716 allows, each on a page of its own.
    func maximumByteCount(forFrames frames: Int) -> Int {
        // Beside the new frames: a begun packet, and the decoder's delay.
        let pending = OpusPacketEncoder.framesPerPacket + opus.lookahead
        let packets = (frames + pending) / OpusPacketEncoder.framesPerPacket + 1
        let segments = OpusPacketEncoder.maximumPacketByteCount / 255 + 1
        let page = OggPageWriter.pageHeaderByteCount + segments
        return headersByteCount + packets * (page + OpusPacketEncoder.maximumPacketByteCount)
    }

    private var headersByteCount: Int {
        2 * (OggPageWriter.pageHeaderByteCount + 1) + identificationHeader.count
            + commentHeader.count
    }

    /// Samples at 48 kHz that a decoder throws away at the start (RFC 7845 §4.2).
    private var preSkip: Int { opus.lookahead * Self.granulesPerFrame }

    /// Samples at 48 kHz in all packets made so far.
    private var granulePosition: Int {
        packetCount * OpusPacketEncoder.framesPerPacket * Self.granulesPerFrame
    }

    /// Encodes the collected frames to a page; `end` is the stream's last granule position, when they
    /// are its last ones.
    private func encodePacket(
        endingAt end: Int? = nil, into output: inout [UInt8]
    ) throws(EncodingError) {
        let byteCount = try opus.encode(frames, into: &packet)
        frames.removeAll(keepingCapacity: true)
        packetCount += 1
        let isLast = end.map { granulePosition >= $0 } ?? false
        try pages.queue(
            &packet, byteCount: byteCount,
            granulePosition: min(granulePosition, end ?? .max), isLast: isLast)
        pages.flush(into: &output)
    }

    /// RFC 7845 §5.1: magic, version 1, one channel, pre-skip, input rate, gain 0, mapping 0.
    private static func identificationHeader(preSkip: Int) -> [UInt8] {
        Array("OpusHead".utf8) + [1, 1] + littleEndian(UInt16(clamping: preSkip))
            + littleEndian(UInt32(16_000)) + [0, 0, 0]
    }

    /// RFC 7845 §5.2: magic, vendor, one comment.
    private static func commentHeader() -> [UInt8] {
        let vendor = Array(OpusPacketEncoder.version.utf8)
        let comment = Array("ENCODER=utter".utf8)
        return Array("OpusTags".utf8)
            + littleEndian(UInt32(clamping: vendor.count)) + vendor
            + littleEndian(UInt32(1))
            + littleEndian(UInt32(clamping: comment.count)) + comment
    }

    private static func littleEndian<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        (0..<Value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}
