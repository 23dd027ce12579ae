// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import Glibc
internal import LinuxPlatform

/// Samples from a file or a pipe, behind a WAV header or without one, replayed as if they were being
/// spoken.
///
/// Whole periods of 20 ms are delivered, each at the instant at which its last frame would have
/// come from a microphone; the clock starts with the first read. Raw samples that nothing holds back
/// are delivered as they come. A file that ends before its header says so yields what is there, and
/// `warning` tells.
///
/// A source belongs to one capture thread after `open`, which is why `Sendable` is stated
/// unchecked: it is handed over whole and never shared.
final class PCMReplay: CaptureSource, @unchecked Sendable {
    let name: String

    var isLive: Bool { false }

    /// A file without a pace; a paced file stands for a voice.
    var isStored: Bool { !clock.isHoldingBack && reader?.fileByteCount != nil }

    var nextFrames: ContinuousClock.Instant? {
        let step = header.map { periodFrameCount($0.streamFormat) } ?? 0
        return clock.next(
            min(step, (frameCount ?? .max) - deliveredFrameCount), after: deliveredFrameCount)
    }

    /// What was odd about the recording, or nil; final once `read` has returned `.end`.
    private(set) var warning: String?

    /// How long `open` waits for the header of a pipe.
    static let headerWait = Duration.seconds(10)

    private static let minimumBufferByteCount = 65_536

    /// Nil for an input that `reader` has already.
    private let descriptor: (number: Int32, prefix: [UInt8])?
    /// Samples without a header; nil for a WAV file.
    private let rawFormat: StreamFormat?
    private var clock: ReplayClock
    private var reader: ByteReader?
    private var header: WAVHeader?
    private var deliveredFrameCount = 0

    /// Nil while an input of unknown length goes on.
    private var frameCount: Int?
    private var isStopped = false

    init(
        descriptor: Int32, name: String, rawFormat: StreamFormat? = nil, pace: Pace = .realTime,
        prefix: [UInt8] = [], now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.name = name
        self.descriptor = (descriptor, prefix)
        self.rawFormat = rawFormat
        clock = ReplayClock(pace: pace, now: now)
    }

    init(reading reader: consuming ByteReader, name: String, clock: ReplayClock) {
        self.name = name
        (descriptor, rawFormat) = (nil, nil)
        self.clock = clock
        self.reader = consume reader
    }

    /// Waits up to 10 s for the header of a pipe.
    func open() throws(CaptureError) -> StreamFormat {
        var opened = try openedReader()
        let header: WAVHeader
        if let rawFormat {
            guard rawFormat.sampleRate > 0, rawFormat.channelCount > 0 else {
                throw .unusableAudio(
                    name: name,
                    detail: "\(rawFormat.sampleRate) Hz and \(rawFormat.channelCount) channels")
            }
            header = WAVHeader(missingBefore: rawFormat)
        } else {
            header = try readHeader(from: &opened)
        }
        let format = header.streamFormat
        opened.reserve(
            max(Self.minimumBufferByteCount, 2 * periodFrameCount(format) * header.bytesPerFrame))
        let fileByteCount = opened.fileByteCount.map { $0 - header.dataOffset }
        reader = consume opened
        self.header = header
        // A raw file may still grow: it ends where reading it does.
        if rawFormat == nil, let byteCount = fileByteCount ?? header.dataByteCount {
            settleLength(header, byteCount: byteCount)
        }
        return format
    }

    func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        guard !isStopped, reader != nil, let header else { return .end }
        let format = header.streamFormat
        let room = frames.count / format.channelCount
        let unit = min(room, periodFrameCount(format))
        let grain = rawFormat == nil || clock.isHoldingBack ? unit : 1
        precondition(unit > 0, "a capture buffer holds at least one frame")

        let fill = try fillPeriods(unit, of: room, header)
        if case .ended = fill { settleLength(header, byteCount: bytesSeen(header)) }
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
        deliver(count, header, into: &frames)
        return .frames(count)
    }

    func appendPollDescriptors(to descriptors: inout [pollfd]) {
        guard !isStopped, let number = pipeDescriptor else { return }
        descriptors.append(pollfd(fd: number, events: Int16(POLLIN), revents: 0))
    }

    func requestStop() { isStopped = true }

    /// A descriptor that was given stays open.
    func close() { reader = nil }
}

// MARK: - How much

