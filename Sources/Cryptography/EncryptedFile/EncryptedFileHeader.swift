// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// The first 120 bytes of an encrypted file.
///
/// | offset | size | meaning |
/// |---|---|---|
/// | 0 | 8 | `utterenc` |
/// | 8 | 2 | version, little-endian: 1 |
/// | 10 | 6 | 0 |
/// | 16 | 104 | the file's own key, in a box under the person's key, as `Box` says |
///
/// The box belongs to the 16 bytes before it and to the take's name. Frames follow, as
/// `FrameHeader` and `FrameLayout` say. Overwriting these bytes destroys the audio.
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
