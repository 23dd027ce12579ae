// SPDX-License-Identifier: Apache-2.0

/// The first 12 bytes of a frame of an encrypted file, little-endian; they are its nonce too.
///
/// | offset | size | meaning |
/// |---|---|---|
/// | 0 | 4 | number: above that of every frame that was begun before |
/// | 4 | 2 | bytes of audio in it; 0 is the mark of the end |
/// | 6 | 6 | bytes of audio before it |
///
/// The ciphertext and its tag of 16 bytes follow. Since the header is the nonce, the tag vouches
/// for it as well: a frame that was moved, doubled, or cut out is noticed.
struct FrameHeader: Equatable {
    static let byteCount = 12
    /// In bytes, besides the audio.
    static let overhead = byteCount + AESGCM.tagByteCount
    static let longestFrame = Int(UInt16.max)

    var number: UInt32
    var length: UInt16
    var offset: Int

    init(number: UInt32, length: UInt16, offset: Int) {
        (self.number, self.length, self.offset) = (number, length, offset)
    }

    init(_ bytes: Span<UInt8>) {
        func value(_ range: Range<Int>) -> UInt64 {
            range.reversed().reduce(0) { $0 << 8 | UInt64(bytes[$1]) }
        }
        number = UInt32(value(0..<4))
        length = UInt16(value(4..<6))
        offset = Int(value(6..<12))
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        for index in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
        for index in 0..<2 { bytes.append(UInt8(truncatingIfNeeded: length >> (8 * index))) }
        for index in 0..<6 { bytes.append(UInt8(truncatingIfNeeded: offset >> (8 * index))) }
        return bytes
    }

    var frameByteCount: Int { Self.overhead + Int(length) }

    var isEnd: Bool { length == 0 }
}

/// Where the frames of an encrypted file may stand.
///
/// Every block begins with a frame, and no frame crosses the end of one. So the next whole frame
/// behind a damaged part, and the frame of any byte of the audio, are found by looking at the
/// beginnings of blocks.
enum FrameLayout {
    static let start = EncryptedFileHeader.byteCount
    /// A page of the disk: 128 ms of PCM.
    static let blockByteCount = 4_096

    /// Bytes up to the end of the block: the longest frame there.
    static func room(at place: Int) -> Int { blockByteCount - place % blockByteCount }

    /// In the next block when this one has no room for a byte of audio.
    static func frameStart(_ place: Int) -> Int {
        room(at: place) > FrameHeader.overhead ? place : place + room(at: place)
    }

    /// The beginning of the block after that of `place`.
    static func nextBlock(after place: Int) -> Int { (place / blockByteCount + 1) * blockByteCount }
}