extension PCMReplay {
    private func openedReader() throws(CaptureError) -> ByteReader {
        if let descriptor {
            return try ByteReader(
                descriptor: descriptor.number, name: name, prefix: descriptor.prefix)
        }
        guard let opened = reader.take() else {
            throw .cannotOpen(name: name, reason: "it was closed")
        }
        return opened
    }

    private var pipeDescriptor: Int32? {
        reader?.fileByteCount == nil ? reader?.descriptor : nil
    }

    private func periodFrameCount(_ format: StreamFormat) -> Int {
        max(1, format.framesPerPeriod)
    }

    private func bytesSeen(_ header: WAVHeader) -> Int {
        deliveredFrameCount * header.bytesPerFrame + (reader?.byteCount ?? 0)
    }

    /// Reads ahead what one `read` can deliver.
    private func fillPeriods(
        _ unit: Int, of room: Int, _ header: WAVHeader
    ) throws(CaptureError) -> ByteReader.Fill {
        // Else one period at a time: what is read ahead would have to be moved each time.
        let most = isStored ? Self.minimumBufferByteCount / header.bytesPerFrame : unit
        var wanted = max(unit, min(room, most)) * header.bytesPerFrame
        if let frameCount {
            wanted = min(wanted, (frameCount - deliveredFrameCount) * header.bytesPerFrame)
        }
        do throws(SystemError) {
            return try reader?.fill(max(0, wanted)) ?? .ended
        } catch {
            throw .readFailed(name: name, reason: error.reason)
        }
    }

    private func deliver(
        _ count: Int, _ header: WAVHeader, into frames: inout MutableSpan<Int16>
    ) {
        let byteCount = count * header.bytesPerFrame
        reader?.withBytes(byteCount) { bytes in
            _ = header.sampleFormat.decode(bytes, into: &frames)
        }
        reader?.consume(byteCount)
        deliveredFrameCount += count
    }

    /// A second data chunk, which players ignore; asked of files only.
    private func hasSecondData(behind header: WAVHeader) -> Bool {
        guard let descriptor = reader?.descriptor, reader?.fileByteCount != nil,
            let first = header.dataByteCount
        else { return false }
        var offset = header.dataOffset + first + first % 2
        // A file that has more chunks than this is no recording.
        for _ in 0..<64 {
            var head = [UInt8](repeating: 0, count: 8)
            guard unsafe pread(descriptor, &head, 8, off_t(offset)) == 8 else {
                return false
            }
            let size = head[4...].reversed().reduce(0) { $0 << 8 | Int($1) }
            if Array(head[..<4]) == Array("data".utf8) { return size > 0 }
            offset += 8 + size + size % 2
        }
        return false
    }

    /// Fixes the recording's length, and notes what is odd about it.
    private func settleLength(_ header: WAVHeader, byteCount: Int) {
        let there = max(0, min(byteCount, header.dataByteCount ?? .max))
        frameCount = there / header.bytesPerFrame
        guard warning == nil else { return }
        let rest = there % header.bytesPerFrame
        if hasSecondData(behind: header) {
            warning = "'\(name)' has a second piece of audio, which is left out"
        } else if let promised = header.dataByteCount, promised > there {
            warning =
                "'\(name)' ends after \(there) of the \(promised) bytes of audio "
                + "that its header promises"
        } else if rest > 0 {
            warning =
                "the last \(rest == 1 ? "byte" : "\(rest) bytes") of "
                + "\(rawFormat == nil ? "audio in " : "")'\(name)' \(rest == 1 ? "is" : "are") "
                + "less than a frame and left out"
        }
    }
}

// MARK: - The header

extension PCMReplay {
    /// Leaves the input at the first sample.
    private func readHeader(from reader: inout ByteReader) throws(CaptureError) -> WAVHeader {
        let deadline = ContinuousClock.now + Self.headerWait
        var parser = WAVHeaderParser()
        while true {
            let (offset, wanted) = (parser.wantedOffset, parser.wantedByteCount)
            try reader.wait(for: "no WAV header", of: name, until: deadline) {
                reader throws(SystemError) in try reader.skip(to: offset)
            }
            try reader.wait(for: "no WAV header", of: name, until: deadline) {
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
            try reader.wait(for: "no WAV header", of: name, until: deadline) {
                reader throws(SystemError) in try reader.skip(to: found.dataOffset)
            }
            return found
        }
    }
}
