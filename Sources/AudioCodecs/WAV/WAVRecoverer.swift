// SPDX-License-Identifier: Apache-2.0

/// Finds the last whole frame of a WAV file of ours.
final class WAVRecoverer: AudioRecoverer {
    /// A file system makes a file longer before the new bytes are on the disk, but by no more than
    /// it has room for in the file's last block: ext4, of which one of 4 KiB is the largest here.
    private static let blockByteCount = 4_096
    /// Fewer zeros at the end, which is 1 ms, may as well be samples.
    private static let shortestEmptyTail = 32

    private let dropsEmptyTail: Bool
    private var seen = 0
    private var contentEnd = 0
    private var head: [UInt8] = []

    /// Zeros in the last 4,096 bytes may be bytes that never arrived on the disk, and no samples.
    init(dropsEmptyTail: Bool) {
        self.dropsEmptyTail = dropsEmptyTail
    }

    func append(_ bytes: Span<UInt8>) {
        for index in 0..<min(bytes.count, WAVEncoder.headerByteCount - head.count) {
            head.append(bytes[index])
        }
        if let last = bytes.indices.last(where: { bytes[$0] != 0 }) { contentEnd = seen + last + 1 }
        seen += bytes.count
    }

    func finish() throws(EncodingError) -> IntactAudio {
        let frames = max(0, byteCount - WAVEncoder.headerByteCount) / 2
        return IntactAudio(
            byteCount: byteCount, frames: frames, hole: frames > 0 ? newHeader : nil)
    }

    private var byteCount: Int {
        let header = WAVEncoder.headerByteCount
        guard seen > header else { return seen < header ? 0 : header }
        let end = header + (seen - header) / 2 * 2
        let block = (seen - 1) / Self.blockByteCount * Self.blockByteCount
        let content = max(header, block, (contentEnd + 1) / 2 * 2)
        return dropsEmptyTail && end - content >= Self.shortestEmptyTail ? content : end
    }

    /// A header that was torn or never written; another one that can be read is left alone.
    private var newHeader: FileHole? {
        guard head != WAVEncoder.header else { return nil }
        let isTorn = zip(head, WAVEncoder.header).allSatisfy { $0 == 0 || $0 == $1 }
        guard isTorn || !isOfWAV else { return nil }
        return FileHole(
            replacedByteCount: WAVEncoder.headerByteCount, bytes: WAVEncoder.header,
            silentFrames: 0)
    }

    private var isOfWAV: Bool {
        head.starts(with: "RIFF".utf8) && head.dropFirst(8).starts(with: "WAVE".utf8)
    }
}
