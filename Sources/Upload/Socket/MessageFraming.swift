// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import SpeechService

/// How messages are told apart on a connection, in both directions.
///
/// Pure; memory is bounded by a message and what was taken in at once.
protocol MessageFraming {
    /// The protocol, for messages to a person.
    var name: String { get }

    mutating func take(_ bytes: Span<UInt8>)
    /// The next message or control frame; nil when more bytes are needed.
    mutating func next() throws(SocketFault) -> SocketEvent?

    func frame(_ message: String) -> [UInt8]
    func frame(audio: ArraySlice<UInt8>) -> [UInt8]
    func pong(_ payload: [UInt8]) -> [UInt8]
    func close(_ code: Int) -> [UInt8]
}

/// Frames of a WebSocket, with audio in binary ones or within JSON.
struct SocketFraming: MessageFraming {
    private var reader = SocketReader()
    private let aroundAudio: (before: [UInt8], behind: [UInt8])?

    init(_ messages: SocketMessages) { aroundAudio = messages.aroundAudio }

    var name: String { "a WebSocket" }

    mutating func take(_ bytes: Span<UInt8>) { reader.take(bytes) }
    mutating func next() throws(SocketFault) -> SocketEvent? { try reader.next() }

    func frame(_ message: String) -> [UInt8] {
        SocketWriter.frame(message.isEmpty ? .binary : .text, Array(message.utf8))
    }

    func frame(audio: ArraySlice<UInt8>) -> [UInt8] {
        guard let around = aroundAudio else { return SocketWriter.frame(.binary, audio) }
        return SocketWriter.frame(
            .text, around.before + Base64.encoded(Array(audio)) + around.behind)
    }

    func pong(_ payload: [UInt8]) -> [UInt8] { SocketWriter.frame(.pong, payload) }
    func close(_ code: Int) -> [UInt8] { SocketWriter.close(code) }
}

/// Events of Wyoming: a line of JSON, and behind it the data and the payload of which it says the length
/// (github.com/OHF-Voice/wyoming).
///
/// A message is the line, with the data in its member `data`; payloads of the service are passed over.
struct WyomingFraming: MessageFraming {
    private static let longestLine = 64 << 10
    /// In bytes, of 16 kHz and one channel.
    private static let audio =
        #"{"type":"audio-chunk","data":{"rate":16000,"width":2,"channels":1},"#

    private var bytes: [UInt8] = []
    /// The bytes of a payload that are still to be passed over.
    private var surplus = 0

    var name: String { "Wyoming" }

    mutating func take(_ more: Span<UInt8>) {
        let skipped = min(surplus, more.count)
        surplus -= skipped
        bytes.append(more.extracting(droppingFirst: skipped))
    }

    mutating func next() throws(SocketFault) -> SocketEvent? {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
            guard bytes.count <= Self.longestLine else {
                throw SocketFault(1009, "a line is longer than \(Self.longestLine) bytes")
            }
            return nil
        }
        guard let head = JSONHead(Array(bytes[..<end])), head.text("type") != nil else {
            throw SocketFault(1002, "a line is no event")
        }
        let (data, payload) = (head.count("data_length") ?? 0, head.count("payload_length") ?? 0)
        guard data >= 0, payload >= 0, data <= SocketReader.longestMessage else {
            throw SocketFault(1009, "an event is longer than \(SocketReader.longestMessage) bytes")
        }
        let begin = end + 1
        guard bytes.count >= begin + data else { return nil }
        var message = Array(bytes[..<end])
        if data > 0, let brace = message.lastIndex(of: UInt8(ascii: "}")) {
            let member = Array(",\"data\":".utf8) + bytes[begin..<(begin + data)]
            message.insert(contentsOf: member, at: brace)
        }
        let rest = bytes.count - begin - data
        bytes.removeSubrange(..<(begin + data + min(rest, payload)))
        surplus = payload - min(rest, payload)
        return .message(message, isText: true)
    }

    func frame(_ message: String) -> [UInt8] { Array("\(message)\n".utf8) }

    func frame(audio: ArraySlice<UInt8>) -> [UInt8] {
        Array("\(Self.audio)\"payload_length\":\(audio.count)}\n".utf8) + audio
    }

    // Wyoming has neither pings nor a word for the end.
    func pong(_ payload: [UInt8]) -> [UInt8] { [] }
    func close(_ code: Int) -> [UInt8] { [] }
}
