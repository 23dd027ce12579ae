// SPDX-License-Identifier: Apache-2.0

package import AudioCore

/// Decodes a WAV file, and what stands behind its samples and is sound as well.
final class WAVDecoder: AudioDecoder {
    var format: StreamFormat? { samples?.format }
    var isAtEnd: Bool { samples?.isAtEnd == true && (left == 0 || left == nil && isOver) }

    private var parser = WAVHeaderParser()
    /// Bytes that are not samples, or not yet known to be; `offset` is that of the first one.
    private var head: [UInt8] = []
    private var offset = 0
    private var samples: PCMDecoder?
    /// Bytes that still belong to the samples; nil when all do that follow.
    private var left: Int? = 0
    private var isOver = false
    private var timeline = DecodedTimeline()

    /// How much is looked at at once: what is not samples is copied for each chunk.
    private static let pieceByteCount = 16_384

    func decode(
        _ bytes: Span<UInt8>, into output: inout [Int16]
    ) throws(UndecodableAudio) {
        var rest = bytes
        while !rest.isEmpty, !isOver {
            let piece = rest.extracting(first: Self.pieceByteCount)
            rest = rest.extracting(droppingFirst: piece.count)
            try take(piece, into: &output)
            while left == 0, !isOver, try readOn(isLast: false, into: &output) {}
        }
    }

    func finish(into output: inout [Int16]) throws(UndecodableAudio) {
        while left == 0, !isOver, try readOn(isLast: true, into: &output) {}
        isOver = true
    }

    func takeFlaws() -> [AudioFlaw] { timeline.take() }

    /// Decodes what belongs to the present samples, and keeps the rest.
    private func take(
        _ bytes: Span<UInt8>, into output: inout [Int16]
    ) throws(UndecodableAudio) {
        let part = bytes.extracting(first: left ?? .max)
        let before = output.count
        try samples?.decode(part, into: &output)
        timeline.add((output.count - before) / (format?.channelCount ?? 1))
        left? -= part.count
        offset += part.count
        var rest = bytes.extracting(droppingFirst: part.count)
        if head.isEmpty {
            // What is skipped is not kept.
            let skipped = min(rest.count, max(0, parser.wantedOffset - offset))
            (rest, offset) = (rest.extracting(droppingFirst: skipped), offset + skipped)
        }
        for index in rest.indices { head.append(rest[index]) }
    }

    /// - Returns: whether there are more samples.
    private func readOn(
        isLast: Bool, into output: inout [Int16]
    ) throws(UndecodableAudio) -> Bool {
        let header: WAVHeader?
        do throws(WAVError) {
            header = try parser.take(from: head.span, at: offset, isLast: isLast)
            if let header { try header.require(format ?? header.streamFormat) }
        } catch {
            guard samples != nil else { throw UndecodableAudio(error.description) }
            if let oddity = parser.leftOut(error) { timeline.note(oddity) }
            isOver = true
            return false
        }
        let skipped = min(head.count, (header?.dataOffset ?? parser.wantedOffset) - offset)
        let rest = Array(head.dropFirst(skipped))
        offset += skipped
        head = header == nil ? rest : []
        guard let header else { return false }
        samples = PCMDecoder(header.sampleFormat, format: header.streamFormat)
        left = header.dataByteCount.map { $0 - $0 % header.bytesPerFrame }
        if header.dataByteCount != nil { parser.goOn(behind: header) }
        if let oddity = header.oddity { timeline.note(oddity) }
        if left != header.dataByteCount { timeline.note("has sound that ends within a frame") }
        try take(rest.span, into: &output)
        return true
    }
}

/// A decoder of samples without a header.
package func makePCMDecoder(
    _ sampleFormat: SampleFormat, format: StreamFormat, isBigEndian: Bool
) -> any AudioDecoder {
    PCMDecoder(sampleFormat, format: format, isBigEndian: isBigEndian)
}

final class PCMDecoder: AudioDecoder {
    let format: StreamFormat?

    /// Whether no sample is incomplete.
    var isAtEnd: Bool { incomplete.isEmpty }

    private let sampleFormat: SampleFormat
    private let isBigEndian: Bool
    private var incomplete: [UInt8] = []

    init(
        _ sampleFormat: SampleFormat, format: StreamFormat, isBigEndian: Bool = false
    ) {
        self.sampleFormat = sampleFormat
        self.format = format
        self.isBigEndian = isBigEndian
    }

    func decode(
        _ bytes: Span<UInt8>, into output: inout [Int16]
    ) throws(UndecodableAudio) {
        var rest = bytes
        let first = output.count
        if !incomplete.isEmpty {
            let missing = rest.extracting(first: sampleFormat.byteCount - incomplete.count)
            for index in missing.indices { incomplete.append(missing[index]) }
            rest = rest.extracting(droppingFirst: missing.count)
            guard incomplete.count == sampleFormat.byteCount else { return }
            sampleFormat.decode(incomplete.span, into: &output)
            incomplete.removeAll(keepingCapacity: true)
        }
        sampleFormat.decode(rest, into: &output)
        let torn = rest.extracting(last: rest.count % sampleFormat.byteCount)
        for index in torn.indices { incomplete.append(torn[index]) }
        guard isBigEndian else { return }
        for index in first..<output.count { output[index] = output[index].byteSwapped }
    }

    /// Appends nothing: a part of a sample at the end is dropped.
    func finish(into output: inout [Int16]) throws(UndecodableAudio) {}
}
