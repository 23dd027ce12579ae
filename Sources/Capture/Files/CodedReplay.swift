// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore
internal import LinuxPlatform

/// A recording that has to be decoded, from a file or a pipe.
///
/// Delivers what its decoder makes of it, as `PCMReplay` does samples. A recording that breaks off,
/// or is damaged, yields what comes before, and `warning` tells.
final class CodedReplay: Replay {
    var isStored: Bool { !clock.isHoldingBack && isFile }

    var nextFrames: ContinuousClock.Instant? {
        let left = hasEnded ? (samples.count - start) / format.channelCount : .max
        return clock.next(min(format.framesPerPeriod, left), after: deliveredFrameCount)
    }

    private(set) var warning: String?

    /// Bytes that are read of a file at once.
    private static let fileByteCount = 4_096

    /// Bytes per read of a pipe: a killed program loses them.
    private static let pipeByteCount = 512

    private(set) var format = StreamFormat.speech

    private let name: String
    private var clock: ReplayClock
    private var reader: ByteReader?
    private let decoder: any AudioDecoder
    private var samples: [Int16] = []
    private var start = 0
    private var deliveredFrameCount = 0
    private let isFile: Bool
    private var hasEnded = false

    /// Waits up to 10 s for the headers of a pipe.
    init(
        _ codec: AudioCodec, reading reader: consuming ByteReader, name: String, clock: ReplayClock
    ) throws(CaptureError) {
        decoder = codec.makeDecoder()
        self.name = name
        self.clock = clock
        isFile = reader.fileByteCount != nil
        self.reader = consume reader
        let deadline = ContinuousClock.now + PCMReplay.headerWait
        while samples.isEmpty, !hasEnded {
            try self.reader?.wait(for: "no audio", until: deadline) {
                reader throws(SystemError) in try reader.fill(1)
            }
            _ = try decodeSome()
        }
        format = decoder.format ?? .speech
    }

    func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        guard reader != nil else { return .end }
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

    var pipe: Int32? { isFile ? nil : reader?.descriptor }

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
        let fill = try reader?.readOn(isFile ? Self.fileByteCount : Self.pipeByteCount) ?? .ended
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
