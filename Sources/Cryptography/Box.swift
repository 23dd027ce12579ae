// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// A few bytes encrypted under a person's key, such as the key of a file.
///
/// | offset | size | meaning |
/// |---|---|---|
/// | 0 | 8 | `utterbox` |
/// | 8 | 1 | version: 1 |
/// | 9 | 1 | the person's key: 0 random, 1 a passphrase by scrypt |
/// | 10 | 3 | scrypt: log2 of N, r, p; 0 without |
/// | 13 | 3 | 0 |
/// | 16 | 16 | scrypt: salt; 0 without |
/// | 32 | 16 | salt of the box's own key |
/// | 48 | | ciphertext, tag |
/// | | 8 | the first bytes of the SHA-256 of all before |
///
/// The tag vouches for the first 48 bytes, too, and for where the box belongs. The hash tells damage
/// from a wrong key; there is nothing else by which keys could be told apart, or tried.
struct Box {
    /// In bytes, besides the contents.
    static let overhead = headByteCount + AESGCM.tagByteCount + checkByteCount

    private static let headByteCount = 48
    private static let checkByteCount = 8
    private static let saltByteCount = 16
    private static let magic = Array("utterbox".utf8)
    private static let version: UInt8 = 1
    static let zeroNonce = [UInt8](repeating: 0, count: AESGCM.nonceByteCount)

    let derivation: KeyDerivation
    private let salt: [UInt8]

    init(_ derivation: KeyDerivation) {
        self.derivation = derivation
        salt = .random(Self.saltByteCount)
    }

    /// - Throws: `EncryptionError`: `.damaged` also when the derivation would cost too much.
    init(of bytes: [UInt8]) throws(EncryptionError) {
        guard bytes.starts(with: Self.magic), bytes.count >= Self.overhead else { throw .damaged }
        let end = bytes.count - Self.checkByteCount
        guard Array(bytes[end...]) == Self.check(bytes[..<end]) else { throw .damaged }
        guard bytes[8] == Self.version else { throw .laterVersion(Int(bytes[8])) }
        salt = Array(bytes[32..<48])
        switch bytes[9] {
        case 0:
            derivation = .none
        case 1:
            let cost = KeyDerivation.Cost(
                logRounds: bytes[10], blocks: bytes[11], passes: bytes[12])
            guard cost.isBounded else { throw .damaged }
            derivation = .scrypt(salt: Array(bytes[16..<32]), cost)
        default: throw .damaged
        }
    }

    private var head: [UInt8] {
        var head = Self.magic + [Self.version]
        if case .scrypt(let salt, let cost) = derivation {
            head += [1, cost.logRounds, cost.blocks, cost.passes, 0, 0, 0] + salt
        }
        return head + [UInt8](repeating: 0, count: 32 - head.count) + salt
    }

    /// Each box has its own salt and so its own key, so the nonce can be zero.
    func seal(
        _ bytes: [UInt8], under root: [UInt8], for context: [UInt8]
    ) throws(SystemError) -> [UInt8] {
        var key = key(under: root)
        defer { key.clear() }
        let cipher = try AESGCM(key: key.span, encrypts: true)
        var box = head
        try cipher.seal(
            bytes.span, nonce: Self.zeroNonce.span, context: head + context, onto: &box)
        return box + Self.check(box[...])
    }

    /// Opens a box; nil when the key is another one, or the box belongs elsewhere.
    func open(
        _ box: [UInt8], under root: [UInt8], for context: [UInt8]
    ) throws(SystemError) -> [UInt8]? {
        var key = key(under: root)
        defer { key.clear() }
        let sealed = box[Self.headByteCount...].dropLast(Self.checkByteCount)
        let context = Array(box[..<Self.headByteCount]) + context
        let cipher = try AESGCM(key: key.span, encrypts: false)
        var bytes = [UInt8](repeating: 0, count: sealed.count - AESGCM.tagByteCount)
        let isOpen = unsafe bytes.withUnsafeMutableBytes { output in
            unsafe cipher.open(
                sealed.span, nonce: Self.zeroNonce.span, context: context, into: output)
        }
        return isOpen ? bytes : nil
    }

    private func key(under root: [UInt8]) -> [UInt8] {
        HKDF.derive(
            from: root, salt: salt, purpose: Array("utter box".utf8),
            byteCount: AESGCM.keyByteCount)
    }

    private static func check(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var digest = SHA256()
        digest.update(bytes.span)
        return Array(digest.bytes.prefix(checkByteCount))
    }
}
