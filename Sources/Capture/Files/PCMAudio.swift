// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import LinuxPlatform

/// Samples without a header, from a file or a pipe.
final class PCMAudio: RecordedAudio {
    let isRaw = true
    let isFile: Bool
    let format: StreamFormat

    var frameCountLeft: Int? { hasEnded ? frameCountThere : nil }

    private(set) var warning: String?

    private(set) var deliveredFrameCount = 0

    private static let minimumBufferByteCount = 65_536

    private let name: String
    private let bytesPerFrame: Int
    private var reader: ByteReader?
    private var hasEnded = false

    init(
        reading reader: consuming ByteReader, name: String, format: StreamFormat
    ) throws(CaptureError) {
        guard format.sampleRate > 0, format.channelCount > 0 else {
            throw .unusableAudio(
                name: name, detail: "\(format.sampleRate) Hz and \(format.channelCount) channels")
        }
        (self.name, self.format) = (name, format)
        bytesPerFrame = format.channelCount * SampleFormat.int16.byteCount
        isFile = reader.fileByteCount != nil
        reader.reserve(
            max(Self.minimumBufferByteCount, 2 * max(1, format.framesPerPeriod) * bytesPerFrame))
        self.reader = consume reader
    }

    func prepare(_ count: Int) throws(CaptureError) -> Int {
        // The reader has room for this much.
        let most = max(1, format.framesPerPeriod, Self.minimumBufferByteCount / bytesPerFrame)
        // A file may still grow: it ends where reading it does.
        if !hasEnded, case .ended = try reader?.readOn(min(count, most) * bytesPerFrame) ?? .ended {
            hasEnded = true
            let rest = (reader?.byteCount ?? 0) % bytesPerFrame
            if rest > 0 {
                warning =
                    "the last \(rest == 1 ? "byte" : "\(rest) bytes") of '\(name)' "
                    + "\(rest == 1 ? "is" : "are") less than a frame and left out"
            }
        }
        return frameCountThere
    }

    func deliver(_ count: Int, into frames: inout MutableSpan<Int16>) {
        let byteCount = count * bytesPerFrame
        reader?.withBytes(byteCount) { bytes in
            SampleFormat.int16.decode(bytes, into: &frames)
        }
        reader?.consume(byteCount)
        deliveredFrameCount += count
    }

    var descriptor: Int32? { isFile ? nil : reader?.descriptor }

    func close() { reader = nil }

    private var frameCountThere: Int { (reader?.byteCount ?? 0) / bytesPerFrame }
}
