// SPDX-License-Identifier: Apache-2.0

import LinuxPlatform
import TestSupport
import Testing

@testable import Cryptography

/// The encrypted form of a body is read from anywhere, and any change of it is noticed.
@Suite struct SealedBodyTests {
    private static let counts =
        [
            0, 1, 363, 364, 365, 847, 848, 849, 3_724, 3_751, 3_752, 3_753, 4_235, 4_236, 4_237,
            20_000,
        ]

    private static func random(_ count: Int) -> [UInt8] {
        var random = SeededRandom()
        return random.bytes(count)
    }

    private static func key() throws -> EncryptionKey {
        var text = EncryptionKey.makeText()
        text.removeLast()
        return try EncryptionKey(secret: text)
    }

    private func read(
        _ form: SealedBody, of bytes: [UInt8], isWhole: Bool = true, from start: Int = 0,
        by limit: Int = 4_096
    ) throws -> [UInt8] {
        let end = SealedBody.byteCount(of: bytes.count, isWhole: isWhole)
        var found: [UInt8] = []
        while start + found.count < end {
            var buffer = [UInt8](repeating: 0xEE, count: limit)
            let count = try unsafe buffer.withUnsafeMutableBytes { buffer in
                try unsafe form.read(
                    at: start + found.count, of: bytes.count, isWhole: isWhole, into: buffer
                ) { place, frame in
                    unsafe frame.copyBytes(from: bytes[place..<place + frame.count])
                }
            }
            try #require(count > 0)
            found += buffer.prefix(count)
        }
        return found
    }

    /// What a reader makes of a form that comes in pieces.
    private func opened(
        _ form: [UInt8], _ key: EncryptionKey, by limit: Int = .max
    ) throws -> (head: SealedHead?, bytes: [UInt8], isWhole: Bool) {
        var reader = SealedBodyReader(key: key)
        var plain: [UInt8] = []
        var rest = form[...]
        while !rest.isEmpty {
            try reader.read(Array(rest.prefix(limit)).span, into: &plain)
            rest = rest.dropFirst(limit)
        }
        return (reader.head, plain, reader.isWhole)
    }

    @Test func itIsReadFromAnyByteInPiecesOfAnySize() throws {
        let form = try SealedBody(key: try Self.key(), seed: "one")
        for count in Self.counts {
            let all = Self.random(count)
            let whole = try read(form, of: all)
            #expect(whole.count == SealedBody.byteCount(of: count, isWhole: true))
            for limit in [1, 7, 511, 513] where count < 20_000 || limit > 1 {
                #expect(try read(form, of: all, by: limit) == whole)
            }
            for start in [1, 119, 120, 121, 511, 512, 4_095, 4_096] where start < whole.count {
                #expect(try read(form, of: all, from: start) == Array(whole[start...]))
            }
        }
    }

    @Test func whatIsThereBeforeTheEndStaysAsItIs() throws {
        let form = try SealedBody(key: try Self.key(), seed: "one")
        let all = Self.random(20_000)
        let whole = try read(form, of: all)
        for count in Self.counts {
            let part = try read(form, of: Array(all.prefix(count)), isWhole: false)
            #expect(whole.starts(with: part))
            // At most a frame of the bytes is held back.
            #expect(SealedBody.plainByteCount(at: part.count) > count - 512)
        }
    }

    @Test(arguments: [1, 13, 4_096, Int.max])
    func aReaderGetsTheBytesAndTheirHead(limit: Int) throws {
        let key = try Self.key()
        let form = try SealedBody(key: key, seed: "one")
        let head = SealedHead(contentType: "audio/wav", query: "language=en&q=1")
        for count in Self.counts {
            let all = Self.random(count)
            let found = try opened(try read(form, of: head.bytes + all), key, by: limit)
            #expect(found.head == head)
            #expect(found.bytes == all)
            #expect(found.isWhole)
        }
    }

    @Test func theSameBytesHaveTheSameFormAndOthersHaveAnotherSeed() throws {
        let key = try Self.key()
        let all = Self.random(2_000)
        let one = try read(try SealedBody(key: key, seed: "one"), of: all)
        #expect(try read(try SealedBody(key: key, seed: "one"), of: all) == one)
        let other = try read(try SealedBody(key: key, seed: "other"), of: all)
        #expect(zip(one, other).dropFirst(120).filter { $0 == $1 }.count < 400)
    }

    @Test func whatWasAlteredCutOffOrIsUnderAnotherKeyIsNoticed() throws {
        let key = try Self.key()
        let head = SealedHead(contentType: "audio/wav", query: "")
        let form = try read(
            try SealedBody(key: key, seed: "one"), of: head.bytes + Self.random(1_500))
        for index in form.indices {
            var altered = form
            altered[index] ^= 1
            #expect(throws: EncryptionError.self, "byte \(index)") {
                let found = try opened(altered, key)
                // The length of a frame that grew: its end is awaited.
                if !found.isWhole { throw EncryptionError.damaged }
            }
        }
        for end in form.indices {
            #expect(try !opened(Array(form[..<end]), key).isWhole)
        }
        #expect(throws: EncryptionError.damaged) { try opened(form + [0], key) }
        #expect(throws: EncryptionError.wrongKey) { try opened(form, try Self.key()) }
        let passphrase = try EncryptionKey(secret: Array("correct horse battery".utf8))
        #expect(throws: EncryptionError.wrongKey) { try opened(form, passphrase) }
        #expect(throws: EncryptionError.wrongKey) { try SealedBody(key: passphrase, seed: "one") }
    }

    @Test func framesAreNotExchanged() throws {
        let key = try Self.key()
        let form = try read(
            try SealedBody(key: key, seed: "one"),
            of: SealedHead(contentType: "a", query: "").bytes + Self.random(3_000))
        var altered = form
        altered.replaceSubrange(512..<1_024, with: form[1_024..<1_536])
        altered.replaceSubrange(1_024..<1_536, with: form[512..<1_024])
        #expect(throws: EncryptionError.damaged) { try opened(altered, key) }
    }

    /// All that is left is intact, and in its order.
    @Test func noFrameIsLeftOut() throws {
        let key = try Self.key()
        var form = try read(
            try SealedBody(key: key, seed: "one"),
            of: SealedHead(contentType: "a", query: "").bytes + Self.random(3_000))
        form.removeSubrange(512..<1_024)
        #expect(throws: EncryptionError.damaged) { try opened(form, key) }
    }

    @Test func aTakesFileIsNoBody() throws {
        let key = try Self.key()
        let file = try EncryptedFileHeader.bytes(
            wrapping: [UInt8](repeating: 1, count: 32), under: key, take: "t")
        #expect(!EncryptedFileHeader.isOfBody(file))
        #expect(throws: EncryptionError.damaged) { try opened(file, key) }
    }
}
