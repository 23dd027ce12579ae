// SPDX-License-Identifier: Apache-2.0

internal import CCrypto
internal import Glibc
internal import LinuxPlatform

/// How the root of the boxes' keys is made from a person's key.
enum KeyDerivation: Equatable {
    /// The key is random, and is the root.
    case none
    /// The key is a passphrase, stretched by scrypt (RFC 7914).
    case scrypt(salt: [UInt8], Cost)

    static let saltByteCount = 16

    /// `128 · blocks · 2^logRounds` bytes of memory, and time for `passes` of them.
    struct Cost: Equatable {
        var logRounds: UInt8
        var blocks: UInt8
        var passes: UInt8

        /// 32 MiB and a fifth of a second.
        static let standard = Cost(logRounds: 15, blocks: 8, passes: 3)

        /// Accepted costs: 16 to 128 MiB, and at most two seconds.
        var isBounded: Bool {
            (14...17).contains(logRounds) && blocks == 8 && (1...8).contains(passes)
        }
    }

    /// 32 bytes, which the caller clears.
    func root(of passphrase: [UInt8]) throws(SystemError) -> [UInt8] {
        guard case .scrypt(let salt, let cost) = self else { return passphrase }
        var root = [UInt8](repeating: 0, count: AESGCM.keyByteCount)
        let rounds = UInt64(1) << cost.logRounds
        // Twice what it takes: the limit counts what is allocated beside.
        let limit = 256 * UInt64(cost.blocks) * rounds
        let result = unsafe passphrase.withUnsafeBytes { secret in
            unsafe EVP_PBE_scrypt(
                secret.baseAddress?.assumingMemoryBound(to: CChar.self), secret.count, salt,
                salt.count, rounds, UInt64(cost.blocks), UInt64(cost.passes), limit, &root,
                root.count)
        }
        guard result == 1 else { throw SystemError(call: "derive a key", code: ENOMEM) }
        return root
    }
}
