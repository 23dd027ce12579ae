// SPDX-License-Identifier: Apache-2.0

import Cryptography
import FoundationEssentials
import Glibc
import LinuxPlatform
import TestSupport
import Testing

@testable import Upload

@Suite struct RequestBodyTests {
    private static let prologue = Array("before>".utf8)
    private static let epilogue = Array("<behind".utf8)

    private func body(_ source: GrowingBytes, _ transform: RequestBody.Transform) -> RequestBody {
        RequestBody(
            source, from: 44, prologue: Self.prologue, transform: transform, epilogue: Self.epilogue
        )
    }

    /// The same body, made in another way.
    private func expected(_ bytes: [UInt8], _ transform: RequestBody.Transform) -> [UInt8] {
        let audio = Array(bytes.dropFirst(44))
        let middle =
            transform == .base64 ? Array(Data(audio).base64EncodedString().utf8) : audio
        return Self.prologue + middle + Self.epilogue
    }

    @Test(arguments: [RequestBody.Transform.none, .base64])
    func itIsTheSameInPiecesOfAnySize(_ transform: RequestBody.Transform) throws {
        for count in Array(0...50) + [1_000, 1_001, 1_002] {
            let all = bytes(count)
            for limit in [1, 2, 3, 4, 5, 7, 64, 4_096] {
                for sourceLimit in [1, 2, 5, Int.max] {
                    let source = GrowingBytes(all, isSealed: true, pieceLimit: sourceLimit)
                    let body = body(source, transform)
                    let wanted = expected(all, transform)
                    #expect(body.byteCount == wanted.count)
                    let (found, last) = try body.bytes(by: limit)
                    #expect(found == wanted, "\(count) bytes by \(limit), \(sourceLimit)")
                    #expect(last == .end)
                }
            }
        }
    }

    @Test func withoutAKeyItsEncryptedFormIsNotRead() {
        let plain = body(GrowingBytes(bytes(100), isSealed: true), .none)
        let sealed = plain.sealed(SealedHead(contentType: "audio/wav", query: ""), by: nil)
        #expect(throws: SystemError(call: "encrypt", code: ENOKEY)) { try sealed.bytes() }
    }

    @Test(arguments: [RequestBody.Transform.none, .base64])
    func itsEncryptedFormIsThatOfTheWholeBodyHoweverItGrows(
        _ transform: RequestBody.Transform
    ) throws {
        var text = EncryptionKey.makeText()
        text.removeLast()
        let key = try EncryptionKey(secret: text)
        let head = SealedHead(contentType: "multipart/form-data; boundary=x", query: "a=b")
        let form = try SealedBody(key: key, seed: "one")
        let all = bytes(44 + 9_000)
        let whole = body(GrowingBytes(all, isSealed: true), transform).sealed(head, by: form)
        let wanted = try whole.bytes().bytes
        #expect(whole.byteCount == wanted.count)
        #expect(whole.sourceByteCount(at: wanted.count) == 9_000)
        #expect(try whole.bytes(from: 700, by: 33).bytes == Array(wanted[700...]))
        var reader = SealedBodyReader(key: key)
        var plain: [UInt8] = []
        try reader.read(wanted.span, into: &plain)
        let (found, isWhole) = (reader.head, reader.isWhole)
        #expect(found == head && isWhole)
        #expect(plain == expected(all, transform))
        // While it grows, what is there is the beginning of that.
        let source = GrowingBytes()
        let growing = body(source, transform).sealed(head, by: form)
        var (piecewise, counted) = ([UInt8](), 0)
        for start in stride(from: 0, to: all.count, by: 700) {
            source.append(all[start...].prefix(700))
            let (piece, last) = try growing.bytes(from: piecewise.count, by: 100)
            piecewise += piece
            #expect(last == .nothingYet)
            #expect(wanted.starts(with: piecewise))
            let count = growing.sourceByteCount(at: piecewise.count)
            #expect(count >= counted && count <= max(0, source.byteCount - 44))
            counted = count
        }
        source.seal()
        piecewise += try growing.bytes(from: piecewise.count, by: 100).bytes
        #expect(piecewise == wanted)
    }

