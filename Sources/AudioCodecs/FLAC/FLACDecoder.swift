// SPDX-License-Identifier: Apache-2.0

internal import AudioCore

/// Decodes a FLAC file (RFC 9639) of any rate, layout and width.
///
/// A file that breaks off is decoded up to its last whole frame.
final class FLACDecoder: AudioDecoder {
    var format: StreamFormat? { header.streamInfo?.format }

    var isAtEnd: Bool {
        guard let reader, reader.rest.isEmpty else { return false }
        return header.streamInfo?.sampleCount.map { $0 == sampleCount } ?? true
    }

    private var header = FLACHeader()
    private var reader: FLACReader?
    private var sampleCount = 0

    func decode(
        _ bytes: Span<UInt8>, into output: inout [Int16]
    ) throws(UndecodableAudio) {
        let frames = bytes.extracting(droppingFirst: try header.take(bytes))
        if reader == nil, header.isComplete, let info = header.streamInfo {
            reader = try FLACReader(streamInfo: info.bytes, offset: header.byteCount)
        }
        reader?.append(frames)
        try decodeFrames(isLast: false, into: &output)
    }

    func finish(into output: inout [Int16]) throws(UndecodableAudio) {
        guard reader != nil else {
            throw UndecodableAudio("FLAC: it ended after \(header.byteCount) bytes, in its header")
        }
        try decodeFrames(isLast: true, into: &output)
    }

    private func decodeFrames(
        isLast: Bool, into output: inout [Int16]
    ) throws(UndecodableAudio) {
        while let frame = try reader?.nextFrame(isLast: isLast) {
            guard frame.format == format else {
                throw UndecodableAudio("FLAC: the layout changes at byte \(frame.offset)")
            }
            sampleCount += frame.sampleCount
            output.append(contentsOf: reader?.samples ?? [])
        }
    }
}
