// SPDX-License-Identifier: Apache-2.0

package import AudioCore
package import Glibc
internal import LinuxPlatform

/// A WAV recording, from a file or a pipe, replayed as if it were being spoken.
///
/// Whole periods of 20 ms are delivered, each at the instant at which its last frame would have
/// come from a microphone; the clock starts with the first read. A file that ends before its
/// header says so yields what is there, and `warning` tells.
///
/// A source belongs to one capture thread after `open`, which is why `Sendable` is stated
/// unchecked: it is handed over whole and never shared.
package final class WAVReplay: CaptureSource, @unchecked Sendable {
    /// What a person calls this source: the path, or the name given.
    package let name: String

    package var isLive: Bool { false }

    /// Whether no speaker waits for it; a file that is replayed at a pace stands for a voice.
    package var isStored: Bool { !clock.isHoldingBack && reader?.fileByteCount != nil }

    /// What was odd about the recording, or `nil`; final once `read` has said `.end`.
    package private(set) var warning: String?

    /// How long `open` waits for the header of a pipe.
    static let headerWait = Duration.seconds(10)

    private enum Origin {
        case path(String)
        case descriptor(Int32, prefix: [UInt8])
        /// `reader` has it already.
        case opened
    }

    private static let minimumBufferByteCount = 65_536

    private let origin: Origin
    private var clock: ReplayClock
    private var reader: ByteReader?
    private var header: WAVHeader?
    private var deliveredFrameCount = 0

    /// All frames of the recording; `nil` while a pipe of unknown length goes on.
    private var frameCount: Int?
    private var isStopped = false

    /// Names a file; it is opened by `open`.
    ///
    /// - Parameters:
    ///   - path: a file, a FIFO or a device.
    ///   - pace: how fast it is replayed.
    ///   - now: the clock.
    package init(
        path: String, pace: Pace = .realTime,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        name = path
        origin = .path(path)
        clock = ReplayClock(pace: pace, now: now)
    }

    /// Names an input; nothing is read before `open`.
    ///
    /// - Parameters:
    ///   - descriptor: open for reading until `close`, and closed by its owner.
    ///   - name: what a person calls it.
    ///   - pace: how fast it is replayed.
    ///   - prefix: bytes that have been read from the descriptor already, to learn with
    ///     `InputType` that this is a WAV file.
    ///   - now: the clock.
    package init(
        descriptor: Int32, name: String, pace: Pace = .realTime, prefix: [UInt8] = [],
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.name = name
        origin = .descriptor(descriptor, prefix: prefix)
        clock = ReplayClock(pace: pace, now: now)
    }

    /// Takes over an input of which nothing has been consumed.
    init(reading reader: consuming ByteReader, name: String, clock: ReplayClock) {
        self.name = name
        origin = .opened
        self.clock = clock
        self.reader = consume reader
    }

    /// Opens the file and reads its header.
    ///
    /// Waits up to 10 s for the header of a pipe.
    package func open() throws(CaptureError) -> StreamFormat {
        var opened = try openedReader()
        let header = try WAVHeaderReading(name: name, deadline: .now + Self.headerWait)
            .header(from: &opened)
        let format = header.streamFormat
        opened.reserve(
            max(Self.minimumBufferByteCount, 2 * periodFrameCount(format) * header.bytesPerFrame))
        let fileByteCount = opened.fileByteCount.map { $0 - header.dataOffset }
        reader = consume opened
        self.header = header
        if let byteCount = fileByteCount ?? header.dataByteCount {
            settleLength(header, byteCount: byteCount)
        }
        return format
    }

    /// Delivers the periods that are due, or says when the next one is.
    package func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        guard !isStopped, reader != nil, let header else { return .end }
        let format = header.streamFormat
        let room = frames.count / format.channelCount
        let unit = min(room, periodFrameCount(format))
        precondition(unit > 0, "a capture buffer holds at least one frame")

        let fill = try fillPeriods(unit, of: room, header)
        if case .ended = fill { settleLength(header, byteCount: bytesSeen(header)) }
        let left = (frameCount ?? .max) - deliveredFrameCount
        guard left > 0 else { return .end }

        // Less than a period is whole only at the end.
        let step = min(unit, left)
        let due = clock.dueFrameCount(sampleRate: format.sampleRate)
        guard due - deliveredFrameCount >= step else {
            return .wait(.until(clock.instant(ofFrames: deliveredFrameCount + step)))
        }
        let available = (reader?.byteCount ?? 0) / header.bytesPerFrame
        guard available >= step else { return .wait(.forDescriptors) }
        let most = min(isStored ? room : unit, left, available, due - deliveredFrameCount)
        let count = most == left ? left : most / unit * unit
        deliver(count, header, into: &frames)
        return .frames(count)
    }

    package func appendPollDescriptors(to descriptors: inout [pollfd]) {
        guard !isStopped, let number = pipeDescriptor else { return }
        descriptors.append(pollfd(fd: number, events: Int16(POLLIN), revents: 0))
    }

    package func requestStop() {
        isStopped = true
    }

    /// Closes a file that `open` opened; a descriptor that was given stays open.
    package func close() {
        reader = nil
    }
}

// MARK: - How much

extension WAVReplay {
    private func openedReader() throws(CaptureError) -> ByteReader {
        switch origin {
        case .path(let path): return try ByteReader(opening: path)
        case .descriptor(let descriptor, let prefix):
            return try ByteReader(descriptor: descriptor, name: name, prefix: prefix)
        case .opened:
            guard let opened = reader.take() else {
                throw .cannotOpen(name: name, reason: "it was closed")
            }
            return opened
        }
    }

    private var pipeDescriptor: Int32? {
        reader?.fileByteCount == nil ? reader?.descriptor : nil
    }

    private func periodFrameCount(_ format: StreamFormat) -> Int {
        max(1, format.framesPerPeriod)
    }

    /// Bytes of samples that have come so far; all of them when the input has ended.
    private func bytesSeen(_ header: WAVHeader) -> Int {
        deliveredFrameCount * header.bytesPerFrame + (reader?.byteCount ?? 0)
    }

    /// Reads ahead as much as one read can deliver.
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

    /// Whether another chunk of samples follows the first, which no player hears either; asked
    /// of files only.
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
        if hasSecondData(behind: header) {
            warning = "'\(name)' has a second piece of audio, which is left out"
        } else if let promised = header.dataByteCount, promised > there {
            warning =
                "'\(name)' ends after \(there) of the \(promised) bytes of audio "
                + "that its header promises"
        } else if there % header.bytesPerFrame > 0 {
            warning =
                "the last \(there % header.bytesPerFrame) bytes of audio in '\(name)' "
                + "are less than a frame and left out"
        }
    }
}
