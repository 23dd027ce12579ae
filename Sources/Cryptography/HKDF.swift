// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The key derivation of RFC 5869 with SHA-256, over HMAC.
enum HKDF {
    private static let digestByteCount = HMACSHA256.byteCount

    /// Derives a key.
    ///
    /// - Parameters:
    ///   - secret: the input keying material.
    ///   - salt: public; may be empty.
    ///   - purpose: `info` of the RFC; keys for different purposes say nothing of each other.
    ///   - byteCount: at most 8,160.
    /// - Returns: the derived bytes, which the caller clears.
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
    /// Overwrites the bytes, in a way that the optimiser keeps.
    ///
    /// The corresponding C function is `explicit_bzero`.
    package mutating func clear() {
        unsafe withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe explicit_bzero(start, bytes.count)
        }
    }
}
