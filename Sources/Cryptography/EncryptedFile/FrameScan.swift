// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// What an encrypted file holds, every frame of it decrypted and checked once.
///
/// Behind a part that was altered or damaged the next whole frame is looked for at every byte; its
/// header tells exactly how much audio is missing.
struct FrameScan {
    /// Many more tears than a disk leaves; a file of more is not worth the search.
    private static let damageLimit = 1_000
    /// Bytes that look like a header and are none are rare unless somebody has put them there.
    private static let falseHeaderLimit = 4_096

    /// Where the frames are, and what is missing between them.
    private(set) var index = FrameIndex()
    /// Where the last whole frame ends.
    private(set) var end = FramePosition(file: EncryptedFileHeader.byteCount, audio: 0)
    /// Whether the mark of the end is there.
    private(set) var isMarked = false

    private var number: UInt32 = 0
    private var falseHeaders = 0

    /// Reads the frames of a file of `size` bytes.
    init(_ reader: FrameReader, size: Int) throws(SystemError) {
        while !isMarked {
            guard let header = try reader.header(at: end.file, end: size), follows(header),
                header.offset == end.audio, reader.isIntact(header, at: end.file)
            else {
                guard try resume(reader, size) else { return }
                continue
            }
            take(header)
        }
    }

    private mutating func take(_ header: FrameHeader) {
        number = header.number
        isMarked = header.isEnd
        if !isMarked { index.note(end) }
        end.file += header.frameByteCount
        end.audio += Int(header.length)
    }

    /// Finds the next whole frame; false when there is none.
    private mutating func resume(_ reader: FrameReader, _ size: Int) throws(SystemError) -> Bool {
        guard index.damage.count < Self.damageLimit else { return false }
        var place = end.file
        while place + FrameHeader.overhead <= size {
            if let header = try reader.header(at: place, end: size),
                isPlausible(header, after: place - end.file)
            {
                if reader.isIntact(header, at: place) {
                    index.note(
                        FrameDamage(lost: end.audio..<header.offset, resumption: place))
                    end = FramePosition(file: place, audio: header.offset)
                    return true
                }
                falseHeaders += 1
                guard falseHeaders < Self.falseHeaderLimit else { return false }
            }
            place += 1
        }
        return false
    }

    private func follows(_ header: FrameHeader) -> Bool { header.number > number }

    /// Whether a header may stand this many bytes behind the last whole frame.
    private func isPlausible(_ header: FrameHeader, after gap: Int) -> Bool {
        guard follows(header), header.offset >= end.audio else { return false }
        // Frames may have been cut out, and a write that failed has used its number up too; no
        // more than these are credible, and none holds more than the longest.
        let lost = Int(header.number - number)
        return lost <= gap / FrameHeader.overhead + 65_536
            && header.offset - end.audio <= lost * FrameHeader.longestFrame
    }
}
