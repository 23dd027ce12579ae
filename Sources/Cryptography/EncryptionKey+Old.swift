// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

// Boxes of version 1: salt of 16 bytes, ciphertext, tag. Every key was HKDF-SHA256 of the secret, and
// so was its identifier, which stood in the clear: they are read, and written no more.
extension EncryptionKey {
    static let oldIdentifierByteCount = 8
    private static let oldSaltByteCount = 16
    /// Bytes that such a box has besides its contents.
    static let oldBoxOverhead = oldSaltByteCount + AESGCM.tagByteCount

    /// Decrypts a box, before which the identifier of its key stands when it is of version 1.
    package func openNamed(
        _ bytes: [UInt8], for context: [UInt8]
    ) throws(EncryptionError) -> [UInt8] {
        if try Box(of: bytes) != nil { return try open(bytes, for: context) }
        guard isNamed(by: bytes) else { throw .wrongKey }
        return try openOld(
            Array(bytes.dropFirst(Self.oldIdentifierByteCount)), for: context)
    }

    /// Whether bytes begin with the identifier of this key.
    func isNamed(by bytes: some Collection<UInt8>) -> Bool {
        bytes.starts(with: derive("utter key identifier", [], Self.oldIdentifierByteCount))
    }

    /// Decrypts a box of version 1, which does not tell damage from a wrong key.
    func openOld(_ box: [UInt8], for context: [UInt8]) throws(EncryptionError) -> [UInt8] {
        guard box.count >= Self.oldBoxOverhead else { throw .damaged }
        var key = derive(
            "utter box", Array(box[..<Self.oldSaltByteCount]), AESGCM.keyByteCount)
        defer { key.clear() }
        do throws(SystemError) {
            if let bytes = try Box.open(
                box[Self.oldSaltByteCount...], key: key, context: context)
            {
                return bytes
            }
        } catch {
            throw .system(error)
        }
        throw .damaged
    }

    private func derive(_ purpose: String, _ salt: [UInt8], _ byteCount: Int) -> [UInt8] {
        withSecret { secret in
            HKDF.derive(
                from: secret, salt: salt, purpose: Array(purpose.utf8), byteCount: byteCount)
        }
    }
}
