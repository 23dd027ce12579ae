// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1

/// The demands of HTTP/1 on a server that the library does not meet; one for each connection.
///
/// A request of HTTP/1.0 becomes the one of HTTP/1.1 that means the same, and its answer is not
/// sent in chunks: the connection's end is its end (RFC 9112 §6.1, §9.3). The library answers
/// bytes that are not HTTP with an empty 400, to which the reason is added.
///
/// A client may end its sending side and still listen, or be gone: it is sent bytes that mean nothing,
/// once in a second, which a system without such a client answers with a reset.
///
/// Used on the connection's event loop, between the bytes and the library's own types, which do
/// not know the version any more.
final class HTTPConventions: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// An event of the sending side: `gone` is wanted for the request that is being answered.
    struct Watch: Sendable {
        let gone: @Sendable () -> Void
    }

    /// How long a request's head may take, and the pause before each look for a client that has ended
    /// its side.
    struct Patience: Sendable {
        var (head, look) = (Duration.seconds(10), Duration.seconds(1))
    }

    private struct Unanswered {
        let isOld: Bool
        let isLast: Bool
    }

    /// The requests without a whole answer, in order.
    private var unanswered = CircularBuffer<Unanswered>()
    private var complaint: String?
    private let patience: Patience
    private let anteroom: Anteroom
    /// Closes the connection when it is late with a head.
    private var alarm: Scheduled<Void>?
    /// The next part is that of a body; something of a request has come with what is being read.
    private var (isReading, hasRead) = (false, false)
    private var hasEnded = false
    private var watch: Watch?
    /// It means nothing to the client at this place of the answer; nil where nothing does.
    private var filler: HTTPServerResponsePart? = interim
    private static let interim = HTTPServerResponsePart.head(
        HTTPResponseHead(version: .http1_1, status: .continue))

    init(patience: Patience, anteroom: Anteroom) {
        (self.patience, self.anteroom) = (patience, anteroom)
    }

    func channelActive(context: ChannelHandlerContext) {
        anteroom.note(context.channel, isSilent: true)
        expectHead(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        anteroom.note(context.channel, isSilent: false)
        alarm?.cancel()
        watch.take()?.gone()
        context.fireChannelInactive()
    }

    private func expectHead(_ context: ChannelHandlerContext) {
        alarm =
            alarm
            ?? context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(patience.head)) {
                context.close(promise: nil)
            }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Bytes came that are not part of a request yet.
        if !isReading, !hasRead { expectHead(context) }
        hasRead = false
        context.fireChannelReadComplete()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard complaint == nil else { return }
        hasRead = true
        guard case .head(var head) = Self.unwrapInboundIn(data) else {
            if case .end = Self.unwrapInboundIn(data) { isReading = false }
            return context.fireChannelRead(data)
        }
        isReading = true
        alarm.take()?.cancel()
        anteroom.note(context.channel, isSilent: false)
        let isOld = head.version == .http1_0
        let isLast = isOld || !head.isKeepAlive
        unanswered.append(Unanswered(isOld: isOld, isLast: isLast))
        if isOld {
            guard !head.headers.contains(name: "Transfer-Encoding") else {
                complaint = "HTTP/1.0 has no Transfer-Encoding"
                return context.fireErrorCaught(HTTPParserError.unknown)
            }
            head.version = .http1_1
            // HTTP/1.0 does not know the one, and need not have the other.
            head.headers.remove(name: "Expect")
            head.headers.remove(name: "Upload-Draft-Interop-Version")
            if !head.headers.contains(name: "Host") { head.headers.add(name: "Host", value: "") }
        }
        // In the one spelling that the library looks for.
        if isLast { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        context.fireChannelRead(Self.wrapInboundOut(.head(head)))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed {
            hasEnded = true
            lookForClient(context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func triggerUserOutboundEvent(
        context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
    ) {
        guard let found = event as? Watch else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        watch = found
        lookForClient(context)
        promise?.succeed()
    }

    private func lookForClient(_ context: ChannelHandlerContext) {
        guard hasEnded, !isReading, watch != nil, let request = unanswered.first else { return }
        // HTTP/1.0 has no interim answers: proxies speak it, which end both sides at once.
        guard !request.isOld else { return context.close(promise: nil) }
        let pause = TimeAmount(patience.look)
        _ = context.eventLoop.assumeIsolated().scheduleTask(in: pause) { [self] in
            guard watch != nil else { return }
            if let filler { context.writeAndFlush(Self.wrapOutboundOut(filler), promise: nil) }
            lookForClient(context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? HTTPParserError, complaint == nil {
            complaint = Self.words(error)
        }
        context.fireErrorCaught(error)
    }

    func write(
        context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
        switch Self.unwrapOutboundIn(data) {
        case .head(var head) where head.status.code >= 200:
            // Between lines of JSON, or events.
            let isOfEvents = head.headers["Content-Type"].first == AnswerFormat.eventType
            let bytes = ByteBuffer(string: isOfEvents ? ":\n" : " ")
            let isCounted = head.headers.contains(name: "Content-Length")
            filler = isCounted ? nil : .body(.byteBuffer(bytes))
            if unanswered.first?.isOld == true { head.headers.remove(name: "Transfer-Encoding") }
            if unanswered.first?.isLast == true {
                head.headers.replaceOrAdd(name: "Connection", value: "close")
            }
            guard let complaint, head.status == .badRequest,
                head.headers["Content-Length"] == ["0"]
            else { return context.write(Self.wrapOutboundOut(.head(head)), promise: promise) }
            let text = AnswerFormat.refusal("the request is not valid HTTP: \(complaint)")
            head.headers.replaceOrAdd(name: "Content-Length", value: String(text.utf8.count))
            head.headers.replaceOrAdd(name: "Content-Type", value: "application/json")
            context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
            let body = IOData.byteBuffer(ByteBuffer(string: text))
            context.write(Self.wrapOutboundOut(.body(body)), promise: promise)
        case .end:
            _ = unanswered.popFirst()
            (watch, filler) = (nil, Self.interim)
            if unanswered.isEmpty { anteroom.note(context.channel, isSilent: true) }
            context.write(data, promise: promise)
        case .head, .body:
            context.write(data, promise: promise)
        }
    }

    private static func words(_ error: HTTPParserError) -> String {
        switch error {
        case .invalidEOFState: "it ended in its middle"
        case .headerOverflow: "its head is too long"
        case .unexpectedContentLength: "its length is given in two ways"
        case .unknown, .invalidInternalState, .strictModeAssertion, .paused:
            "its framing is not understood"
        default: error.debugDescription
        }
    }
}
