// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import Upload

/// The frames of a WebSocket (RFC 6455 §5), and what no server may do.
@Suite struct SocketReaderTests {
    static func frame(
        _ opcode: UInt8, _ payload: [UInt8], isLast: Bool = true
    ) -> [UInt8] {
        var bytes = [(isLast ? 0x80 : 0) | opcode]
        if payload.count < 126 {
            bytes.append(UInt8(payload.count))
        } else if payload.count < 65_536 {
            bytes += [126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        } else {
            bytes +=
                [127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
        }
        return bytes + payload
    }

    private static func read(_ bytes: [UInt8], in pieces: Int? = nil) throws -> [SocketEvent] {
        var reader = SocketReader()
        var events: [SocketEvent] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(pieces ?? rest.count))
            rest = rest.dropFirst(piece.count)
            reader.take(piece.span)
            while let event = try reader.next() { events.append(event) }
        }
        return events
    }

    @Test(arguments: [0, 1, 125, 126, 127, 65_535, 65_536, 1 << 20])
    func aMessageHasAnyLength(_ count: Int) throws {
        let payload = (0..<count).map { UInt8($0 % 251) }
        let wanted = [SocketEvent.message(payload, isText: false)]
        #expect(try Self.read(Self.frame(2, payload)) == wanted)
        guard count <= 127 else { return }
        for pieces in [1, 2, 7] {
            #expect(try Self.read(Self.frame(2, payload), in: pieces) == wanted)
        }
    }

    @Test func theFramesOfAMessageAreJoinedAroundPings() throws {
        let bytes =
            Self.frame(1, Array("Hel".utf8), isLast: false) + Self.frame(9, [1])
            + Self.frame(0, Array("lo ä".utf8).dropLast() + [], isLast: false)
            + Self.frame(10, []) + Self.frame(0, Array("ä".utf8.suffix(1)))
            + Self.frame(8, [3, 232] + Array("bye".utf8))
        let wanted: [SocketEvent] = [
            .ping([1]), .pong, .message(Array("Hello ä".utf8), isText: true),
            .close(code: 1000, reason: "bye"),
        ]
        for pieces in [1, 3, bytes.count] {
            let events = try Self.read(bytes, in: pieces)
            #expect(events == wanted)
        }
    }

    @Test(
        arguments: [
            ([0xC1, 0], 1002), ([0x83, 0], 1002), ([0x8B, 0], 1002),
            ([0x81, 0x80, 1, 2, 3, 4], 1002),
            // A control frame is divided, or too long.
            ([0x09, 0], 1002), ([0x89, 126, 0, 126], 1002),
            // A message goes on that never began; another begins before the last has ended.
            ([0x80, 0], 1002), ([0x01, 0, 0x81, 0], 1002),
            // A length has more bytes than it needs, or is beyond all bounds.
            ([0x82, 126, 0, 125], 1002), ([0x82, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 1002),
            ([0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], 1002),
            ([0x82, 127, 0, 0, 0, 0, 0, 0x10, 0, 1], 1009),
            // A close frame has half a code, or a code that no server may send.
            ([0x88, 1, 3], 1002), ([0x88, 2, 0, 0], 1002), ([0x88, 2, 3, 231], 1002),
            ([0x88, 2, 3, 237], 1002), ([0x88, 2, 3, 247], 1002), ([0x88, 2, 0x13, 0x88], 1002),
            ([0x88, 3, 3, 232, 0xFF], 1007),
            // A text is not UTF-8: it is cut, overlong, or has a surrogate.
            ([0x81, 1, 0xC3], 1007), ([0x81, 2, 0xC0, 0xAF], 1007),
            ([0x81, 3, 0xED, 0xA0, 0x80], 1007),
        ] as [([UInt8], Int)])
    func aBreachIsNamedByItsCode(_ bytes: [UInt8], _ code: Int) throws {
        let fault = #expect(throws: SocketFault.self) { try Self.read(bytes) }
        #expect(fault?.code == code)
    }

    @Test func aMessageHasSixteenPartsAtMost() throws {
        let parts = (0..<14).flatMap { _ in Self.frame(0, [65], isLast: false) }
        let begin = Self.frame(1, [65], isLast: false)
        #expect(try Self.read(begin + parts + Self.frame(0, [66])).count == 1)
        let fault = #expect(throws: SocketFault.self) {
            try Self.read(begin + parts + Self.frame(0, [65], isLast: false))
        }
        #expect(fault?.code == 1009)
    }

    @Test(.spec("RFC 6455 §1.3, §5.7"))
    func aMaskedFrameAndTheAnswerToAKeyAreThoseOfTheStandard() {
        #expect(
            SocketWriter.frame(.text, Array("Hello".utf8), mask: 0x37FA_213D)
                == [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        #expect(
            SocketHandshake.accept(of: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
        )
    }

    @Test func onlyTheRightAnswerOpensASocket() throws {
        let key = "dGhlIHNhbXBsZSBub25jZQ=="
        let handshake = SocketHandshake(
            to: try ServiceURL("wss://a.example/listen?x=1"), [("Authorization", "Token t")],
            key: key)
        #expect(
            handshake.head
                == "GET /listen?x=1 HTTP/1.1\r\nHost: a.example\r\nUpgrade: websocket\r\n"
                + "Connection: Upgrade\r\nSec-WebSocket-Key: \(key)\r\n"
                + "Sec-WebSocket-Version: 13\r\nAuthorization: Token t\r\n\r\n")
        let good = [
            (name: "upgrade", value: "WebSocket"),
            (name: "connection", value: "keep-alive, Upgrade"),
            (name: "sec-websocket-accept", value: "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
        ]
        #expect(handshake.flaw(in: good) == nil)
        for index in good.indices {
            var bad = good
            bad[index].value = "other"
            #expect(handshake.flaw(in: bad) != nil)
        }
        #expect(
            handshake.flaw(in: good + [(name: "sec-websocket-extensions", value: "deflate")]) != nil
        )
    }

    /// Whatever comes, the reader ends with events or a fault, and keeps no more than it was given.
    @Test func anyBytesAreRead() {
        var random = SeededRandom()
        for _ in 0..<2_000 {
            let bytes = random.bytes(.random(in: 0..<64, using: &random))
            let whole = Result { try Self.read(bytes) }
            let pieces = Result { try Self.read(bytes, in: 3) }
            #expect("\(whole)" == "\(pieces)", "seed \(random.seed): \(bytes)")
        }
    }
}
