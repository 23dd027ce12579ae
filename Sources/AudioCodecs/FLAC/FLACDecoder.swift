// SPDX-License-Identifier: Apache-2.0

internal import AudioCore

/// Decodes a FLAC file (RFC 9639) of any rate, layout and width.
///
/// Behind bytes that are not a frame it goes on at the next whole one, whose number says how much was
/// lost. A file that breaks off is decoded up to its last whole frame.
final class FLACDecoder: AudioDecoder {
    var format: StreamFormat? { header.streamInfo?.format }

    var isAtEnd: Bool {
        guard reader != nil else { return false }
        return header.streamInfo?.sampleCount.map { timeline.frameCount >= $0 }
            ?? (timeline.damage == nil)
    }

    /// Tags and pictures may stand before the file.
    static let longestPrefix = 1 << 24
    /// No frame is shorter: its head, a subframe of one bit for all samples, its checksum.
    private static let shortestFrame = 10

    private var header = FLACHeader(longestPrefix: longestPrefix)
    private var reader: FLACReader?
    private var timeline = DecodedTimeline()
    /// The number of the sample that follows.
    private var position = 0
    /// The longest frame so far, in samples.
    private var blockSize = 0
    /// Whether bytes that are not a frame are such as players write there.
    private var isInTag = false
    private var hasOtherLayout = false

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
        guard let reader else {
            throw UndecodableAudio("FLAC: it ended after \(header.byteCount) bytes, in its header")
        }
        try decodeFrames(isLast: true, into: &output)
        guard timeline.damage != nil else { return }
        let lost = (header.streamInfo?.sampleCount ?? 0) - timeline.frameCount
        if (1...max(1, blockSize)).contains(lost) {
            // The last frame.
            lose(lost, before: reader.offset)
        } else if isAtEnd {
            timeline.noteEnd()
        }
    }

    func takeFlaws() -> [AudioFlaw] { timeline.take() }

    private func decodeFrames(
        isLast: Bool, into output: inout [Int16]
    ) throws(UndecodableAudio) {
        while let reader {
            do throws(UndecodableAudio) {
                if let frame = try reader.nextFrame(isLast: isLast) {
                    take(frame, reader.samples, into: &output)
                    continue
                }
                guard isLast, !reader.rest.isEmpty else { return }
            } catch {
                guard !reader.isHopeless else { throw error }
            }
            isInTag = isInTag || timeline.damage == nil && reader.rest.span.isTag
            if !isInTag { timeline.damage = timeline.damage ?? reader.offset }
            switch try reader.beginFile() {
            // Its first frame is before any position.
            case true?: position = .max
            case nil where !isLast: return
            default: _ = reader.skip()
            }
        }
    }

    private func take(
        _ frame: FLACReader.Frame, _ samples: [Int16], into output: inout [Int16]
    ) {
        guard frame.format == format else {
            if !hasOtherLayout {
                timeline.note(
                    "changes its layout at byte \(frame.offset), and what does is left out")
            }
            (hasOtherLayout, isInTag, timeline.damage) = (true, false, nil)
            return
        }
        blockSize = max(blockSize, frame.sampleCount)
        if timeline.frameCount == 0, timeline.damage == nil, !isInTag, frame.firstSample > 0 {
            timeline.note("begins in the middle of a recording")
        } else {
            lose(frame.firstSample - position, before: frame.offset)
        }
        (isInTag, position) = (false, frame.firstSample + frame.sampleCount)
        timeline.add(frame.sampleCount)
        output.append(contentsOf: samples)
    }

    private func lose(_ count: Int, before offset: Int) {
        timeline.lose(
            count, sampleRate: format?.sampleRate ?? 1,
            capacity: offset / Self.shortestFrame * blockSize, before: offset)
    }
}
