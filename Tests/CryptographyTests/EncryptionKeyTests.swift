// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Cryptography

@Suite struct EncryptionKeyTests {
    @Test(.spec("RFC 5869 A.1")) func aDerivedKeyIsTheOneOfTheStandard() {
        let derived = HKDF.derive(
            from: [UInt8](repeating: 0x0B, count: 22), salt: Array(0...12),
            purpose: Array(0xF0...0xF9), byteCount: 42)
        #expect(
            derived
                == ("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
                + "34007208d5b887185865").bytes)
    }

    @Test(.spec("RFC 5869 A.3")) func aKeyIsDerivedWithoutSaltAndPurpose() {
        let derived = HKDF.derive(
            from: [UInt8](repeating: 0x0B, count: 22), salt: [], purpose: [], byteCount: 42)
        #expect(
            derived
                == ("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
                + "9d201395faa4b61a96c8").bytes)
    }

    @Test func aSecretThatCouldBeGuessedIsNone() {
        #expect(EncryptionKey(secret: [UInt8](repeating: 1, count: 15)) == nil)
        #expect(EncryptionKey(secret: [UInt8](repeating: 1, count: 16)) != nil)
    }

    @Test func aBoxOpensWithItsKeyAndInItsPlaceOnly() throws {
        let key = try #require(EncryptionKey(secret: Array(1...32)))
        let other = try #require(EncryptionKey(secret: Array(2...33)))
        let box = try key.seal([1, 2, 3], for: [9])
        #expect(box.count == 3 + EncryptionKey.boxOverhead)
        #expect(try key.open(box, for: [9]) == [1, 2, 3])
        #expect(try key.open(box, for: [8]) == nil)
        #expect(try other.open(box, for: [9]) == nil)
        for index in box.indices { #expect(try key.open(box.flipped(index), for: [9]) == nil) }
        for count in 0..<box.count {
            #expect(try key.open(Array(box[..<count]), for: [9]) == nil)
        }
    }

    @Test func noTwoBoxesAreAlike() throws {
        let key = try #require(EncryptionKey(secret: Array(1...32)))
        #expect(try key.seal([1, 2, 3], for: []) != key.seal([1, 2, 3], for: []))
    }

    @Test func keysAreToldApartByTheirIdentifiers() throws {
        let key = try #require(EncryptionKey(secret: Array(1...32)))
        let same = try #require(EncryptionKey(secret: Array(1...32)))
        let other = try #require(EncryptionKey(secret: Array(2...33)))
        #expect(key.identifier == same.identifier)
        #expect(key.identifier != other.identifier)
        // What a person has encrypted stays readable: the identifier is part of the format.
        #expect(key.identifier == "ce66e2fe56a11d85".bytes)
    }
}
