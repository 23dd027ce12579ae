// SPDX-License-Identifier: Apache-2.0

internal import AudioCore

final class WAVDecoder: AudioDecoder {
    var format: StreamFormat? { samples?.format }
    var isAtEnd: Bool { samples?.isAtEnd ?? false }

    private var head: [UInt8] = []
    private var samples: PCMDecoder?

    init() {}

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
