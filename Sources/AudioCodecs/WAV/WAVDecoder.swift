// SPDX-License-Identifier: Apache-2.0

package import AudioCore

/// Decodes a WAV file, and what stands behind its samples and is sound as well.
final class WAVDecoder: AudioDecoder {
    var format: StreamFormat? { header?.streamFormat }
    var isAtEnd: Bool { header != nil && (left == 0 || left == nil && isOver && rest.isEmpty) }

    private var parser = WAVHeaderParser()
    /// Bytes that are not decoded yet; `offset` is that of the first one.
    private var rest: [UInt8] = []
    private var offset = 0
    /// The header of the samples that are being read.
    private var header: WAVHeader?
    /// Bytes that still belong to them; nil when all do up to another file.
    private var left: Int? = 0
    /// Bytes of a frame behind them, which may go on.
    private var torn = 0
    private var isOver = false
    private var timeline = DecodedTimeline()

    /// How much is looked at at once: each chunk moves what is behind it.
    private static let pieceByteCount = 16_384

    func decode(
        _ bytes: Span<UInt8>, into output: inout [Int16]
    ) throws(UndecodableAudio) {
        var bytes = bytes
        while !bytes.isEmpty, !isOver {
            let piece = bytes.extracting(first: Self.pieceByteCount)
            bytes = bytes.extracting(droppingFirst: piece.count)
            unsafe piece.withUnsafeBufferPointer { unsafe rest.append(contentsOf: $0) }
            try readOn(isLast: false, into: &output)
        }
    }

    func finish(into output: inout [Int16]) throws(UndecodableAudio) {
        if !isOver { try readOn(isLast: true, into: &output) }
        isOver = true
    }

    func takeFlaws() -> [AudioFlaw] { timeline.take() }

    private func readOn(isLast: Bool, into output: inout [Int16]) throws(UndecodableAudio) {
        while true {
            takeSamples(isLast: isLast, into: &output)
            guard left == 0, !isOver, try findsSamples(isLast: isLast) else { return }
        }
    }

    /// Decodes whole frames: all that are there, or those before a further file or what may be one.
    private func takeSamples(isLast: Bool, into output: inout [Int16]) {
        guard let header, left != 0 else { return }
        let next = left == nil && !isLast ? WAVHeader.place(in: rest.span) : nil
        let byteCount = min(rest.count, left ?? next ?? .max)
        let partial = byteCount % header.bytesPerFrame
        header.sampleFormat.decode(rest.span.extracting(first: byteCount - partial), into: &output)
        timeline.add(byteCount / header.bytesPerFrame)
        left? -= byteCount - partial
        drop(byteCount - partial)
        guard next != nil, rest.count >= partial + WAVHeader.beginning.count else { return }
        (left, torn) = (0, partial)
        parser.goOn(at: offset, torn: torn)
    }

    private func drop(_ count: Int) {
        rest.removeFirst(count)
        offset += count
    }

    private func noteTornFrame() {
        if torn > 0 { timeline.note("has sound that ends within a frame") }
        torn = 0
    }

    private func findsSamples(isLast: Bool) throws(UndecodableAudio) -> Bool {
        let next: WAVHeader?
        do throws(WAVError) {
            next = try parser.take(from: rest.span, at: offset, isLast: isLast)
            if let next { try next.require(format ?? next.streamFormat) }
        } catch {
            guard header != nil else { throw UndecodableAudio(error.description) }
            noteTornFrame()
            if let oddity = parser.leftOut(error) { timeline.note(oddity) }
            isOver = true
            return false
        }
        let start = next?.dataOffset ?? parser.wantedOffset
        if start > offset { noteTornFrame() }
        drop(min(rest.count, start - offset))
        guard let next else { return false }
        header = next
        left = next.dataByteCount.map { $0 - $0 % next.bytesPerFrame }
        torn = (next.dataByteCount ?? 0) - (left ?? 0)
        if let left { parser.goOn(at: next.dataOffset + left, torn: torn) }
        if let oddity = next.oddity { timeline.note(oddity) }
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
