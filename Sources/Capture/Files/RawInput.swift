// SPDX-License-Identifier: Apache-2.0

public import AudioCore
public import Glibc
internal import LinuxPlatform

/// Raw signed 16-bit little-endian PCM from a descriptor, such as standard input.
///
/// Frames are delivered as they come; a frame that has come in part waits for the rest. At a pace,
/// whole periods of 20 ms are delivered, each at the instant at which its last frame would have
/// come from a microphone; the clock starts with the first read. The input's end is the source's
/// end. Nothing is sniffed: a WAV header would sound as a click.
///
/// A source belongs to one capture thread after `open`, which is why `Sendable` is stated
/// unchecked: it is handed over whole and never shared.
public final class RawInput: CaptureSource, @unchecked Sendable {
    /// What a person calls this source.
    public let name: String

    /// False: the writer waits while nothing is read.
    public var isLive: Bool { false }

    /// What was odd about the input, or `nil`; final once `read` has said `.end`.
    public private(set) var warning: String?

    /// Whether no speaker waits for it; a file that is replayed at a pace stands for a voice.
    public var isStored: Bool { !clock.isHoldingBack && reader?.fileByteCount != nil }

    private static let bufferByteCount = 65_536

    private let descriptor: Int32
    private let format: StreamFormat
    private let prefix: [UInt8]
    private var clock: ReplayClock
    private var reader: ByteReader?
    private var deliveredFrameCount = 0
    private var isStopped = false

    /// Names an input; nothing is read before `open`.
    ///
    /// - Parameters:
    ///   - descriptor: open for reading until `close`, and closed by its owner.
    ///   - name: what a person calls it.
    ///   - format: what its bytes mean; rate and channel count above zero.
    ///   - pace: how fast it is replayed.
    ///   - prefix: bytes that have been read from the descriptor already.
    ///   - now: the clock.
    public init(
        descriptor: Int32, name: String, format: StreamFormat, pace: Pace = .unpaced,
        prefix: [UInt8] = [], now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.descriptor = descriptor
        self.name = name
        self.format = format
        self.prefix = prefix
        clock = ReplayClock(pace: pace, now: now)
    }

    /// Looks at the descriptor.
    ///
    /// - Throws: `CaptureError.cannotOpen` when it is not open or a folder, `.unusableAudio` for
    ///   a format without channels or rate.
    public func open() throws(CaptureError) -> StreamFormat {
        guard format.sampleRate > 0, format.channelCount > 0 else {
            throw .unusableAudio(
                name: name,
                detail: "\(format.sampleRate) Hz and \(format.channelCount) channels")
        }
        var opened = try ByteReader(descriptor: descriptor, name: name, prefix: prefix)
        opened.reserve(max(Self.bufferByteCount, format.bytesPerFrame))
        reader = consume opened
        return format
    }

    /// Delivers the whole frames that have come, of a pipe at most a period; at a pace the period
    /// that is due, or says when it is.
    public func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        let most = frames.count / format.channelCount
        precondition(most > 0, "a capture buffer holds at least one frame")
        let room = isStored ? most : min(most, max(1, format.framesPerPeriod))
        guard !isStopped, reader != nil else { return .end }
        let bytesPerFrame = format.bytesPerFrame
        let wanted = min(room * bytesPerFrame, Self.bufferByteCount / bytesPerFrame * bytesPerFrame)
        let fill = try filled(max(wanted, bytesPerFrame))
        let available = min(room, (reader?.byteCount ?? 0) / bytesPerFrame)
        var hasEnded = false
        if case .ended = fill { hasEnded = true }
        guard available > 0 else {
            guard hasEnded else { return .wait(.forDescriptors) }
            noteRemainder(reader?.byteCount ?? 0)
            return .end
        }
        if clock.isHoldingBack {
            // Less than a period is whole only at the end.
            let step = hasEnded ? available : room
            let due = clock.dueFrameCount(sampleRate: format.sampleRate)
            guard due - deliveredFrameCount >= step else {
                return .wait(.until(clock.instant(ofFrames: deliveredFrameCount + step)))
            }
            guard available >= step else { return .wait(.forDescriptors) }
        }
        reader?.withBytes(available * bytesPerFrame) { bytes in
            _ = SampleFormat.int16.decode(bytes, into: &frames)
        }
        reader?.consume(available * bytesPerFrame)
        deliveredFrameCount += available
        return .frames(available)
    }

    /// Adds the descriptor when reading it may have to wait.
    public func appendPollDescriptors(to descriptors: inout [pollfd]) {
        guard !isStopped, reader?.fileByteCount == nil else { return }
        descriptors.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
    }

    /// Ends the source with what has been delivered.
    public func requestStop() {
        isStopped = true
    }

    /// Lets go of the descriptor, which stays open.
    public func close() {
        reader = nil
    }

    private func filled(_ byteCount: Int) throws(CaptureError) -> ByteReader.Fill {
        do throws(SystemError) {
            return try reader?.fill(byteCount) ?? .ended
        } catch {
            throw .readFailed(name: name, reason: error.reason)
        }
    }

    private func noteRemainder(_ byteCount: Int) {
        guard byteCount > 0, warning == nil else { return }
        warning =
            "the last \(byteCount == 1 ? "byte" : "\(byteCount) bytes") of '\(name)' "
            + "\(byteCount == 1 ? "is" : "are") less than a frame and left out"
    }
}
