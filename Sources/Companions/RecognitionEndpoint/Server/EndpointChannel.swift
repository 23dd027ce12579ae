// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes
internal import NIOHTTPTypesHTTP1

/// Sets up and serves each connection, which speaks HTTP or WebSocket.
struct EndpointChannel: HTTPChannelHandler {
    struct Value: ServerChildChannelValue {
        let channel: any Channel
        let conversation: EventLoopFuture<Conversation>
    }

    let responder: Responder
    let socketChoice: SocketChoice

    /// How long a client may send nothing before its connection is closed without a word.
    let idleTimeout: Duration
    let patience: HTTPConventions.Patience
    var anteroom: Anteroom

    /// Is told about every request that was served; called on the connection's event loop.
    let onRequest: (@Sendable (ServedRequest) -> Void)?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            var configuration = HTTPResponseEncoder.Configuration()
            // It would send chunks to HTTP/1.0, too.
            configuration.automaticallySetFramingHeaders = false
            let encoder = HTTPResponseEncoder(configuration: configuration)
            var limits = NIOHTTPDecoderLimitConfiguration()
            limits.maxHeaderFieldSize = 16_384
            limits.maxHeaderListSize = 65_536
            limits.maxHeaderFieldCount = 100
            let decoder = ByteToMessageHandler(
                HTTPRequestDecoder(
                    leftOverBytesStrategy: .forwardBytes, limitConfiguration: limits))
            let conventions = HTTPConventions(patience: patience, anteroom: anteroom)
            let choice = ProtocolChoice(
                on: channel.eventLoop, encoder: encoder, idleTimeout: idleTimeout,
                leaving: [conventions, decoder],
                upgrade: socketChoice
            ) { channel in
                try speakHTTP(on: channel, logger)
            }
            try pipeline.addHandlers([encoder, decoder, conventions, choice])
            return Value(channel: channel, conversation: choice.conversation)
        }
    }

    private func speakHTTP(
        on channel: any Channel, _ logger: Logger
    ) throws -> NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart> {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
        if let onRequest { try pipeline.addHandler(RequestRecorder(onRequest)) }
        try pipeline.addHandler(
            HTTPConnectionStateHandler(idleTimeout: idleTimeout, logger: logger))
        return try NIOAsyncChannel(
            wrappingChannelSynchronously: channel,
            configuration: .init(isOutboundHalfClosureEnabled: true))
    }

    func handle(value: Value, logger: Logger) async {
        // It fails where the connection was closed within its handshake.
        switch try? await value.conversation.get() {
        case .http(let channel): await handleHTTP(asyncChannel: channel, logger: logger)
        case .socket(let channel, let responder): await handle(channel, responder)
        case nil: break
        }
    }
}

struct Connection: Sendable {
    /// Thrown to close a connection that must not carry another request.
    struct End: Error {}

    let channel: any Channel

    /// Ends the sending side after an answer went out before its body had come in.
    ///
    /// The caller then reads the rest of the body and ends the connection. If the connection closed
    /// at once, the client's system would discard the answer when it hears that bytes it sent
    /// were not taken (RFC 9112 §9.6).
    ///
    /// - Returns: what closes the connection when the client goes on sending; to be cancelled.
    func linger() async -> Scheduled<Void> {
        // The client may be gone already; then there is nothing to be closed.
        try? await channel.close(mode: .output)
        return endLater()
    }

    /// Ends the connection when the client's time to end it is over, unless that is cancelled.
    func endLater() -> Scheduled<Void> {
        schedule(in: Self.lingerTime) { end() }
    }

    /// Answers before anything of the body was read.
    @concurrent func refuse(
        _ refusal: Refusal, _ request: Request, _ writer: consuming ResponseWriter
    ) async throws {
        let hasBody =
            request.headers[.transferEncoding] != nil
            || request.headers[.contentLength].map { $0 != "0" } == true
        try await writer.refuse(refusal, closes: hasBody)
        guard hasBody else { return }
        let deadline = await linger()
        defer { deadline.cancel() }
        for try await _ in request.body {}
        throw End()
    }

    /// Waits for the next bytes of a body; calls `alarm` when they are late, and waits on.
    @concurrent func next(
        of iterator: inout RequestBody.AsyncIterator, within time: Duration,
        _ alarm: @escaping @Sendable () -> Void
    ) async throws -> ByteBuffer? {
        let alarm = schedule(in: time, alarm)
        defer { alarm.cancel() }
        return try await iterator.next()
    }

    /// Notes that the audio of the request that is being answered is over.
    func noteHeard(_ duration: Double) {
        channel.triggerUserOutboundEvent(RequestRecorder.Heard(duration: duration), promise: nil)
    }

    /// Has `body` called, on the event loop, when the client goes before it has its answer, or has gone.
    func whenGone(_ body: @escaping @Sendable () -> Void) {
        let promise = channel.eventLoop.makePromise(of: Void.self)
        promise.futureResult.whenFailure { _ in body() }
        channel.triggerUserOutboundEvent(HTTPConventions.Watch(gone: body), promise: promise)
    }

    func close() async {
        // Whether it was closed already does not matter.
        try? await channel.close()
    }

    /// Closes without waiting, as another connection asks for.
    func end() { channel.close(promise: nil) }

    /// Reads nothing more of the client, whose messages have come to their end then.
    func hearNoMore() { channel.close(mode: .input, promise: nil) }

    /// Runs `body` on the event loop after a time, unless that is cancelled.
    func schedule(in time: Duration, _ body: @escaping @Sendable () -> Void) -> Scheduled<Void> {
        channel.eventLoop.scheduleTask(in: TimeAmount(time), body)
    }

    /// The client's address, without its port.
    var peer: String { channel.remoteAddress?.ipAddress ?? "" }

    /// Whether the client has come by a Unix socket, whose mode says who may.
    var isLocal: Bool { channel.localAddress?.protocol == .unix }

    /// How long a client may keep sending after a refusal.
    static let lingerTime = Duration.seconds(5)
}
