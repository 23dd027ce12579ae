// SPDX-License-Identifier: Apache-2.0

internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes
internal import NIOHTTPTypesHTTP1

/// How the bytes of one connection become requests, and answers become bytes.
struct EndpointChannel: HTTPChannelHandler {
    let responder: Responder

    /// How long a client may send nothing before its connection is closed without a word.
    let idleTimeout: Duration

    /// Is told about every request that was served; called on the connection's event loop.
    let onRequest: (@Sendable (ServedRequest) -> Void)?

    func setup(
        channel: any Channel, logger: Logger
    ) -> EventLoopFuture<NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            var encoder = HTTPResponseEncoder.Configuration()
            // It would send chunks to HTTP/1.0, too.
            encoder.automaticallySetFramingHeaders = false
            var limits = NIOHTTPDecoderLimitConfiguration()
            limits.maxHeaderFieldSize = 16_384
            limits.maxHeaderListSize = 65_536
            limits.maxHeaderFieldCount = 100
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: false, withErrorHandling: false,
                withOutboundHeaderValidation: false, withEncoderConfiguration: encoder,
                withDecoderLimitConfiguration: limits)
            try pipeline.addHandler(HTTPConventions())
            try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
            if let onRequest { try pipeline.addHandler(RequestRecorder(onRequest)) }
            try pipeline.addHandler(
                HTTPConnectionStateHandler(idleTimeout: idleTimeout, logger: logger))
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel,
                configuration: .init(isOutboundHalfClosureEnabled: true))
        }
    }

    func handle(
        value: NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>, logger: Logger
    ) async {
        await handleHTTP(asyncChannel: value, logger: logger)
    }
}
