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

    /// Writes the ciphertext and a tag, which also vouches for `context`.
    ///
    /// The nonce must never repeat with this key.
    ///
    /// - Returns: false when memory ran out.
    func seal(
        _ plain: Span<UInt8>, nonce: Span<UInt8>, context: [UInt8] = [],
        into output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        precondition(encrypts && output.count == plain.count + Self.tagByteCount)
        return unsafe begin(nonce, context) && update(plain, into: output) && finish()
            && EVP_CIPHER_CTX_ctrl(
                self.context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagByteCount),
                output.baseAddress.map { unsafe $0 + plain.count }) == 1
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
        var tag = sealed.extracting(last: Self.tagByteCount).array
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

extension Span where Element == UInt8 {
    var array: [UInt8] { unsafe withUnsafeBufferPointer { unsafe Array($0) } }
}
