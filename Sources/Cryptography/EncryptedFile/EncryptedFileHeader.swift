// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// The first 120 bytes of an encrypted file.
///
/// | offset | size | meaning |
/// |---|---|---|
/// | 0 | 8 | `utterenc` |
/// | 8 | 2 | version, little-endian: 2 |
/// | 10 | 6 | 0 |
/// | 16 | 104 | the file's own key, in a box under the person's key, as `Box` says |
///
/// The box belongs to the 16 bytes before it and to the take's name. Frames follow, as
/// `FrameHeader` and `FrameLayout` say. Overwriting these bytes destroys the audio. In version 1,
/// the identifier of the person's key stood at 16, and a box of version 1 of 64 bytes at 24.
package enum EncryptedFileHeader {
    package static let byteCount = boxOffset + Box.overhead + AESGCM.keyByteCount
    static let oldByteCount =
        oldBoxOffset + EncryptionKey.oldBoxOverhead + AESGCM.keyByteCount
    private static let boxOffset = 16
    private static let oldBoxOffset = boxOffset + EncryptionKey.oldIdentifierByteCount
    private static let magic = Array("utterenc".utf8)
    private static let version: UInt8 = 2

    static func bytes(
        wrapping fileKey: [UInt8], under key: EncryptionKey, take: String
    ) throws(SystemError) -> [UInt8] {
        let start = magic + [version] + [UInt8](repeating: 0, count: 7)
        return start + (try key.seal(fileKey, for: start + Array(take.utf8)))
    }

    /// Reads the file's own key, and where its frames stand.
    ///
    /// - Throws: `EncryptionError` when there is no telling it.
    static func read(
        _ bytes: [UInt8], under key: EncryptionKey, take: String
    ) throws(EncryptionError) -> (fileKey: [UInt8], FrameLayout) {
        guard bytes.count >= byteCount, bytes.starts(with: magic),
            bytes[9..<boxOffset].allSatisfy({ $0 == 0 })
        else { throw .damaged }
        let (layout, start, end): (FrameLayout, Int, Int)
        switch bytes[8] {
        case 0: throw .damaged
        case 1:
            (layout, start, end) = (.version1, oldBoxOffset, oldByteCount)
            // Of a header that was torn, the tag has not arrived.
            guard !bytes[..<end].suffix(AESGCM.tagByteCount).allSatisfy({ $0 == 0 })
            else { throw .damaged }
            guard key.isNamed(by: bytes[boxOffset..<start]) else { throw .wrongKey }
        case version: (layout, start, end) = (.current, boxOffset, byteCount)
        default: throw .laterVersion(Int(bytes[8]))
        }
        let fileKey = try key.open(
            Array(bytes[start..<end]), for: Array(bytes[..<start]) + Array(take.utf8))
        guard fileKey.count == AESGCM.keyByteCount else { throw .damaged }
        return (fileKey, layout)
    }
}
