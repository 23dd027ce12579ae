// SPDX-License-Identifier: Apache-2.0

internal import CCrypto

/// A keyed digest (RFC 2104) with SHA-256, by libcrypto.
package enum HMACSHA256 {
    static let byteCount = 32

    /// The digest of a message, 32 bytes.
    ///
    /// The corresponding C function is `HMAC`.
    package static func digest(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        // An empty key is as good as zeros (RFC 2104 §2), but a null pointer means another thing.
        let key = key.isEmpty ? [0] : key
        let result = unsafe HMAC(
            EVP_sha256(), key, Int32(key.count), message, message.count, &digest, nil)
        // It allocates its context; without memory for that there is no going on.
        precondition(unsafe result != nil, "no memory for a key")
        return digest
    }
}
