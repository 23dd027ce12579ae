// SPDX-License-Identifier: Apache-2.0

internal import SpeechService

/// A breach of the protocol, with the close code that says it to the other side (RFC 6455 §7.4.1).
struct SocketFault: Error, Equatable {
    let code: Int
    let reason: String

    init(_ code: Int, _ reason: String) { (self.code, self.reason) = (code, reason) }

    fileprivate static func breach(_ reason: String) -> SocketFault { SocketFault(1002, reason) }
}

/// The kinds of frames (RFC 6455 §5.2).
enum SocketOpcode: UInt8 {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    var isControl: Bool { rawValue >= 0x8 }
}

enum SocketEvent: Equatable {
    case message([UInt8], isText: Bool)
    case ping([UInt8])
    case pong
    /// The code is nil when the frame has none.
    case close(code: Int?, reason: String)
}

/// Reads the frames of a server, and joins those of a message (RFC 6455 §5).
///
/// Pure; memory is bounded by a message and what was taken in at once.
struct SocketReader {
    /// In bytes.
    static let longestMessage = 1 << 20
    static let mostFragments = 16
    /// RFC 6455 §5.5.
    static let longestControl = 125

    private var bytes: [UInt8] = []
    /// The bytes before it were read.
    private var start = 0
    private var message: [UInt8] = []
    private var isText = false
    /// The number of frames so far of the message that is being joined.
    private var fragmentCount = 0

    mutating func take(_ more: Span<UInt8>) {
        bytes.removeSubrange(..<start)
        start = 0
        bytes.append(more)
    }

    /// The next message or control frame; nil when more bytes are needed.
    mutating func next() throws(SocketFault) -> SocketEvent? {
        while let (opcode, isLast, payload) = try frame() {
            switch opcode {
            case .ping: return .ping(payload)
            case .pong: return .pong
            case .close: return try Self.close(payload)
            case .text, .binary:
                guard fragmentCount == 0 else {
                    throw .breach("a message begins within another one")
                }
                isText = opcode == .text
            case .continuation:
                guard fragmentCount > 0 else { throw .breach("a message goes on that never began") }
            }
            fragmentCount += 1
            message += payload
            guard message.count <= Self.longestMessage else {
                throw SocketFault(1009, "a message is longer than \(Self.longestMessage) bytes")
            }
            guard isLast else {
                guard fragmentCount < Self.mostFragments else {
                    throw SocketFault(1009, "a message has more than \(Self.mostFragments) parts")
                }
                continue
            }
            let whole = message
            (message, fragmentCount) = ([], 0)
            guard !isText || Self.isUTF8(whole) else {
                throw SocketFault(1007, "a text is not UTF-8")
            }
            return .message(whole, isText: isText)
        }
        return nil
    }

    private mutating func frame() throws(SocketFault) -> (SocketOpcode, Bool, [UInt8])? {
        let rest = bytes[start...]
        guard rest.count >= 2 else { return nil }
        let (first, second) = (rest[start], rest[start + 1])
        guard first & 0x70 == 0 else { throw .breach("a frame has reserved bits") }
        guard let opcode = SocketOpcode(rawValue: first & 0x0F) else {
            throw .breach("a frame is of kind \(first & 0x0F)")
        }
        // RFC 6455 §5.1.
        guard second & 0x80 == 0 else { throw .breach("a server's frame is masked") }
        let isLast = first & 0x80 != 0
        var (length, head) = (UInt64(second), 2)
        if second >= 126 {
            let count = second == 126 ? 2 : 8
            guard rest.count >= 2 + count else { return nil }
            length = rest[(start + 2)..<(start + 2 + count)].reduce(0) { $0 << 8 | UInt64($1) }
            head += count
            guard length > (count == 2 ? 125 : 65_535), length >> 63 == 0 else {
                throw .breach("the length of a frame is not written as it should be")
            }
        }
        if opcode.isControl {
            guard isLast, length <= Self.longestControl else {
                throw .breach("a control frame is divided or too long")
            }
        } else if length > Self.longestMessage {
            throw SocketFault(1009, "a message is longer than \(Self.longestMessage) bytes")
        }
        guard rest.count >= head + Int(length) else { return nil }
        let end = start + head + Int(length)
        let payload = Array(bytes[(start + head)..<end])
        start = end
        return (opcode, isLast, payload)
    }

    /// RFC 6455 §5.5.1.
    private static func close(_ payload: [UInt8]) throws(SocketFault) -> SocketEvent {
        guard !payload.isEmpty else { return .close(code: nil, reason: "") }
        guard payload.count >= 2 else { throw .breach("a close frame has half a code") }
        let code = Int(payload[0]) << 8 | Int(payload[1])
        let isKnown = (1000...1014).contains(code) && ![1004, 1005, 1006].contains(code)
        guard isKnown || (3000...4999).contains(code) else {
            throw .breach("a close frame has the code \(code)")
        }
        let reason = Array(payload.dropFirst(2))
        guard isUTF8(reason) else { throw SocketFault(1007, "a close frame's reason is not UTF-8") }
        return .close(code: code, reason: String(decoding: reason, as: UTF8.self))
    }

    private static func isUTF8(_ bytes: [UInt8]) -> Bool {
        String(validating: bytes, as: UTF8.self) != nil
    }
}

/// Writes frames of a client, each with a mask from the kernel (RFC 6455 §5.3).
enum SocketWriter {
    static func frame(
        _ opcode: SocketOpcode, _ payload: some Collection<UInt8>,
        mask: UInt32 = .random(in: .min ... .max)
    ) -> [UInt8] {
        var bytes = [0x80 | opcode.rawValue]
        let count = payload.count
        switch count {
        case ..<126: bytes.append(0x80 | UInt8(count))
        case ..<65_536: bytes += [0xFE, UInt8(count >> 8), UInt8(count & 0xFF)]
        default:
            bytes.append(0xFF)
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * $0)) }
        }
        let key = (0..<4).map { UInt8(truncatingIfNeeded: mask >> (24 - 8 * $0)) }
        bytes += key
        for (index, byte) in payload.enumerated() { bytes.append(byte ^ key[index & 3]) }
        return bytes
    }

    static func close(_ code: Int) -> [UInt8] {
        frame(.close, [UInt8(code >> 8), UInt8(code & 0xFF)])
    }
}
