// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform

/// The first 88 bytes of an encrypted file.
///
/// | offset | size | meaning |
/// |---|---|---|
/// | 0 | 8 | `utterenc` |
/// | 8 | 2 | version, little-endian: 1 |
/// | 10 | 6 | 0 |
/// | 16 | 8 | identifier of the person's key |
/// | 24 | 64 | the file's own key, in a box under the person's key |
///
/// The box belongs to the 24 bytes before it and to the take's name. Frames follow, as
/// `FrameHeader` says. Whoever overwrites these bytes has destroyed the audio.
package enum EncryptedFileHeader {
    package static let byteCount = keyOffset + EncryptionKey.boxOverhead + AESGCM.keyByteCount
    private static let keyOffset = 24
    private static let magic = Array("utterenc".utf8)
    private static let version: UInt8 = 1

    /// Wraps a file's key.
    package static func bytes(
        wrapping fileKey: [UInt8], under key: EncryptionKey, take: String
    ) throws(SystemError) -> [UInt8] {
        let start = magic + [version, 0] + [UInt8](repeating: 0, count: 6) + key.identifier
        return start + (try key.seal(fileKey, for: start + Array(take.utf8)))
    }

    /// Reads the file's own key.
    ///
    /// - Throws: `EncryptionError` when there is no telling it.
    package static func fileKey(
        in bytes: [UInt8], under key: EncryptionKey, take: String
    ) throws(EncryptionError) -> [UInt8] {
        // Of a header that was torn, the box's tag has not arrived.
        guard bytes.count >= byteCount, bytes.starts(with: magic), bytes[8] >= version,
            !bytes[..<byteCount].suffix(AESGCM.tagByteCount).allSatisfy({ $0 == 0 })
        else { throw .damagedHeader }
        guard bytes[8] == version, bytes[9] == 0 else {
            throw .laterVersion(Int(bytes[8]) | Int(bytes[9]) << 8)
        }
        guard Array(bytes[16..<keyOffset]) == key.identifier else { throw .wrongKey }
        let fileKey: [UInt8]?
        do throws(SystemError) {
            fileKey = try key.open(
                Array(bytes[keyOffset..<byteCount]),
                for: Array(bytes[..<keyOffset]) + Array(take.utf8))
        } catch {
            throw .system(error)
        }
        guard let fileKey else { throw .damagedHeader }
        return fileKey
    }
}

/// Why an encrypted file cannot be opened.
package enum EncryptionError: Error, Equatable {
    /// The key that was given is another one.
    case wrongKey
    /// The first bytes were altered or damaged, or belong to another take.
    case damagedHeader
    /// A later program wrote the file.
    case laterVersion(Int)
    /// The disk failed, or memory ran out.
    case system(SystemError)
}
