// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore
internal import LinuxPlatform

/// A recording that has to be decoded, from a file or a pipe.
final class CodedAudio: RecordedAudio {
    let isRaw = false
    let isFile: Bool

    var frameCountLeft: Int? { hasEnded ? decodedFrameCount : nil }

    private(set) var warning: String?

    private(set) var deliveredFrameCount = 0

    /// Bytes that are read of a file at once.
    private static let fileByteCount = 4_096

    /// Bytes per read of a pipe: a killed program loses them.
    private static let pipeByteCount = 512

    private(set) var format = StreamFormat.speech

    private let name: String
    private var reader: ByteReader?
    private let decoder: any AudioDecoder
    private var samples: [Int16] = []
    private var start = 0
    private var hasEnded = false

    /// Waits up to 10 s for the headers of a pipe.
    init(
        _ codec: AudioCodec, reading reader: consuming ByteReader, name: String
    ) throws(CaptureError) {
        decoder = codec.makeDecoder()
        self.name = name
        isFile = reader.fileByteCount != nil
        self.reader = consume reader
        let deadline = ContinuousClock.now + PCMAudio.headerWait
        while samples.isEmpty, !hasEnded {
            try self.reader?.wait(for: "no audio", until: deadline) {
                reader throws(SystemError) in try reader.fill(1)
            }
            _ = try decodeSome()
        }
        format = decoder.format ?? .speech
    }

    private var decodedFrameCount: Int { (samples.count - start) / format.channelCount }

    func prepare(_ count: Int) throws(CaptureError) -> Int {
        if start > 0 {
            samples.removeFirst(start)
            start = 0
        }
        while decodedFrameCount < count, !hasEnded {
            guard try decodeSome() else { break }
        }
        return decodedFrameCount
    }

    func deliver(_ count: Int, into frames: inout MutableSpan<Int16>) {
        let sampleCount = count * format.channelCount
        for index in 0..<sampleCount { frames[index] = samples[start + index] }
        start += sampleCount
        deliveredFrameCount += count
    }

    var descriptor: Int32? { isFile ? nil : reader?.descriptor }

    func close() { reader = nil }
}

extension CodedAudio {
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
