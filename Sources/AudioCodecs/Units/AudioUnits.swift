// SPDX-License-Identifier: Apache-2.0

internal import AudioCore

/// A piece of a recording of ours that can stand at the beginning and at the end of a file of its
/// own: some samples, a page of Ogg, a frame of FLAC.
package struct AudioUnit: Sendable {
    package let byteCount: Int
    package let frameCount: Int
    /// The mean of the squares of its samples; nil where they were not decoded.
    package let power: Double?

    init(byteCount: Int, frameCount: Int) {
        (self.byteCount, self.frameCount, power) = (byteCount, frameCount, nil)
    }

    init(byteCount: Int, _ samples: some Collection<Int16>) {
        self.byteCount = byteCount
        frameCount = samples.count
        let sum = samples.reduce(0.0) { $0 + Double($1) * Double($1) }
        power = samples.isEmpty ? 0 : sum / Double(samples.count)
    }
}

/// Takes a file of ours apart, from its first byte on; used by one thread at a time.
package protocol AudioUnitReader: AnyObject {
    /// Bytes before the first unit, which each file needs; nil until they have been read.
    var headerByteCount: Int? { get }

    /// Takes bytes in, and appends the units that are whole.
    func take(_ bytes: Span<UInt8>, into units: inout [AudioUnit]) throws(UndecodableAudio)
}

/// 20 ms of samples each.
final class WAVUnitReader: AudioUnitReader {
    let headerByteCount: Int? = WAVEncoder.headerByteCount
    private static let (unitByteCount, unitFrameCount) = (640, 320)

    private let measures: (Int) -> Bool
    private var rest: [UInt8] = []
    private var isBehindHeader = false
    private var frameCount = 0

    init(measures: @escaping (Int) -> Bool) { self.measures = measures }

    func take(_ bytes: Span<UInt8>, into units: inout [AudioUnit]) {
        for index in bytes.indices { rest.append(bytes[index]) }
        if !isBehindHeader, rest.count >= WAVEncoder.headerByteCount {
            rest.removeFirst(WAVEncoder.headerByteCount)
            isBehindHeader = true
        }
        var start = 0
        while isBehindHeader, rest.count - start >= Self.unitByteCount {
            let end = start + Self.unitByteCount
            let isMeasured = measures(frameCount)
            let samples = stride(from: start, to: isMeasured ? end : start, by: 2).map {
                Int16(bitPattern: UInt16(rest[$0]) | UInt16(rest[$0 + 1]) << 8)
            }
            units.append(
                isMeasured
                    ? AudioUnit(byteCount: Self.unitByteCount, samples)
                    : AudioUnit(byteCount: Self.unitByteCount, frameCount: Self.unitFrameCount))
            (start, frameCount) = (end, frameCount + Self.unitFrameCount)
        }
        rest.removeFirst(start)
    }
}

/// A frame each.
final class FLACUnitReader: AudioUnitReader {
    private(set) var headerByteCount: Int?
    private let measures: (Int) -> Bool
    private var header = FLACHeader()
    private var reader: FLACReader?
    private var frameCount = 0

    init(measures: @escaping (Int) -> Bool) { self.measures = measures }

    func take(_ bytes: Span<UInt8>, into units: inout [AudioUnit]) throws(UndecodableAudio) {
        let frames = bytes.extracting(droppingFirst: try header.take(bytes))
        if reader == nil, header.isComplete, let info = header.streamInfo {
            reader = try FLACReader(streamInfo: info.bytes, offset: header.byteCount)
            headerByteCount = header.byteCount
        }
        guard let reader else { return }
        reader.append(frames)
        while let frame = try reader.nextFrame() {
            units.append(
                measures(frameCount)
                    ? AudioUnit(byteCount: frame.byteCount, reader.samples)
                    : AudioUnit(byteCount: frame.byteCount, frameCount: reader.samples.count))
            frameCount += reader.samples.count
        }
    }
}

