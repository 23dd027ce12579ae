// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import Glibc
internal import LinuxPlatform

/// Samples from a file or a pipe, behind a WAV header or without one.
///
/// Whole periods of 20 ms are delivered, each at the instant at which its last frame would have
/// come from a microphone; the clock starts with the first read. Raw samples that nothing holds back
/// are delivered as they come. A file that ends before its header says so yields what is there, and
/// `warning` tells.
final class PCMReplay: Replay {
    var format: StreamFormat { header.streamFormat }

    var isStored: Bool { !clock.isHoldingBack && reader?.fileByteCount != nil }

    var nextFrames: ContinuousClock.Instant? {
        clock.next(
            min(periodFrameCount, (frameCount ?? .max) - deliveredFrameCount),
            after: deliveredFrameCount)
    }

    private(set) var warning: String?

    static let headerWait = Duration.seconds(10)

    private static let minimumBufferByteCount = 65_536

    private let name: String
    private let isRaw: Bool
    private let header: WAVHeader
    private var clock: ReplayClock
    private var reader: ByteReader?
    private var deliveredFrameCount = 0

    /// Nil while an input of unknown length goes on.
    private var frameCount: Int?

    /// Reads the header, for which it waits up to 10 s; samples of a raw format have none.
    init(
        reading reader: consuming ByteReader, name: String, rawFormat: StreamFormat? = nil,
        clock: ReplayClock
    ) throws(CaptureError) {
        self.name = name
        self.clock = clock
        isRaw = rawFormat != nil
        if let rawFormat {
            guard rawFormat.sampleRate > 0, rawFormat.channelCount > 0 else {
                throw .unusableAudio(
                    name: name,
                    detail: "\(rawFormat.sampleRate) Hz and \(rawFormat.channelCount) channels")
            }
            header = WAVHeader(missingBefore: rawFormat)
        } else {
            header = try Self.readHeader(from: &reader, name)
        }
        let dataOffset = header.dataOffset
        let fileByteCount = reader.fileByteCount.map { $0 - dataOffset }
        reader.reserve(
            max(Self.minimumBufferByteCount, 2 * periodFrameCount * header.bytesPerFrame))
        self.reader = consume reader
        // A raw file may still grow: it ends where reading it does.
        if !isRaw, let byteCount = fileByteCount ?? header.dataByteCount {
            settleLength(byteCount: byteCount)
        }
    }

    func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        guard reader != nil else { return .end }
        let room = frames.count / format.channelCount
        let unit = min(room, periodFrameCount)
        let grain = !isRaw || clock.isHoldingBack ? unit : 1
        precondition(unit > 0, "a capture buffer holds at least one frame")

        if case .ended = try fillPeriods(unit, of: room) { settleLength(byteCount: bytesSeen) }
        let left = (frameCount ?? .max) - deliveredFrameCount
        guard left > 0 else { return .end }

        // Less than a period is whole only at the end.
        let step = min(grain, left)
        let due = clock.dueFrameCount(sampleRate: format.sampleRate)
        guard due - deliveredFrameCount >= step else {
            return .wait(.until(clock.instant(ofFrames: deliveredFrameCount + step)))
        }
        let available = (reader?.byteCount ?? 0) / header.bytesPerFrame
        guard available >= step else { return .wait(.forDescriptors) }
        let most = min(isStored ? room : unit, left, available, due - deliveredFrameCount)
        let count = most == left ? left : most / grain * grain
        deliver(count, into: &frames)
        return .frames(count)
    }

    var pipe: Int32? { reader?.fileByteCount == nil ? reader?.descriptor : nil }

    func close() { reader = nil }
}

// MARK: - How much

extension PCMReplay {
    private var periodFrameCount: Int { max(1, format.framesPerPeriod) }

    private var bytesSeen: Int {
        deliveredFrameCount * header.bytesPerFrame + (reader?.byteCount ?? 0)
    }

