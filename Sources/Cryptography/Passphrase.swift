// SPDX-License-Identifier: Apache-2.0

internal import CCrypto
internal import Glibc
internal import LinuxPlatform

/// Makes passphrases, and rejects those that are easily guessed.
enum Passphrase {
    /// In bytes.
    static let minimumByteCount = 16
    /// Bytes that do not follow from those before.
    private static let minimumNewCount = 12
    private static let groups = 5
    private static let groupLength = 4
    /// 32 letters and digits of which no two look alike.
    private static let alphabet = Array("abcdefghjkmnpqrstuvwxyz123456789".utf8)
    /// Neighbours in the alphabet and on keyboards, in rows and columns.
    private static let rows = [
        "abcdefghijklmnopqrstuvwxyz", "1234567890", "0123456789", "qwertyuiop", "asdfghjkl",
        "zxcvbnm", "qwertzuiop", "yxcvbnm", "azertyuiop", "qsdfghjklm", "1qaz", "2wsx", "3edc",
        "4rfv", "5tgb", "6yhn", "7ujm", "8ik,", "9ol.", "0p;/",
    ].map { Array($0.utf8) }

    /// 100 random bits, such as `kq7m-2xvd-9hte-pw4c-ab3f`, which the caller clears.
    static func make() -> (bytes: [UInt8], bits: Int) {
        var random = [UInt8].random(groups * groupLength)
        defer { random.clear() }
        var bytes: [UInt8] = []
        // Reserved, so that growing leaves no copy behind; a line feed may follow.
        bytes.reserveCapacity(groups * (groupLength + 1))
        for (index, byte) in random.enumerated() {
            if index > 0, index % groupLength == 0 { bytes.append(UInt8(ascii: "-")) }
            bytes.append(alphabet[Int(byte & 31)])
        }
        return (bytes, random.count * 5)
    }

    /// Whether it has too few new characters: it repeats itself, or goes along rows.
    ///
    /// Words are not looked up.
    static func isPredictable(_ bytes: [UInt8]) -> Bool {
        var letters = bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        defer { letters.clear() }
        let isRepeated = (1..<minimumByteCount).contains { length in
            length <= letters.count / 2
                && letters.dropFirst(length).elementsEqual(letters.dropLast(length))
        }
        if isRepeated { return true }
        var pairs: Set<UInt16> = []
        var newCount = 1
        for index in letters.indices.dropFirst() {
            let pair = UInt16(letters[index - 1]) << 8 | UInt16(letters[index])
            let isRun = index > 1 && goesOn(Array(letters[index - 2...index]))
            if pairs.insert(pair).inserted, !isRun { newCount += 1 }
        }
        return newCount < minimumNewCount
    }

    /// The same character three times, or one step after the other in a row, either way.
    private static func goesOn(_ three: [UInt8]) -> Bool {
        if Set(three).count == 1 { return true }
        return rows.contains { row in
            guard let first = row.firstIndex(of: three[0]) else { return false }
            return row[first...].starts(with: three) || row[...first].reversed().starts(with: three)
        }
    }
}

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