/// A page each, of which the decoder's delay is silent at the start of the stream.
final class OggOpusUnitReader: AudioUnitReader {
    private(set) var headerByteCount: Int?
    private var reader = OggPageReader()
    private let measures: (Int) -> Bool
    private var pageCount = 0
    private var gain = 0
    private var codec: OpusPacketDecoder?
    /// Samples that a decoder throws away.
    private var delay = 0
    /// Frames of the recording in the pages so far.
    private var frameCount = 0

    init(measures: @escaping (Int) -> Bool) { self.measures = measures }

    func take(_ bytes: Span<UInt8>, into units: inout [AudioUnit]) throws(UndecodableAudio) {
        var rest = bytes
        while !rest.isEmpty {
            let piece = rest.extracting(first: OggPageReader.pieceByteCount)
            rest = rest.extracting(droppingFirst: piece.count)
            try reader.append(piece)
            while let page = try reader.nextPage() { try take(page, into: &units) }
        }
    }

    private func take(
        _ page: OggPageReader.Page, into units: inout [AudioUnit]
    ) throws(UndecodableAudio) {
        if pageCount == 0 { reader.beginStream(serialNumber: page.serialNumber) }
        try reader.beginPackets(limit: 1 << 20)
        pageCount += 1
        var samples: [Int16] = []
        let isMeasured = pageCount > 2 && measures(frameCount)
        if isMeasured, codec == nil { codec = try OpusPacketDecoder(gain: gain) }
        while try reader.nextPacket({ packet throws(UndecodableAudio) in
            if pageCount == 1 {
                let head = try OpusHead(packet: packet)
                (gain, delay) = (head.outputGain, (head.preSkip + 2) / 3)
            } else if isMeasured {
                try codec?.decode(packet, into: &samples)
            }
        }) {}
        if pageCount == 2 { headerByteCount = reader.byteCount }
        guard pageCount > 2 else { return }
        guard isMeasured else {
            let end = max(0, Int(page.granulePosition) / OggOpusEncoder.granulesPerFrame - delay)
            units.append(
                AudioUnit(byteCount: page.byteCount, frameCount: max(0, end - frameCount)))
            frameCount = end
            return
        }
        let unit = AudioUnit(
            byteCount: page.byteCount, samples.dropFirst(frameCount > 0 ? 0 : delay))
        units.append(unit)
        frameCount += unit.frameCount
    }
}

extension AudioCodec {
    /// Takes a file of this form apart; `measures`: the unit that begins at this frame says how loud it is.
    package func makeUnitReader(
        measures: @escaping (_ frame: Int) -> Bool = { _ in false }
    ) -> any AudioUnitReader {
        switch name {
        case AudioCodec.flac.name: FLACUnitReader(measures: measures)
        case AudioCodec.oggOpus.name: OggOpusUnitReader(measures: measures)
        default: WAVUnitReader(measures: measures)
        }
    }

    /// A sample has two bytes, wherever it stands.
    package var isRaw: Bool { isKept(like: .wav) }

    /// How many bytes stand before the first unit; nil when the beginning of a file does not tell.
    package func headerByteCount(in beginning: [UInt8]) -> Int? {
        let reader = makeUnitReader()
        var units: [AudioUnit] = []
        // Damage is told by the decoder.
        try? reader.take(
            beginning.span.extracting(first: OggPageReader.pieceByteCount), into: &units)
        return reader.headerByteCount
    }

    /// The header of a file of so many samples, or of an unknown number; empty for samples alone.
    package func header(ofRaw frames: Int?) -> [UInt8] {
        if bodyOffset > 0 { return [] }
        return frames.map { WAVEncoder.storedHeader(frames: $0) } ?? WAVEncoder.header
    }

    /// A file of its own from units of another file that follow each other, whose numbers and
    /// positions begin anew: packets of Opus get new pages, and the samples of FLAC new frames.
    package func file(of units: [UInt8], serialNumber: UInt32) throws -> [UInt8] {
        name == AudioCodec.flac.name
            ? try FLACEncoder.file(of: units)
            : try OggOpusEncoder.stream(of: units, serialNumber: serialNumber)
    }
}
