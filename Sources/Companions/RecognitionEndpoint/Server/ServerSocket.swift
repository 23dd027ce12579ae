// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import NIOWebSocket
internal import ServiceLifecycle
internal import Synchronization

/// Speaks WebSocket with one client, and says how the session ends.
typealias SocketResponder =
    @concurrent @Sendable (inout ClientMessages, MessageSender) async throws -> SocketClose

/// Answers a request by speaking WebSocket with its client; nil when HTTP answers it.
typealias SocketChoice = @Sendable (HTTPRequest, Connection) -> SocketResponder?

/// How a session ends (RFC 6455 §7.4.1).
struct SocketClose: Error, Sendable, Equatable {
    var code: UInt16 = 1000
    var reason = ""

    /// A reason has room in a control frame (RFC 6455 §5.5).
    static let longestReason = 123
}

enum ClientMessage: Sendable, Equatable {
    case text(String)
    case binary([UInt8])
}

/// Sends messages to a client; from any task.
final class MessageSender: Sendable {
    fileprivate let outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>
    private let isClosed = Atomic(false)

    fileprivate init(_ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>) {
        self.outbound = outbound
    }

    @concurrent func send(_ text: String) async throws {
        try await outbound.write(
            WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: text)))
    }

    /// Ends the session, once; what the client still sends is read until it has ended its side.
    @concurrent func close(_ close: SocketClose) async throws {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        var data = ByteBuffer()
        data.write(webSocketErrorCode: WebSocketErrorCode(codeNumber: Int(close.code)))
        var reason = close.reason
        while reason.utf8.count > SocketClose.longestReason { reason.removeLast() }
        data.writeString(reason)
        try await outbound.write(WebSocketFrame(fin: true, opcode: .connectionClose, data: data))
    }
}

/// The messages of a client, in order; read by one task, which answers its pings.
struct ClientMessages {
    private var frames: NIOAsyncChannelInboundStream<WebSocketFrame>.AsyncIterator
    /// The client has ended the session.
    fileprivate private(set) var areClosed = false
    private let writer: MessageSender

    fileprivate init(
        _ inbound: NIOAsyncChannelInboundStream<WebSocketFrame>, _ writer: MessageSender
    ) {
        (frames, self.writer) = (inbound.makeAsyncIterator(), writer)
    }

    /// The next message; nil when the client has closed the session, or has gone.
    ///
    /// - Throws: `SocketClose` for a breach of the protocol; an error of the connection.
    @concurrent mutating func next() async throws -> ClientMessage? {
        while let frame = try await frames.next() {
            switch frame.opcode {
            case .text:
                let bytes = frame.unmaskedData.readableBytesView
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw SocketClose(code: 1007, reason: "a text is not UTF-8")
                }
                return .text(text)
            case .binary: return .binary(Array(frame.unmaskedData.readableBytesView))
            case .ping:
                try await writer.outbound.write(
                    WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData))
            case .connectionClose:
                areClosed = true
                return nil
            default: break
            }
        }
        return nil
    }

    /// Reads on until the client has ended its side.
    @concurrent fileprivate mutating func drain() async throws {
        while let frame = try await frames.next(), frame.opcode != .connectionClose {}
    }
}

/// Refuses frames that no client may send (RFC 6455 §5.1, §5.2), which the library takes; pings a client that
/// is silent for long, and closes the connection of one that does not answer.
final class ClientFrameRule: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private var hasPinged = false

    private static let kinds: [WebSocketOpcode] = [
        .continuation, .text, .binary, .connectionClose, .ping, .pong,
    ]

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event as? IdleStateHandler.IdleStateEvent == .read else {
            return context.fireUserInboundEventTriggered(event)
        }
        guard !hasPinged else { return context.close(promise: nil) }
        hasPinged = true
        let ping = WebSocketFrame(fin: true, opcode: .ping, data: ByteBuffer())
        context.writeAndFlush(Self.wrapOutboundOut(ping), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasPinged = false
        let frame = Self.unwrapInboundIn(data)
        guard frame.maskKey != nil, !frame.rsv1, !frame.rsv2, !frame.rsv3,
            Self.kinds.contains(frame.opcode)
        else {
            let reason =
                "the client sent a frame without a mask, of no known kind, or with reserved bits"
            return context.fireErrorCaught(SocketClose(code: 1002, reason: reason))
        }
        context.fireChannelRead(data)
    }
}

extension EndpointChannel {
    /// Serves a client until the session's end; where the service shuts down, it hears no more of the
    /// client and comes to its end.
    @concurrent func handle(
        _ socket: NIOAsyncChannel<WebSocketFrame, WebSocketFrame>, _ responder: SocketResponder
    ) async {
        let connection = Connection(channel: socket.channel)
        // An error means that the client has gone, and cannot be told anything.
        try? await withTaskCancellationOrGracefulShutdownHandler {
            try await socket.executeThenClose { inbound, outbound in
                let writer = MessageSender(outbound)
                var messages = ClientMessages(inbound, writer)
                try await writer.close(end(of: responder, &messages, writer))
                // The server is the first to close the connection (RFC 6455 §7.1.1).
                guard !messages.areClosed else { return }
                let alarm = connection.endLater()
                defer { alarm.cancel() }
                try await messages.drain()
            }
        } onCancelOrGracefulShutdown: {
            connection.hearNoMore()
        }
    }

    @concurrent private func end(
        of responder: SocketResponder, _ messages: inout ClientMessages, _ writer: MessageSender
    ) async throws -> SocketClose {
        do {
            return try await responder(&messages, writer)
        } catch let error as SocketClose {
            return error
        } catch let error as NIOWebSocketFrameAggregator.Error {
            switch error {
            case .tooManyFragments, .accumulatedFrameSizeIsTooLarge,
                .nonFinalFragmentSizeIsTooSmall:
                return SocketClose(code: 1009, reason: "a message is too long")
            case .receivedNewFrameWithoutFinishingPrevious,
                .didReceiveFragmentBeforeReceivingTextOrBinaryFrame:
                return SocketClose(code: 1002, reason: "the frames are not those of a message")
            }
        }
    }
}
