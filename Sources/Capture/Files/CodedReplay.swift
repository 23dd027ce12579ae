// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore
internal import Glibc
internal import LinuxPlatform

/// A recording that has to be decoded, from a file or a pipe, replayed as if it were being spoken.
///
/// Delivers what its decoder makes of it. Whole periods of 20 ms are delivered, each at the
/// instant at which its last frame would have come from a microphone; the clock starts with the
/// first read. A recording that breaks off, or is damaged, yields what comes before, and `warning`
/// tells.
///
/// A source belongs to one capture thread after `open`, which is why `Sendable` is stated
/// unchecked: it is handed over whole and never shared.
final class CodedReplay: CaptureSource, @unchecked Sendable {
    let name: String

    var isLive: Bool { false }

    /// A file without a pace; a paced file stands for a voice.
    var isStored: Bool { !clock.isHoldingBack && isFile }

    var nextFrames: ContinuousClock.Instant? {
        let left = hasEnded ? (samples.count - start) / format.channelCount : .max
        return clock.next(min(format.framesPerPeriod, left), after: deliveredFrameCount)
    }

    /// What was odd about the recording, or nil; final once `read` has returned `.end`.
    private(set) var warning: String?

    /// Bytes that are read of a file at once.
    private static let fileByteCount = 4_096

    /// Bytes per read of a pipe: a killed program loses them.
    private static let pipeByteCount = 512

    private let descriptor: (number: Int32, prefix: [UInt8])?
    private var clock: ReplayClock
    private var reader: ByteReader?
    private let decoder: any AudioDecoder
    private var format = StreamFormat.speech
    private var samples: [Int16] = []
    private var start = 0
    private var deliveredFrameCount = 0
    private var isFile = false
    private var hasEnded = false
    private var isStopped = false

    init(
        _ codec: AudioCodec, descriptor: Int32, name: String, pace: Pace = .realTime,
        prefix: [UInt8] = [],
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.name = name
        decoder = codec.makeDecoder()
        self.descriptor = (descriptor, prefix)
        clock = ReplayClock(pace: pace, now: now)
    }

    init(
        _ codec: AudioCodec, reading reader: consuming ByteReader, name: String, clock: ReplayClock
    ) {
        decoder = codec.makeDecoder()
        self.name = name
        descriptor = nil
        self.clock = clock
        self.reader = consume reader
    }

    /// Waits up to 10 s for the headers of a pipe.
    func open() throws(CaptureError) -> StreamFormat {
        if let descriptor {
            reader = try ByteReader(
                descriptor: descriptor.number, name: name, prefix: descriptor.prefix)
        }
        isFile = reader?.fileByteCount != nil
        let deadline = ContinuousClock.now + PCMReplay.headerWait
        while samples.isEmpty, !hasEnded {
            try reader?.wait(for: "no audio", of: name, until: deadline) {
                reader throws(SystemError) in try reader.fill(1)
            }
            _ = try decodeSome()
        }
        format = decoder.format ?? .speech
        return format
    }

    func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        guard !isStopped, reader != nil else { return .end }
        let room = frames.count / format.channelCount
        let unit = min(room, max(1, format.framesPerPeriod))
        precondition(unit > 0, "a capture buffer holds at least one frame")
        try decode(isStored ? room : unit)
        let available = (samples.count - start) / format.channelCount
        // Less than a period is whole only at the end.
        let step = hasEnded ? min(unit, available) : unit
        guard step > 0 else { return .end }
        let due = clock.dueFrameCount(sampleRate: format.sampleRate)
        guard due - deliveredFrameCount >= step else {
            return .wait(.until(clock.instant(ofFrames: deliveredFrameCount + step)))
        }
        guard available >= step else { return .wait(.forDescriptors) }
        let count = min(isStored ? room : step, available, due - deliveredFrameCount)
        let sampleCount = count * format.channelCount
        for index in 0..<sampleCount { frames[index] = samples[start + index] }
        start += sampleCount
        deliveredFrameCount += count
        return .frames(count)
    }

    func appendPollDescriptors(to descriptors: inout [pollfd]) {
        guard !isStopped, !isFile, let number = reader?.descriptor else { return }
        descriptors.append(pollfd(fd: number, events: Int16(POLLIN), revents: 0))
    }

    func requestStop() { isStopped = true }

    /// A descriptor that was given stays open.
    func close() { reader = nil }
}

extension CodedReplay {
    private func decode(_ wanted: Int) throws(CaptureError) {
        if start > 0 {
            samples.removeFirst(start)
            start = 0
        }
        while samples.count < wanted * format.channelCount, !hasEnded {
            guard try decodeSome() else { return }
        }
    }

    /// - Returns: false when no bytes are there yet.
    private func decodeSome() throws(CaptureError) -> Bool {
        let fill: ByteReader.Fill
        do throws(SystemError) {
            fill = try reader?.fill(isFile ? Self.fileByteCount : Self.pipeByteCount) ?? .ended
        } catch {
            throw .readFailed(name: name, reason: error.reason)
        }
        let count = reader?.byteCount ?? 0
        do throws(UndecodableAudio) {
            try reader?.withBytes(count) { bytes throws(UndecodableAudio) in
                try decoder.decode(bytes, into: &samples)
            }
            reader?.consume(count)
            guard case .ended = fill else { return count > 0 }
            hasEnded = true
            try decoder.finish(into: &samples)
            if !decoder.isAtEnd { warning = "'\(name)' breaks off; what is there was taken" }
        } catch {
            hasEnded = true
            guard deliveredFrameCount > 0 || !samples.isEmpty else {
                throw CaptureError.unusableAudio(name: name, detail: error.description)
            }
            warning = "'\(name)' is damaged; what comes before was taken: \(error.description)"
        }
        return true
    }
}
