// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore
internal import LinuxPlatform

/// A recording that we read ourselves, from a file or a pipe.
final class CodedAudio: RecordedAudio {
    let isRaw: Bool
    let isFile: Bool

    var frameCountLeft: Int? { hasEnded ? decodedFrameCount : nil }

    var warning: String? { flaws.sentence(about: "'\(name)'", ending: ending) }

    var nextBreak: Range<Int>? { holes.first }

    private(set) var deliveredFrameCount = 0

    /// Bytes that are read at once; a killed program loses those of a pipe.
    private let stepByteCount: Int

    private(set) var format = StreamFormat.speech

    /// How long a pipe may say nothing where a WAV header says that its sound ends: others may hold
    /// it open.
    private static let patience = Duration.seconds(1)

    private(set) var deadline: ContinuousClock.Instant?

    private let name: String
    private let codec: AudioCodec
    private var reader: ByteReader?
    private let decoder: any AudioDecoder
    private var samples: [Int16] = []
    private var start = 0
    private var hasEnded = false
    private var flaws = FlawSummary()
    private var ending: String?
    /// By their frames, which no samples stand for.
    private var holes: [Range<Int>] = []

    /// Waits up to 10 s for the headers of a pipe; samples of a raw format have none.
    init(
        _ codec: AudioCodec, raw: StreamFormat? = nil, reading reader: consuming ByteReader,
        name: String, pipeByteCount: Int = 512
    ) throws(CaptureError) {
        if let raw, raw.sampleRate < 1 || raw.channelCount < 1 {
            throw .unusableAudio(
                name: name, detail: "\(raw.sampleRate) Hz and \(raw.channelCount) channels")
        }
        let pcm = raw.map { makePCMDecoder(.int16, format: $0, isBigEndian: false) }
        decoder = pcm ?? codec.makeDecoder()
        (self.codec, self.name, isRaw) = (codec, name, raw != nil)
        isFile = reader.fileByteCount != nil
        stepByteCount = isFile ? 4_096 : pipeByteCount
        self.reader = consume reader
        let deadline = ContinuousClock.now + FileReplay.headerWait
        while !hasBegun, !hasEnded {
            try self.reader?.wait(for: "no audio", until: deadline) {
                reader throws(SystemError) in try reader.fill(1)
            }
            _ = try decodeSome()
        }
        format = decoder.format ?? .speech
        self.reader?.mayWait = false
    }

    private var decodedFrameCount: Int { (samples.count - start) / format.channelCount }

    /// Sound may follow a WAV header at any time.
    private var hasBegun: Bool {
        decoder.format != nil && (isRaw || codec == .wav || !samples.isEmpty || !holes.isEmpty)
    }

    func prepare(_ count: Int) throws(CaptureError) -> Int {
        if start > 0 {
            samples.removeFirst(start)
            start = 0
        }
        while decodedFrameCount < count, holes.isEmpty, !hasEnded {
            guard try decodeSome(missing: count - decodedFrameCount) else {
                awaitMore()
                break
            }
        }
        return decodedFrameCount
    }

    func deliver(_ count: Int, into frames: inout MutableSpan<Int16>) {
        let sampleCount = count * format.channelCount
        for index in 0..<sampleCount { frames[index] = samples[start + index] }
        start += sampleCount
        deliveredFrameCount += count
    }

    func skip(_ count: Int) {
        deliveredFrameCount += count
        if let hole = holes.first, hole.upperBound <= deliveredFrameCount { holes.removeFirst() }
    }

    var descriptor: Int32? { reader?.awaited }

    func close() { if let reader = reader.take() { reader.close() } }
}

extension CodedAudio {
    /// Reads no more of a pipe with samples than the `missing` frames: a kill costs what was read.
    ///
    /// - Returns: false when no bytes are there yet.
    private func decodeSome(missing: Int = .max) throws(CaptureError) -> Bool {
        let isExact = !isFile && (isRaw || codec == .wav) && missing < stepByteCount
        let step = isExact ? min(missing * 2 * format.channelCount, stepByteCount) : stepByteCount
        let fill = try reader?.readOn(step) ?? .ended
        let count = min(reader?.byteCount ?? 0, step)
        defer { noteFlaws() }
        do throws(UndecodableAudio) {
            try reader?.withBytes(count) { bytes throws(UndecodableAudio) in
                try decoder.decode(bytes, into: &samples)
            }
            reader?.consume(count)
            if count > 0 { deadline = nil }
            guard case .ended = fill else { return count > 0 }
            hasEnded = true
            try decoder.finish(into: &samples)
            let isTorn = (samples.count - start) % format.channelCount > 0
            if isTorn || !decoder.isAtEnd {
                ending = isRaw ? "ends within a frame" : "breaks off; what is there was taken"
            }
        } catch {
            hasEnded = true
            guard deliveredFrameCount > 0 || !samples.isEmpty else {
                throw CaptureError.unusableAudio(name: name, detail: error.description)
            }
            ending = "is damaged; what comes before was taken: \(error.description)"
        }
        return true
    }

    private func awaitMore() {
        guard !isFile, codec == .wav, decoder.isAtEnd else { return }
        let end = deadline ?? .now + Self.patience
        (deadline, hasEnded) = (end, end <= .now)
    }

    private func noteFlaws() {
        let found = decoder.takeFlaws()
        flaws.add(found.map(\.text))
        for flaw in found where flaw.frames > 0 {
            holes.append(flaw.start..<flaw.start + flaw.frames)
        }
    }
}
