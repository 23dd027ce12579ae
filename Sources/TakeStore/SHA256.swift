// SPDX-License-Identifier: Apache-2.0

internal import CCrypto

/// A running SHA-256 (FIPS 180-4) by OpenSSL's libcrypto.
@safe package struct SHA256: ~Copyable {
    private let context: OpaquePointer?

    /// Starts with no bytes.
    ///
    /// The corresponding C function is `EVP_DigestInit_ex`.
    package init() {
        unsafe context = EVP_MD_CTX_new()
        unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil)
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    /// Adds bytes.
    ///
    /// The corresponding C function is `EVP_DigestUpdate`.
    package func update(_ bytes: Span<UInt8>) {
        _ = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe EVP_DigestUpdate(context, buffer.baseAddress, buffer.count)
        }
    }

    /// The digest of all bytes, as 64 lower-case hexadecimal digits; "" when memory ran out.
    package consuming func finish() -> String {
        var digest = [UInt8](repeating: 0, count: 32)
        guard unsafe EVP_DigestFinal_ex(context, &digest, nil) == 1 else { return "" }
        let digits = Array("0123456789abcdef".utf8)
        let text = digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
