// SPDX-License-Identifier: Apache-2.0

/// Why a secret is no key.
public enum KeyError: Error, Equatable {
    /// A passphrase has at least so many bytes.
    case tooShort(minimum: Int)
    /// It consists of a few bytes again and again.
    case guessable
    /// A passphrase repeats itself, or goes along the alphabet or rows of keys.
    case predictable
    /// It begins as a random key does, and is none.
    case damaged
}

extension KeyError: CustomStringConvertible {
    /// What is wrong, in one line without capital and full stop.
    public var description: String {
        switch self {
        case .tooShort(let minimum): "a passphrase has at least \(minimum) bytes"
        case .guessable: "a key of so few different characters can be guessed"
        case .predictable:
            "a passphrase that repeats itself, or goes along the alphabet or the keys, can be guessed"
        case .damaged: "a part of the key is missing or mistyped"
        }
    }
}
