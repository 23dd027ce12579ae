// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform
internal import Synchronization

/// The person's key, under which takes are encrypted on the disk.
///
/// It encrypts nothing itself: each box has a key of its own, derived with HKDF-SHA256 from the
/// secret and a random salt. The secret is cleared from memory with the last reference.
/// Usable from any thread.
public final class EncryptionKey: Sendable {
    /// The fewest bytes that a secret may have; a passphrase of less can be guessed.
    package static let minimumByteCount = 16

    package static let identifierByteCount = 8
    private static let saltByteCount = 16
    /// What a box is longer than what is in it.
    package static let boxOverhead = saltByteCount + AESGCM.tagByteCount

    /// Tells keys apart, and nothing of the secret.
    package let identifier: [UInt8]
    private let secret: Mutex<[UInt8]>

    /// Takes over a secret, such as the contents of a key file.
    ///
    /// It is nil when there are fewer than 16 bytes.
    ///
    /// - Parameter secret: best 32 random bytes, in any spelling; all bytes count.
    package init?(secret: [UInt8]) {
        guard secret.count >= Self.minimumByteCount else { return nil }
        // A copy of our own, which nobody else can keep from being cleared.
        self.secret = Mutex(secret.map { $0 })
        identifier = HKDF.derive(
            from: secret, salt: [], purpose: Array("utter key identifier".utf8),
            byteCount: Self.identifierByteCount)
    }

    deinit { secret.withLock { $0.clear() } }

    /// Encrypts a few bytes: salt, ciphertext, tag.
    ///
    /// Each box has its own key by its own salt, so that the nonce can be zero.
    ///
    /// - Parameters:
    ///   - bytes: what is to be hidden.
    ///   - context: where the box belongs; it opens nowhere else.
    /// - Returns: 32 bytes more than `bytes` has.
    /// - Throws: `SystemError` when memory has run out.
    package func seal(_ bytes: [UInt8], for context: [UInt8]) throws(SystemError) -> [UInt8] {
        let salt = [UInt8].random(Self.saltByteCount)
        var key = deriveKey(salt: salt)
        defer { key.clear() }
        let cipher = try AESGCM(key: key.span, encrypts: true)
        var sealed = [UInt8](repeating: 0, count: bytes.count + AESGCM.tagByteCount)
        let isSealed = unsafe sealed.withUnsafeMutableBytes { output in
            unsafe cipher.seal(
                bytes.span, nonce: Self.zeroNonce.span, context: context, into: output)
        }
        guard isSealed else { throw AESGCM.failure }
        return salt + sealed
    }

    /// Decrypts a box.
    ///
    /// - Returns: what was sealed, or nil when the box was altered, belongs elsewhere, or was made
    ///   under another key.
    /// - Throws: `SystemError` when memory has run out.
    package func open(_ box: [UInt8], for context: [UInt8]) throws(SystemError) -> [UInt8]? {
        guard box.count >= Self.boxOverhead else { return nil }
        var key = deriveKey(salt: Array(box[..<Self.saltByteCount]))
        defer { key.clear() }
        let cipher = try AESGCM(key: key.span, encrypts: false)
        var bytes = [UInt8](repeating: 0, count: box.count - Self.boxOverhead)
        let isOpen = unsafe bytes.withUnsafeMutableBytes { output in
            unsafe cipher.open(
                box.span.extracting(droppingFirst: Self.saltByteCount),
                nonce: Self.zeroNonce.span, context: context, into: output)
        }
        return isOpen ? bytes : nil
    }

    private func deriveKey(salt: [UInt8]) -> [UInt8] {
        secret.withLock { secret in
            HKDF.derive(
                from: secret, salt: salt, purpose: Array("utter box".utf8),
                byteCount: AESGCM.keyByteCount)
        }
    }

    private static let zeroNonce = [UInt8](repeating: 0, count: AESGCM.nonceByteCount)
}

extension [UInt8] {
    /// Random bytes of the system's generator, `getrandom(2)`.
    package static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
