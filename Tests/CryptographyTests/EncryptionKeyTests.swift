// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Cryptography

@Suite struct EncryptionKeyTests {
    @Test(
        .spec("RFC 5869 A.1, A.3"),
        arguments: [
            (
                Array(0...12), Array(0xF0...0xF9),
                "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
                    + "34007208d5b887185865"
            ),
            (
                [], [],
                "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
                    + "9d201395faa4b61a96c8"
            ),
        ] as [([UInt8], [UInt8], String)])
    func aDerivedKeyIsTheOneOfTheStandard(salt: [UInt8], purpose: [UInt8], key: String) {
        let derived = HKDF.derive(
            from: [UInt8](repeating: 0x0B, count: 22), salt: salt, purpose: purpose, byteCount: 42)
        #expect(derived == key.bytes)
    }

    @Test(.spec("RFC 7914 §12")) func aPassphraseIsStretchedAsTheStandardSays() throws {
        // N 16384, r 8, p 1; the first half of what the standard has.
        let derivation = KeyDerivation.scrypt(
            salt: Array("SodiumChloride".utf8), .init(logRounds: 14, blocks: 8, passes: 1))
        #expect(
            try derivation.root(of: Array("pleaseletmein".utf8))
                == "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2".bytes)
    }

    private static func repeated(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
        Array((0..<count).map { bytes[$0 % bytes.count] })
    }

    @Test(arguments: [
        (Array("fifteen letters".utf8), KeyError.tooShort(minimum: 16)),
        ([], .tooShort(minimum: 16)),
        (repeated([1], 16), .guessable), (repeated([0], 64), .guessable),
        (repeated(Array("abcd".utf8), 40), .guessable),
        (Array("utter-key-".utf8) + repeated(Array("00".utf8), 64), .guessable),
        (Array("utter-key-".utf8) + repeated(Array("0123".utf8), 63), .damaged),
        (Array("utter-key-0123456789ABCDEF".utf8), .damaged),
    ])
    func aSecretThatCanBeGuessedIsNoKey(_ secret: [UInt8], _ error: KeyError) {
        #expect(throws: error) { try EncryptionKey(secret: secret) }
    }

    @Test(
        arguments: [
            (.tooShort(minimum: 16), "a passphrase has at least 16 bytes"),
            (.guessable, "a key of so few different characters can be guessed"),
            (.predictable, "a passphrase that repeats itself, or goes along the alphabet"),
            (.damaged, "a part of the key is missing or mistyped"),
        ] as [(KeyError, String)])
    func aRefusalSaysWhy(_ error: KeyError, _ words: String) {
        #expect(error.description.hasPrefix(words))
    }

    @Test(arguments: [
        "passwordpassword", "12345678901234567890", "qwertyuiopasdfgh", "PasswordPassword12",
        "Summer2024Summer2024", "1qaz2wsx3edc4rfv", "zyxwvutsrqponmlkji", "iloveyouiloveyou",
        "aaaabbbbccccddddeeee", "poiuytrewqlkjhgfdsa",
    ])
    func aPassphraseOfRepetitionsOrRowsIsRefused(_ text: String) {
        #expect(throws: KeyError.predictable) { try EncryptionKey(secret: Array(text.utf8)) }
    }

    @Test(arguments: [
        "correct horse battery staple", "the quick brown fox", "7f3a9c04e1b8d265",
        "Grüße aus dem Süden", "NADqe3tX60yvr+49w9EDXolZkKed1VwAW8grli5qDbo=",
        "able also army aunt",
    ])
    func aPassphraseOfOtherWordsIsTaken(_ text: String) throws {
        #expect(try EncryptionKey(secret: Array(text.utf8)).isPassphrase)
    }

    @Test func aNewPassphraseHasTheBitsThatItSays() throws {
        var found: Set<[UInt8]> = []
        for _ in 0..<200 {
            let (bytes, bits) = EncryptionKey.makePassphrase()
            let groups = bytes.split(separator: UInt8(ascii: "-"))
            #expect(groups.map(\.count) == [4, 4, 4, 4, 4] && bits == 100)
            #expect(try EncryptionKey(secret: bytes).isPassphrase)
            found.insert(bytes)
        }
        #expect(found.count == 200)
        // Five bits a character.
        #expect(Set(found.joined()).count == 33)
    }

    @Test func aWeakRandomKeyIsNone() {
        #expect(throws: KeyError.guessable) {
            try EncryptionKey(bytes: [UInt8](repeating: 1, count: 32))
        }
        #expect(throws: KeyError.damaged) { try EncryptionKey(bytes: Array(1...31)) }
    }

    @Test func aNewKeyIsALineOfTextAndRandom() throws {
        let text = EncryptionKey.makeText()
        #expect(text.count == 75 && text.last == 0x0A)
        #expect(text != EncryptionKey.makeText())
        let key = try EncryptionKey(secret: text.dropLast())
        #expect(!key.isPassphrase && key.salt == nil)
        let again = try EncryptionKey(secret: text.dropLast())
        #expect(try again.open(try key.seal([7], for: []), for: []) == [7])
    }

    private static let keys: [[UInt8]] = [
        Array(1...32), Array("correct horse battery staple".utf8),
    ]

    private func key(_ secret: [UInt8]) throws -> EncryptionKey {
        secret.count == 32 ? try EncryptionKey(bytes: secret) : try EncryptionKey(secret: secret)
    }

    @Test(arguments: keys)
    func aBoxOpensWithItsKeyAndInItsPlaceOnlyAndNoTwoAreAlike(_ secret: [UInt8]) throws {
        let key = try key(secret)
        let box = try key.seal([1, 2, 3], for: [9])
        #expect(box.count == 3 + Box.overhead)
        #expect(try key.open(box, for: [9]) == [1, 2, 3])
        #expect(throws: EncryptionError.wrongKey) { try key.open(box, for: [8]) }
        for other in [Array(2...33), Array("correct horse battery stable".utf8)] as [[UInt8]] {
            let other = try self.key(other)
            #expect(throws: EncryptionError.wrongKey) { try other.open(box, for: [9]) }
        }
        for index in box.indices {
            #expect(throws: EncryptionError.damaged, "byte \(index)") {
                try key.open(box.flipped(index), for: [9])
            }
        }
        for count in 0..<box.count {
            #expect(throws: EncryptionError.damaged, "\(count) bytes") {
                try key.open(Array(box[..<count]), for: [9])
            }
        }
        #expect(try key.seal([1, 2, 3], for: [9])[32...] != box[32...])
        // The same passphrase says nothing in the clear; another run has another salt.
        let again = try self.key(secret).seal([1, 2, 3], for: [9])
        #expect(key.isPassphrase == (box[16..<32] != again[16..<32]))
    }

    /// A box as an attacker may make it who knows no key, but its form.
    private func forged(_ box: [UInt8], _ change: (inout [UInt8]) -> Void) -> [UInt8] {
        var bytes = Array(box.dropLast(8))
        change(&bytes)
        var digest = SHA256()
        digest.update(bytes.span)
        return bytes + digest.bytes.prefix(8)
    }

    @Test func costsAreBoundedAndASaltThatIsSharedIsDerivedOnce() throws {
        let key = try key(Self.keys[1])
        let box = try key.seal([1], for: [])
        #expect(Array(box[9..<13]) == [1, 15, 8, 3])
        for (index, values) in [
            (10, [0, 13, 18, 40, 255]), (11, [0, 1, 9, 255]), (12, [0, 9, 255]),
        ] {
            for value in values {
                let costly = forged(box) { $0[index] = UInt8(value) }
                #expect(throws: EncryptionError.damaged) { try key.open(costly, for: []) }
            }
        }
        // Cheaper is another key, not the same for less.
        let cheap = forged(box) { $0[10] = 14 }
        #expect(throws: EncryptionError.wrongKey) { try key.open(cheap, for: []) }
        let later = forged(box) { $0[8] = 3 }
        #expect(throws: EncryptionError.laterVersion(3)) { try key.open(later, for: []) }

        let other = try self.key(Self.keys[1])
        other.salt = key.salt
        #expect(try other.open(box, for: []) == [1])
        #expect(try other.seal([1], for: [])[16..<32] == box[16..<32])
        // What is no salt is none.
        other.salt = [1, 2, 3]
        #expect(other.salt == key.salt)
    }
}
