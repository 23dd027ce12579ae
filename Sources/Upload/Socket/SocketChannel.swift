// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import SpeechService

/// The messages of one transfer over a WebSocket, or by Wyoming, from the moment at which its connection
/// stands: which bytes go out, and what those that come mean.
///
/// Pure: the transfer carries its bytes. After the handshake come the first messages of the service's
/// profile, then the audio in pieces as it is there, once the service has greeted if it does, then the
/// last messages.
struct SocketChannel {
    enum Step {
        /// A line of the answer's head, its last one empty.
        case head(String)
        case message([UInt8])
        /// The service has ended the session; nil: nothing more will come, and all was said.
        case closed(TransferResult.Ending?)
        /// Bytes of the answer that refuses the WebSocket.
        case refusal([UInt8])
    }

    private enum Stage {
        case handshake
        /// Waits until audio may be sent.
        case greeting
        case open
        /// The recording is complete, and the service knows it.
        case ended
        case refused
    }

    /// The request for a WebSocket; nil for Wyoming.
    let handshake: SocketHandshake?
    private let messages: SocketMessages
    private var stage = Stage.handshake
    private var framing: any MessageFraming
    /// Reads an answer that refuses the WebSocket, where it comes in chunks.
    private var chunks: ChunkReader?
    private var head: [UInt8] = []
    private var pings: [ContinuousClock.Instant] = []
    private(set) var counts = SocketCounts()
    private(set) var lastSent = ContinuousClock.now
    /// Frames that are to be sent.
    private(set) var output: [UInt8]

    /// In a second; more is an attack.
    private static let mostPings = 4
    /// In bytes of audio; a message for each, so that a slow link shows what it takes.
    static let pieceByteCount = 8_192

    init(_ messages: SocketMessages, to url: ServiceURL, _ headers: [(name: String, value: String)])
    {
        self.messages = messages
        if messages.speaksWyoming {
            (handshake, framing, output) = (nil, WyomingFraming(), [])
        } else {
            let handshake = SocketHandshake(to: url, headers)
            (self.handshake, framing) = (handshake, SocketFraming(messages))
            output = Array(handshake.head.utf8)
        }
    }

    var mayTakeAudio: Bool { stage == .open && output.isEmpty }
    var isOpen: Bool { stage == .open || stage == .greeting || stage == .ended }
    private var isEnded: Bool { stage == .ended }

    mutating func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }

    // MARK: - Sending

    /// The answer's head says that the service speaks WebSocket from here on.
    mutating func open() {
        stage = messages.awaitsGreeting ? .greeting : .open
        for message in messages.opening { send(message) }
    }

    /// The answer's head says that it does not.
    mutating func refuse(_ headers: [(name: String, value: String)]) {
        stage = .refused
        let codings = headers.filter { $0.name == "transfer-encoding" }.map(\.value)
        if codings.contains(where: { $0.lowercased().contains("chunked") }) {
            chunks = ChunkReader()
        }
    }

    mutating func send(audio: ArraySlice<UInt8>) { send(framing.frame(audio: audio)) }

    mutating func endAudio() {
        for message in messages.ending { send(message) }
        stage = .ended
    }

    /// When a message keeps the silent connection awake; nil: never.
    var nextKeepAlive: ContinuousClock.Instant? {
        messages.keepAlive != nil && stage == .open ? lastSent + messages.keepAliveInterval : nil
    }

    mutating func keepAlive(now: ContinuousClock.Instant) {
        guard let message = messages.keepAlive, let next = nextKeepAlive, next <= now else {
            return
        }
        send(message)
    }

    /// Says that nothing more comes, as far as the connection takes it.
    mutating func close(_ code: Int = 1000) {
        if isOpen { output += framing.close(code) }
    }

    private mutating func send(_ message: String) { send(framing.frame(message)) }

    private mutating func send(_ frame: [UInt8]) {
        output += frame
        counts.sent += 1
        lastSent = .now
    }

    // MARK: - Receiving

    mutating func take(_ bytes: Span<UInt8>) {
        if stage == .handshake || stage == .refused {
            head.append(bytes)
        } else {
            framing.take(bytes)
        }
    }

    /// The next step by the bytes that have come; nil when more are needed.
    mutating func next(now: ContinuousClock.Instant) -> Step? {
        switch stage {
        case .handshake:
            guard let end = head.firstIndex(of: UInt8(ascii: "\n")) else {
                return head.count <= ResponseHead.byteLimit
                    ? nil : .closed(.badResponse("a line of its head is too long"))
            }
            let line = String(decoding: head[...end], as: UTF8.self)
            head.removeSubrange(...end)
            return .head(line)
        case .refused:
            if chunks?.isOver == true { return .closed(nil) }
            guard !head.isEmpty else { return nil }
            defer { head = [] }
            return .refusal(chunks?.data(in: head) ?? head)
        case .greeting, .open, .ended:
            // Bytes that came together with the head belong to the frames.
            if !head.isEmpty {
                let early = head
                head = []
                framing.take(early.span)
            }
            do throws(SocketFault) {
                return try nextMessage(now)
            } catch {
                close(error.code)
                return .closed(
                    .badResponse("it breaks the rules of \(framing.name): \(error.reason)"))
            }
        }
    }

    private mutating func nextMessage(
        _ now: ContinuousClock.Instant
    ) throws(SocketFault) -> Step? {
        while let event = try framing.next() {
            switch event {
            case .message(let bytes, _):
                counts.received += 1
                if stage == .greeting, messages.isGreeting(bytes) { stage = .open }
                return .message(bytes)
            case .pong: break
            case .ping(let payload):
                pings = pings.filter { $0 + .seconds(1) > now } + [now]
                guard pings.count <= Self.mostPings else {
                    throw SocketFault(1008, "it pings more than \(Self.mostPings) times a second")
                }
                output += framing.pong(payload)
            case .close(let code, let reason):
                close(code ?? 1000)
                return .closed(ending(after: code, reason))
            }
        }
        return nil
    }

    /// How a session ends that the service closes; nil: its answer decides.
    private func ending(after code: Int?, _ reason: String) -> TransferResult.Ending? {
        let words = [code.map { "\($0)" }, reason.isEmpty ? nil : reason].compactMap(\.self)
        let text =
            "the service ended the session" + (words.isEmpty ? "" : ": ")
            + words.joined(separator: " ")
        if code == nil || code == 1000, isEnded, !messages.saysEnd { return nil }
        return messages.isTriedAgain(after: code) ? .connectionLost(text) : .badResponse(text)
    }

    /// How a session ends whose connection the service closes without a word.
    var endingWithoutClose: TransferResult.Ending {
        .connectionLost(
            stage == .handshake
                ? "the connection was closed without an answer"
                : "the connection was closed within the session")
    }
}
