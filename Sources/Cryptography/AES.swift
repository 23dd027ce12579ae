// SPDX-License-Identifier: Apache-2.0

internal import CCrypto
internal import Glibc
internal import LinuxPlatform

/// AES-256 in Galois/Counter Mode (NIST SP 800-38D) by OpenSSL's libcrypto, one key a value.
///
/// The key is scheduled once, so that a frame costs a microsecond. The cipher's own memory is
/// cleared by the library when the value goes.
@safe struct AESGCM: ~Copyable {
    static let keyByteCount = 32
    static let nonceByteCount = 12
    static let tagByteCount = 16

    private let context: OpaquePointer?
    private let encrypts: Bool

    /// The key has 32 bytes.
    init(key: Span<UInt8>, encrypts: Bool) throws(SystemError) {
        precondition(key.count == Self.keyByteCount)
        self.encrypts = encrypts
        unsafe context = EVP_CIPHER_CTX_new()
        let result = unsafe key.withUnsafeBufferPointer { key in
            unsafe EVP_CipherInit_ex(
                context, EVP_aes_256_gcm(), nil, key.baseAddress, nil, encrypts ? 1 : 0)
        }
        guard result == 1 else { throw Self.failure }
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// Appends the ciphertext and a tag, which also vouches for `context`.
    ///
    /// The nonce must never repeat with this key.
    func seal(
        _ plain: Span<UInt8>, nonce: Span<UInt8>, context: [UInt8] = [],
        onto output: inout [UInt8]
    ) throws(SystemError) {
        precondition(encrypts)
        let (start, length) = (output.count, plain.count)
        output += repeatElement(0, count: length + Self.tagByteCount)
        let isSealed = unsafe output.withUnsafeMutableBytes { output in
            let sealed = unsafe UnsafeMutableRawBufferPointer(rebasing: output[start...])
            guard begin(nonce, context), unsafe update(plain, into: sealed), finish() else {
                return false
            }
            return unsafe EVP_CIPHER_CTX_ctrl(
                self.context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagByteCount),
                sealed.baseAddress.map { unsafe $0 + length }) == 1
        }
        guard isSealed else { throw Self.failure }
    }

    /// The output is worthless unless this returns true.
    func open(
        _ sealed: Span<UInt8>, nonce: Span<UInt8>, context: [UInt8] = [],
        into output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        precondition(!encrypts)
        guard sealed.count >= Self.tagByteCount else { return false }
        let text = sealed.extracting(droppingLast: Self.tagByteCount)
        precondition(output.count >= text.count)
        guard unsafe begin(nonce, context) && update(text, into: output) else { return false }
        var tag = unsafe sealed.extracting(last: Self.tagByteCount)
            .withUnsafeBufferPointer { unsafe Array($0) }
        let isSet = unsafe EVP_CIPHER_CTX_ctrl(
            self.context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagByteCount), &tag)
        return isSet == 1 && finish()
    }

    private func begin(_ nonce: Span<UInt8>, _ associated: [UInt8]) -> Bool {
        precondition(nonce.count == Self.nonceByteCount)
        let isReady = unsafe nonce.withUnsafeBufferPointer { nonce in
            unsafe EVP_CipherInit_ex(
                context, nil, nil, nil, nonce.baseAddress, encrypts ? 1 : 0) == 1
        }
        guard isReady, !associated.isEmpty else { return isReady }
        var count: Int32 = 0
        return unsafe EVP_CipherUpdate(
            context, nil, &count, associated, Int32(associated.count)) == 1
    }

    private func update(_ bytes: Span<UInt8>, into output: UnsafeMutableRawBufferPointer) -> Bool {
        guard !bytes.isEmpty else { return true }
        var count: Int32 = 0
        return unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe EVP_CipherUpdate(
                context, output.baseAddress?.assumingMemoryBound(to: UInt8.self), &count,
                bytes.baseAddress, Int32(bytes.count)) == 1
        }
    }

    private func finish() -> Bool {
        var rest = [UInt8](repeating: 0, count: Self.tagByteCount)
        var count: Int32 = 0
        return unsafe EVP_CipherFinal_ex(context, &rest, &count) == 1
    }

    /// libcrypto fails here only without memory.
    static var failure: SystemError { SystemError(call: "encrypt", code: ENOMEM) }
}

/// AES-128 in cipher block chaining with the padding of PKCS #7 (NIST SP 800-38A, RFC 5652 §6.3), as
/// playlists of HTTP Live Streaming want it (RFC 8216 §4.3.2.4).
///
/// It vouches for nothing: who changes the ciphertext changes the text.
package enum AESCBC {
    package static let keyByteCount = 16

    /// Decrypts whole blocks of 16 bytes; nil when a length or the padding is wrong, as under
    /// another key.
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
