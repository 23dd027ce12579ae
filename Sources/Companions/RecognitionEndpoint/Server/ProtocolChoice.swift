// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes
internal import NIOHTTPTypesHTTP1
internal import NIOWebSocket

/// The protocol of a connection.
enum Conversation: Sendable {
    case http(NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>)
    case socket(NIOAsyncChannel<WebSocketFrame, WebSocketFrame>, SocketResponder)
}

/// Has a connection speak HTTP, or WebSocket where its first request asks for that and may have it
/// (RFC 6455 §4.2).
///
/// The first event of a connection decides, whatever it is. Used on the connection's event loop, behind
/// the handlers of HTTP.
final class ProtocolChoice: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum Stage {
        case undecided
        /// The request is being read to its end.
        case accepted(HTTPHeaders, SocketResponder)
        /// The handlers of HTTP are leaving; what comes is of the WebSocket.
        case switching
        case decided
    }

    private let encoder: HTTPResponseEncoder
    /// Handlers of HTTP that must not see a frame, in the order in which they leave.
    private let leaving: [any RemovableChannelHandler]
    private let upgrade: SocketChoice
    private let speakHTTP:
        (any Channel) throws -> NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>
    private let idleTimeout: Duration
    private let promise: EventLoopPromise<Conversation>
    private var stage = Stage.undecided
    private var early: [NIOAny] = []

    var conversation: EventLoopFuture<Conversation> { promise.futureResult }

    /// `upgrade` gives the responder of a request for a WebSocket, `speakHTTP` adds the handlers of HTTP that
    /// follow.
    init(
        on loop: any EventLoop, encoder: HTTPResponseEncoder, idleTimeout: Duration,
        leaving: [any RemovableChannelHandler], upgrade: @escaping SocketChoice,
        speakHTTP:
            @escaping (any Channel) throws -> NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>
    ) {
        (self.encoder, self.leaving, self.idleTimeout) = (encoder, leaving, idleTimeout)
        (self.upgrade, self.speakHTTP) = (upgrade, speakHTTP)
        promise = loop.makePromise()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch stage {
        case .undecided:
            if case .head(let head) = Self.unwrapInboundIn(data), accept(head, context) { return }
            decideForHTTP(context)
            context.fireChannelRead(data)
        case .accepted(let headers, let responder):
            // Behind the head of a request without a body comes its end.
            guard case .end = Self.unwrapInboundIn(data) else {
                return context.close(promise: nil)
            }
            changeProtocol(headers, responder, context)
        case .switching: early.append(data)
        case .decided: context.fireChannelRead(data)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        decideForHTTP(context)
        context.fireErrorCaught(error)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        decideForHTTP(context)
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        decideForHTTP(context)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        // Without effect once there is a conversation.
        promise.fail(ChannelError.eof)
    }

    private func decideForHTTP(_ context: ChannelHandlerContext) {
        // Nothing else belongs between the head of a handshake and its end.
        if case .accepted = stage { return context.close(promise: nil) }
        guard case .undecided = stage else { return }
        stage = .decided
        promise.completeWith(Result { .http(try speakHTTP(context.channel)) })
    }

    // MARK: - WebSocket

    /// Whether the request is one for a WebSocket (RFC 6455 §4.2.1), and gets it.
    private func accept(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) -> Bool {
        func says(_ name: String, _ word: String) -> Bool {
            head.headers[canonicalForm: name].contains { $0.lowercased() == word }
        }
        // Only with both fields does the decoder of HTTP leave what follows alone.
        guard head.method == .GET, says("Upgrade", "websocket"), says("Connection", "upgrade"),
            !head.headers.contains(name: "Content-Length"),
            !head.headers.contains(name: "Transfer-Encoding"),
            // The handlers of HTTP refuse a head that is none.
            let request = try? HTTPRequest(head, secure: false, splitCookie: false),
            let headers = SocketUpgrade.headers(for: head, on: context.channel),
            let responder = upgrade(request, Connection(channel: context.channel))
        else { return false }
        stage = .accepted(headers, responder)
        return true
    }

    private func changeProtocol(
        _ headers: HTTPHeaders, _ responder: @escaping SocketResponder,
        _ context: ChannelHandlerContext
    ) {
        stage = .switching
        let pipeline = context.pipeline.syncOperations
        let left = leaving.map { pipeline.removeHandler($0) }
        EventLoopFuture.andAllSucceed(left, on: context.eventLoop).assumeIsolated().flatMap {
            var head = HTTPResponseHead(version: .http1_1, status: .switchingProtocols)
            head.headers = headers
            return context.writeAndFlush(Self.wrapOutboundOut(.head(head)))
        }.flatMap {
            pipeline.removeHandler(self.encoder)
        }.flatMapThrowing {
            try SocketUpgrade.speak(on: context.channel, idleTimeout: self.idleTimeout)
        }.whenComplete { result in
            self.promise.completeWith(result.map { .socket($0, responder) })
            self.stage = .decided
            for data in self.early { context.fireChannelRead(data) }
            context.fireChannelReadComplete()
            pipeline.removeHandler(self, promise: nil)
        }
    }
}

/// The parts of the WebSocket's handshake that the library has.
private enum SocketUpgrade {
    /// In bytes; OpenAI's clients send a recording in a message, where they have it.
    static let longestMessage = 4 << 20

    private static let upgrader = NIOTypedWebSocketServerUpgrader<Void>(
        maxFrameSize: longestMessage,
        shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
        upgradePipelineHandler: { channel, _ in channel.eventLoop.makeSucceededVoidFuture() })

    /// The fields of the answer; nil for a handshake that has a mistake.
    static func headers(for head: HTTPRequestHead, on channel: any Channel) -> HTTPHeaders? {
        var found: HTTPHeaders?
        // The library answers at once, without a wait.
        upgrader.buildUpgradeResponse(
            channel: channel, upgradeRequest: head, initialResponseHeaders: [:]
        ).assumeIsolated().whenSuccess { found = $0 }
        // A browser wants one of the subprotocols that it has offered.
        if head.headers[canonicalForm: "Sec-WebSocket-Protocol"]
            .contains(where: { $0 == EndpointPage.sessionName })
        {
            found?.replaceOrAdd(name: "Sec-WebSocket-Protocol", value: EndpointPage.sessionName)
        }
        return found
    }

    static func speak(
        on channel: any Channel, idleTimeout: Duration
    ) throws -> NIOAsyncChannel<WebSocketFrame, WebSocketFrame> {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(IdleStateHandler(readTimeout: TimeAmount(idleTimeout)))
        try pipeline.addHandler(WebSocketFrameEncoder())
        try pipeline.addHandler(
            ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: longestMessage)))
        try pipeline.addHandler(WebSocketProtocolErrorHandler())
        try pipeline.addHandler(ClientFrameRule())
        try pipeline.addHandler(
            NIOWebSocketFrameAggregator(
                minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 1_024,
                maxAccumulatedFrameSize: longestMessage))
        // Messages may be long: few of them wait.
        return try NIOAsyncChannel(
            wrappingChannelSynchronously: channel,
            configuration: .init(backPressureStrategy: .init(lowWatermark: 1, highWatermark: 2)))
    }
}
