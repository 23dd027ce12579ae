// SPDX-License-Identifier: Apache-2.0

extension UInt8 {
    /// Whether the byte is a letter or a digit of ASCII.
    package var isLetterOrDigit: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}

/// Writes bytes in base64 (RFC 4648 §4), in groups of three that become four characters.
///
/// Foundation's makes a new object of each piece; a body is read piece by piece into one buffer.
package enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    package static func characterCount(of byteCount: Int) -> Int { (byteCount + 2) / 3 * 4 }

    package static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        var characters: [UInt8] = []
        characters.reserveCapacity(characterCount(of: bytes.count))
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let second = start + 1 < bytes.count ? bytes[start + 1] : 0
            let third = start + 2 < bytes.count ? bytes[start + 2] : 0
            let group = Int(bytes[start]) << 16 | Int(second) << 8 | Int(third)
            characters.append(alphabet[group >> 18])
            characters.append(alphabet[group >> 12 & 63])
            characters.append(start + 1 < bytes.count ? alphabet[group >> 6 & 63] : padding)
            characters.append(start + 2 < bytes.count ? alphabet[group & 63] : padding)
        }
        return characters
    }
}

/// FNV-1a of 32 bits: the same in every run, for numbers that need not be secret.
package enum FNV {
    package static func hash(_ bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }
}