    /// Reads ahead what one `read` can deliver.
    private func fillPeriods(
        _ unit: Int, of room: Int
    ) throws(CaptureError) -> ByteReader.Fill {
        // Else one period at a time: what is read ahead would have to be moved each time.
        let most = isStored ? Self.minimumBufferByteCount / header.bytesPerFrame : unit
        var wanted = max(unit, min(room, most)) * header.bytesPerFrame
        if let frameCount {
            wanted = min(wanted, (frameCount - deliveredFrameCount) * header.bytesPerFrame)
        }
        return try reader?.readOn(max(0, wanted)) ?? .ended
    }

    private func deliver(_ count: Int, into frames: inout MutableSpan<Int16>) {
        let byteCount = count * header.bytesPerFrame
        reader?.withBytes(byteCount) { bytes in
            header.sampleFormat.decode(bytes, into: &frames)
        }
        reader?.consume(byteCount)
        deliveredFrameCount += count
    }

    /// A second data chunk, which players ignore; asked of files only.
    private var hasSecondData: Bool {
        guard let descriptor = reader?.descriptor, reader?.fileByteCount != nil,
            let first = header.dataByteCount
        else { return false }
        var offset = header.dataOffset + first + first % 2
        // A file that has more chunks than this is no recording.
        for _ in 0..<64 {
            var head = [UInt8](repeating: 0, count: 8)
            guard unsafe pread(descriptor, &head, 8, off_t(offset)) == 8 else { return false }
            let size = head[4...].reversed().reduce(0) { $0 << 8 | Int($1) }
            if Array(head[..<4]) == Array("data".utf8) { return size > 0 }
            offset += 8 + size + size % 2
        }
        return false
    }

    /// Fixes the recording's length, and notes what is odd about it.
    private func settleLength(byteCount: Int) {
        let there = max(0, min(byteCount, header.dataByteCount ?? .max))
        frameCount = there / header.bytesPerFrame
        guard warning == nil else { return }
        let rest = there % header.bytesPerFrame
        if hasSecondData {
            warning = "'\(name)' has a second piece of audio, which is left out"
        } else if let promised = header.dataByteCount, promised > there {
            warning =
                "'\(name)' ends after \(there) of the \(promised) bytes of audio "
                + "that its header promises"
        } else if rest > 0 {
            warning =
                "the last \(rest == 1 ? "byte" : "\(rest) bytes") of "
                + "\(isRaw ? "" : "audio in ")'\(name)' \(rest == 1 ? "is" : "are") "
                + "less than a frame and left out"
        }
    }
}

// MARK: - The header

extension PCMReplay {
    /// Leaves the input at the first sample.
    private static func readHeader(
        from reader: inout ByteReader, _ name: String
    ) throws(CaptureError) -> WAVHeader {
        let deadline = ContinuousClock.now + headerWait
        var parser = WAVHeaderParser()
        while true {
            let (offset, wanted) = (parser.wantedOffset, parser.wantedByteCount)
            try reader.wait(for: "no WAV header", until: deadline) {
                reader throws(SystemError) in try reader.skip(to: offset)
            }
            try reader.wait(for: "no WAV header", until: deadline) {
                reader throws(SystemError) in try reader.fill(wanted)
            }
            let there = min(wanted, reader.byteCount)
            let found: WAVHeader?
            do throws(WAVError) {
                // A chunk may claim to go on far behind the end.
                let end = reader.fileByteCount ?? reader.position + reader.byteCount
                guard end >= offset else { throw .endsInHeader(byteCount: end) }
                found = try reader.withBytes(there) { bytes throws(WAVError) in
                    try parser.take(bytes)
                }
            } catch {
                throw .unusableAudio(name: name, detail: error.description)
            }
            guard let found else { continue }
            try reader.wait(for: "no WAV header", until: deadline) {
                reader throws(SystemError) in try reader.skip(to: found.dataOffset)
            }
            return found
        }
    }
}
