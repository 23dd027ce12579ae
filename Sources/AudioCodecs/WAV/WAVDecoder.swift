// SPDX-License-Identifier: Apache-2.0

package import AudioCore

final class WAVDecoder: AudioDecoder {
    var format: StreamFormat? { samples?.format }
    var isAtEnd: Bool { samples?.isAtEnd ?? false }

    private var head: [UInt8] = []
    private var samples: PCMDecoder?

    func decode(
        _ bytes: Span<UInt8>, into output: inout [Int16]
    ) throws(UndecodableAudio) {
        if let samples { return try samples.decode(bytes, into: &output) }
        var head = head
        for index in bytes.indices { head.append(bytes[index]) }
        self.head = head
        let header: WAVHeader?
        do throws(WAVError) {
            header = try WAVHeader.parse(head.span)
        } catch {
            throw UndecodableAudio("WAV: \(error.description)")
        }
        guard let header else { return }
        let samples = PCMDecoder(
            header.sampleFormat, format: header.streamFormat, byteCount: header.dataByteCount)
        self.samples = samples
        try samples.decode(head.span.extracting(header.dataOffset...), into: &output)
        self.head = []
    }

    func finish(into output: inout [Int16]) throws(UndecodableAudio) {
        if let samples { return try samples.finish(into: &output) }
        throw UndecodableAudio("WAV: it ended after \(head.count) bytes, in its header")
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

    /// Whether all samples have come, if their number was known, and none is incomplete.
    var isAtEnd: Bool { incomplete.isEmpty && (remainingByteCount ?? 0) == 0 }

    private let sampleFormat: SampleFormat
    private let isBigEndian: Bool
    /// Bytes that still belong to the samples; what follows them is not audio.
    private var remainingByteCount: Int?
    private var incomplete: [UInt8] = []

    init(
        _ sampleFormat: SampleFormat, format: StreamFormat, byteCount: Int? = nil,
        isBigEndian: Bool = false
    ) {
        self.sampleFormat = sampleFormat
        self.format = format
        self.isBigEndian = isBigEndian
        remainingByteCount = byteCount
    }

    func decode(
        _ bytes: Span<UInt8>, into output: inout [Int16]
    ) throws(UndecodableAudio) {
        var rest = bytes.extracting(first: remainingByteCount ?? .max)
        remainingByteCount? -= rest.count
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
