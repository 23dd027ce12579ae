// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1

/// What HTTP/1 asks of a server beyond what the library does; one for each connection.
///
/// A request of HTTP/1.0 becomes the one of HTTP/1.1 that means the same, and its answer is not
/// sent in chunks: the connection's end is its end (RFC 9112 §6.1, §9.3). What is not HTTP at
/// all is answered by the library with an empty 400, to which the reason is added.
///
/// Used on the connection's event loop, between the bytes and the library's own types, which do
/// not know the version any more.
final class HTTPConventions: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private struct Unanswered {
        let isOld: Bool
        let isLast: Bool
    }

    /// The requests without a whole answer, in order.
    private var unanswered = CircularBuffer<Unanswered>()
    private var complaint: String?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard complaint == nil else { return }
        guard case .head(var head) = Self.unwrapInboundIn(data) else {
            return context.fireChannelRead(data)
        }
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
