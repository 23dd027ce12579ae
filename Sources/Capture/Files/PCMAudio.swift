// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import Glibc
internal import LinuxPlatform

/// Samples from a file or a pipe, behind a WAV header or without one.
final class PCMAudio: RecordedAudio {
    let (isRaw, isFile): (Bool, Bool)

    var format: StreamFormat { header.streamFormat }

    var frameCountLeft: Int? { frameCount.map { $0 - deliveredFrameCount } }

    private(set) var warning: String?

    private(set) var deliveredFrameCount = 0

    static let headerWait = Duration.seconds(10)

    private static let minimumBufferByteCount = 65_536

    private let name: String
    private let header: WAVHeader
    private var reader: ByteReader?

    /// Nil while an input of unknown length goes on.
    private var frameCount: Int?

    /// Reads the header, for which it waits up to 10 s; samples of a raw format have none.
    init(
        reading reader: consuming ByteReader, name: String, rawFormat: StreamFormat? = nil
    ) throws(CaptureError) {
        self.name = name
        (isRaw, isFile) = (rawFormat != nil, reader.fileByteCount != nil)
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

    func prepare(_ count: Int) throws(CaptureError) -> Int {
        // The reader has room for this much.
        let most = max(periodFrameCount, Self.minimumBufferByteCount / header.bytesPerFrame)
        let wanted = min(count, most, frameCountLeft ?? .max) * header.bytesPerFrame
        if case .ended = try reader?.readOn(max(0, wanted)) ?? .ended {
            settleLength(byteCount: bytesSeen)
        }
        return (reader?.byteCount ?? 0) / header.bytesPerFrame
    }

    func deliver(_ count: Int, into frames: inout MutableSpan<Int16>) {
        let byteCount = count * header.bytesPerFrame
        reader?.withBytes(byteCount) { bytes in
            header.sampleFormat.decode(bytes, into: &frames)
        }
        reader?.consume(byteCount)
        deliveredFrameCount += count
    }

    var descriptor: Int32? { isFile ? nil : reader?.descriptor }

    func close() { reader = nil }
}

// MARK: - How much

extension PCMAudio {
    private var periodFrameCount: Int { max(1, format.framesPerPeriod) }

    private var bytesSeen: Int {
        deliveredFrameCount * header.bytesPerFrame + (reader?.byteCount ?? 0)
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

extension PCMAudio {
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
