// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Cryptography

/// Test cases of "The Galois/Counter Mode of Operation" (McGrew and Viega), appendix B.
@Suite struct AESGCMTests {
    struct Case: Sendable {
        var key, nonce, plain, context, sealed: String
    }

    static let cases = [
        Case(
            key: String(repeating: "00", count: 32), nonce: String(repeating: "00", count: 12),
            plain: "", context: "", sealed: "530f8afbc74536b9a963b4f1c4cb738b"),
        Case(
            key: String(repeating: "00", count: 32), nonce: String(repeating: "00", count: 12),
            plain: String(repeating: "00", count: 16), context: "",
            sealed: "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"),
        Case(
            key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
            nonce: "cafebabefacedbaddecaf888",
            plain: "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
            context: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            sealed: "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
                + "76fc6ece0f4e1768cddf8853bb2d551b"),
    ]

    @Test(.spec("NIST SP 800-38D"), arguments: cases)
    func theKnownAnswersComeOut(_ known: Case) throws {
        let (key, nonce) = (known.key.bytes, known.nonce.bytes)
        let (plain, context) = (known.plain.bytes, known.context.bytes)
        let seals = try AESGCM(key: key.span, encrypts: true)
        // Twice: a frame leaves nothing behind that changes the next.
        for _ in 0..<2 {
            var sealed: [UInt8] = []
            try seals.seal(plain.span, nonce: nonce.span, context: context, onto: &sealed)
            #expect(sealed == known.sealed.bytes)
        }
        let opens = try AESGCM(key: key.span, encrypts: false)
        for _ in 0..<2 {
            var opened = [UInt8](repeating: 0xFF, count: plain.count)
            let sealed = known.sealed.bytes
            let isIntact = opened.withUnsafeMutableBytes {
                opens.open(sealed.span, nonce: nonce.span, context: context, into: $0)
            }
            #expect(isIntact)
            #expect(opened == plain)
        }
    }

    @Test func whatWasAlteredDoesNotOpen() throws {
        let known = Self.cases[2]
        let (nonce, context) = (known.nonce.bytes, known.context.bytes)
        let cipher = try AESGCM(key: known.key.bytes.span, encrypts: false)
        func opens(_ sealed: [UInt8], _ nonce: [UInt8], _ context: [UInt8]) -> Bool {
            var output = [UInt8](repeating: 0, count: sealed.count)
            return output.withUnsafeMutableBytes {
                cipher.open(sealed.span, nonce: nonce.span, context: context, into: $0)
            }
        }
        let sealed = known.sealed.bytes
        #expect(opens(sealed, nonce, context))
        for index in sealed.indices { #expect(!opens(sealed.flipped(index), nonce, context)) }
        for index in nonce.indices { #expect(!opens(sealed, nonce.flipped(index), context)) }
        for index in context.indices { #expect(!opens(sealed, nonce, context.flipped(index))) }
        #expect(!opens(Array(sealed.dropLast()), nonce, context))
        #expect(!opens(Array(sealed.prefix(15)), nonce, context))
    }
}

extension String {
    /// The bytes that hexadecimal digits spell.
    var bytes: [UInt8] {
        let digits = utf8.map { UInt8(String(UnicodeScalar($0)), radix: 16) ?? 0 }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
