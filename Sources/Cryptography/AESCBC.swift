// SPDX-License-Identifier: Apache-2.0

internal import CCrypto

/// AES-128 in cipher block chaining with the padding of PKCS #7 (NIST SP 800-38A, RFC 5652 §6.3), as
/// playlists of HTTP Live Streaming want it (RFC 8216 §4.3.2.4).
///
/// It vouches for nothing: who changes the ciphertext changes the text.
package enum AESCBC {
    package static let keyByteCount = 16

    /// - Parameters:
    ///   - bytes: the ciphertext, whole blocks of 16 bytes.
    ///   - key: 16 bytes.
    ///   - vector: 16 bytes, the initialization vector.
    /// - Returns: the text; nil when the length or the padding is wrong, as under another key.
    package static func open(_ bytes: [UInt8], key: [UInt8], vector: [UInt8]) -> [UInt8]? {
        guard key.count == keyByteCount, vector.count == keyByteCount, !bytes.isEmpty,
            bytes.count.isMultiple(of: keyByteCount), bytes.count < Int32.max
        else { return nil }
        let context = unsafe EVP_CIPHER_CTX_new()
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        var text = [UInt8](repeating: 0, count: bytes.count + keyByteCount)
        var (count, rest): (Int32, Int32) = (0, 0)
        guard unsafe EVP_DecryptInit_ex(context, EVP_aes_128_cbc(), nil, key, vector) == 1,
            unsafe EVP_DecryptUpdate(context, &text, &count, bytes, Int32(bytes.count)) == 1
        else { return nil }
        let isWhole = unsafe text.withUnsafeMutableBufferPointer { buffer in
            unsafe EVP_DecryptFinal_ex(
                context, buffer.baseAddress.map { unsafe $0 + Int(count) }, &rest) == 1
        }
        return isWhole ? Array(text.prefix(Int(count + rest))) : nil
    }
}
