// SPDX-License-Identifier: Apache-2.0

internal import CCrypto
internal import Glibc

/// The key derivation of RFC 5869 with SHA-256, over HMAC.
enum HKDF {
    private static let digestByteCount = HMACSHA256.byteCount

    /// At most 8,160 bytes, which the caller clears.
    ///
    /// The salt is public, and may be empty; `purpose` is the `info` of the RFC: keys for different
    /// purposes are independent.
    static func derive(
        from secret: [UInt8], salt: [UInt8], purpose: [UInt8], byteCount: Int
    ) -> [UInt8] {
        precondition(byteCount <= 255 * digestByteCount)
        var extracted = HMACSHA256.digest(key: salt, secret)
        defer { extracted.clear() }
        var derived: [UInt8] = []
        var block: [UInt8] = []
        defer { block.clear() }
        // Reserved, so that growing leaves no copy behind.
        derived.reserveCapacity(byteCount + digestByteCount)
        for counter in 1...max(1, (byteCount + digestByteCount - 1) / digestByteCount) {
            var message = block + purpose + [UInt8(counter)]
            block.clear()
            block = HMACSHA256.digest(key: extracted, message)
            message.clear()
            derived += block
        }
        derived.removeLast(derived.count - byteCount)
        return derived
    }
}

extension [UInt8] {
    /// In a way that the optimiser keeps.
    package mutating func clear() {
        unsafe withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe explicit_bzero(start, bytes.count)
        }
    }
}

/// HMAC (RFC 2104) with SHA-256, by libcrypto.
package enum HMACSHA256 {
    static let byteCount = 32

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
