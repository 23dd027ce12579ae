// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// The first 120 bytes of an encrypted file.
///
/// | offset | size | meaning |
/// |---|---|---|
/// | 0 | 8 | `utterenc` |
/// | 8 | 1 | version: 1 |
/// | 9 | 1 | 0 for a take's file, 1 for the body of a request |
/// | 10 | 6 | 0 |
/// | 16 | 104 | the file's own key, in a box under the person's key, as `Box` says |
///
/// The box belongs to the 16 bytes before it and to the take's name. Frames follow, as
/// `FrameHeader` and `FrameLayout` say. Overwriting these bytes destroys the audio.
///
/// A body has no box, but a seed of 32 bytes and zeros, and its key is made of the person's key and
/// the seed with HKDF-SHA256. Its content begins with a head, as `SealedHead` says.
package enum EncryptedFileHeader {
    package static let byteCount = boxOffset + Box.overhead + AESGCM.keyByteCount
    private static let boxOffset = 16
    private static let magic = Array("utterenc".utf8)
    private static let version: UInt8 = 1

    static func bytes(
        wrapping fileKey: [UInt8], under key: EncryptionKey, take: String
    ) throws(SystemError) -> [UInt8] {
        let start = magic + [version] + [UInt8](repeating: 0, count: 7)
        return start + (try key.seal(fileKey, for: start + Array(take.utf8)))
    }

    private static let seedByteCount = 32

    /// The header of a body.
    static func bytes(seed: [UInt8]) -> [UInt8] {
        let start = magic + [version, 1] + [UInt8](repeating: 0, count: 6) + seed
        return start + [UInt8](repeating: 0, count: byteCount - start.count)
    }

    /// Reads the header of a body.
    static func seed(in bytes: [UInt8]) throws(EncryptionError) -> [UInt8] {
        guard bytes.starts(with: magic) else { throw .damaged }
        guard bytes[8] == version else { throw .laterVersion(Int(bytes[8])) }
        let seed = Array(bytes[boxOffset..<boxOffset + seedByteCount])
        guard bytes == Self.bytes(seed: seed) else { throw .damaged }
        return seed
    }

    /// Whether a file that begins so is the body of a request.
    package static func isOfBody(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: magic) && bytes.count > 9 && bytes[9] == 1
    }

    static func read(
        _ bytes: [UInt8], under key: EncryptionKey, take: String
    ) throws(EncryptionError) -> [UInt8] {
        guard bytes.count >= byteCount, bytes.starts(with: magic), bytes[8] > 0,
            bytes[9..<boxOffset].allSatisfy({ $0 == 0 })
        else { throw .damaged }
        guard bytes[8] == version else { throw .laterVersion(Int(bytes[8])) }
        let fileKey = try key.open(
            Array(bytes[boxOffset..<byteCount]),
            for: Array(bytes[..<boxOffset]) + Array(take.utf8))
        guard fileKey.count == AESGCM.keyByteCount else { throw .damaged }
        return fileKey
    }
}

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

    static func nextBlock(after place: Int) -> Int { (place / blockByteCount + 1) * blockByteCount }
}