    @Test(arguments: [RequestBody.Transform.none, .base64])
    func itBeginsAnywhereOnceMore(_ transform: RequestBody.Transform) throws {
        let all = bytes(120)
        let body = body(GrowingBytes(all, isSealed: true), transform)
        let wanted = expected(all, transform)
        for start in 0...wanted.count {
            #expect(try body.bytes(from: start).bytes == Array(wanted[start...]))
        }
    }

    @Test func base64WaitsForWholeGroupsUntilTheSeal() throws {
        let all = bytes(44 + 20)
        for end in 0...20 {
            let source = GrowingBytes()
            let body = body(source, .base64)
            var found: [UInt8] = []
            for count in 0...(44 + end) {
                if count > 0 { source.append([all[count - 1]]) }
                let before = found.count
                #expect(body.isReady(at: before) == (before == 0 || count > 44 && count % 3 == 2))
                let (new, last) = try body.bytes(from: before)
                found += new
                #expect(last == .nothingYet)
                #expect(found.count == Self.prologue.count + max(0, count - 44) / 3 * 4)
                #expect(!body.isReady(at: found.count))
                #expect(body.byteCount == nil)
            }
            source.seal()
            #expect(body.isReady(at: found.count))
            found += try body.bytes(from: found.count).bytes
            #expect(found == expected(Array(all[..<(44 + end)]), .base64))
        }
    }

    @Test(arguments: [RequestBody.Transform.none, .base64])
    func theRecordingIsCountedApartFromTheWire(_ transform: RequestBody.Transform) throws {
        for count in 44..<60 {
            let all = bytes(count)
            let body = body(GrowingBytes(all, isSealed: true), transform)
            let wire = expected(all, transform)
            for offset in 0...wire.count {
                let characters = wire[..<offset].dropFirst(Self.prologue.count)
                    .prefix(wire.count - Self.prologue.count - Self.epilogue.count)
                let known =
                    transform == .base64
                    ? characters.prefix { $0 != UInt8(ascii: "=") }.count * 6 / 8
                    : characters.count
                #expect(body.sourceByteCount(at: offset) == known)
            }
            #expect(body.sourceByteCount(at: wire.count) == count - 44)
        }
    }

    @Test func theEndIsToldByTheEpilogueOrTheLength() {
        let source = GrowingBytes(bytes(50))
        var form = body(source, .none)
        let audioEnd = Self.prologue.count + 6
        #expect(!form.tellsEnd(at: audioEnd))
        source.seal()
        #expect(!form.tellsEnd(at: audioEnd))
        #expect(form.tellsEnd(at: audioEnd + 1))
        #expect(!form.isWhole(at: audioEnd + 1))
        #expect(form.isWhole(at: audioEnd + Self.epilogue.count))
        #expect(form.contentLength == nil)
        form.saysLength = true
        #expect(form.contentLength == audioEnd + Self.epilogue.count)
        var raw = RequestBody(source)
        // Only the last chunk tells it.
        #expect(!raw.tellsEnd(at: 50))
        raw.saysLength = true
        #expect(raw.tellsEnd(at: 50))
        #expect(!raw.tellsEnd(at: 49))
    }

    @Test(.spec("RFC 9530 §2")) func theDigestIsOfWhatIsSent() throws {
        for transform in [RequestBody.Transform.none, .base64] {
            let all = bytes(200_000)
            let body = body(GrowingBytes(all, isSealed: true), transform)
            let sum = try ForeignTool("openssl").run(
                ["dgst", "-sha256", "-binary"], input: expected(all, transform)
            ).output
            #expect(
                try body.contentDigest() == "sha-256=:\(Data(sum).base64EncodedString()):")
        }
    }
}
