// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes
package import OperatorMetrics
internal import Synchronization

/// Makes a record of every request of one connection; used on its event loop.
final class RequestRecorder: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// An event of the sending side: the audio of the request that is being answered is over.
    struct Heard: Sendable {
        /// Its length in seconds.
        let duration: Double
    }

    private struct Entry {
        var request: ServedRequest
        let start = ContinuousClock.now
    }

    private let onRequest: @Sendable (ServedRequest) -> Void
    /// The requests without a complete answer; only the last one's body is still arriving.
    private var entries = CircularBuffer<Entry>()

    init(_ onRequest: @escaping @Sendable (ServedRequest) -> Void) {
        self.onRequest = onRequest
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head):
            var request = ServedRequest(peer: Self.name(of: context.remoteAddress))
            request.method = head.method.rawValue
            request.path = String((head.path ?? "").prefix { $0 != "?" })
            // The rest lets its reader continue and hear the upload.
            if request.path.hasPrefix(UploadHead.root) { request.path = UploadHead.root + "…" }
            request.mediaType = head.headerFields[.contentType]
            entries.append(Entry(request: request))
        case .body(let buffer):
            if !entries.isEmpty {
                entries[entries.index(before: entries.endIndex)].request.byteCount +=
                    buffer.readableBytes
            }
        case .end: break
        }
        context.fireChannelRead(data)
    }

    func write(
        context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
        switch Self.unwrapOutboundIn(data) {
        case .head(let head) where head.status.kind != .informational:
            // The answer to what is not HTTP belongs to no request.
            if entries.isEmpty {
                let peer = Self.name(of: context.remoteAddress)
                entries.append(Entry(request: ServedRequest(peer: peer)))
            }
            entries[entries.startIndex].request.status = head.status.code
        case .end: finishFirst(isAnswered: true)
        case .head, .body: break
        }
        context.write(data, promise: promise)
    }

    func triggerUserOutboundEvent(
        context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
    ) {
        guard let heard = event as? Heard else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        if !entries.isEmpty {
            entries[entries.startIndex].request.audioDuration = heard.duration
        }
        promise?.succeed()
    }

    func channelInactive(context: ChannelHandlerContext) {
        while !entries.isEmpty { finishFirst(isAnswered: false) }
        context.fireChannelInactive()
    }

    private func finishFirst(isAnswered: Bool) {
        guard let entry = entries.popFirst() else { return }
        var request = entry.request
        request.isAnswered = isAnswered
        request.duration = entry.start.duration(to: .now)
        onRequest(request)
    }

    static func name(of address: SocketAddress?) -> String {
        guard let address else { return "" }
        guard let host = address.ipAddress, let port = address.port else { return "unix" }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

/// A log's facts about a request whose answer is over.
///
/// It has no secret: neither header fields other than the media type, nor the query, nor the
/// name of an upload, nor text. What the client wrote is here as it came: make it safe before
/// you print it.
package struct ServedRequest: Sendable, Hashable {
    /// The client's address and port, such as `127.0.0.1:51234`; `unix` for one at a Unix socket.
    package let peer: String

    /// The request's method; empty when what came was not HTTP.
    package internal(set) var method = ""

    /// The path without its query; empty when what came was not HTTP.
    package internal(set) var path = ""

    package internal(set) var mediaType: String?

    package internal(set) var byteCount = 0

    /// The length of the audio in seconds; nil unless it was recognised to its end.
    package internal(set) var audioDuration: Double?

    /// The answer's status, or nil when none was sent.
    package internal(set) var status: Int?

    package internal(set) var isAnswered = false

    /// The time from the request's head to the answer's end, or to the connection's.
    package internal(set) var duration = Duration.zero
}

/// The counts of an endpoint since it began, for an operator; from any thread.
package final class EndpointNumbers: Sendable {
    private struct State {
        var requests: [String: Double] = [:]
        var audioSeconds = 0.0
        var bytes = 0.0
        var answer = Histogram()
    }

    private let state = Mutex(State())

    package init() {}

    package func note(_ request: ServedRequest) {
        state.withLock { state in
            let word = request.isAnswered ? request.status.map { "\($0 / 100)xx" } : nil
            state.requests[word ?? "broken", default: 0] += 1
            state.bytes += Double(request.byteCount)
            guard let audio = request.audioDuration else { return }
            state.audioSeconds += audio
            // The length of a session says nothing about the endpoint.
            if request.status != 101 { state.answer.note(request.duration) }
        }
    }

    package func families(of endpoint: RecognitionEndpoint) -> [MetricFamily] {
        let state = state.withLock { $0 }
        let load = endpoint.load
        return [
            .counter(
                "utter_endpoint_requests_total", "Requests, by their answers.", by: "class",
                state.requests),
            .counter("utter_endpoint_received_bytes_total", "Bytes of bodies.", state.bytes),
            .counter(
                "utter_endpoint_audio_seconds_total", "Sound that was recognised.",
                state.audioSeconds),
            .histogram(
                "utter_endpoint_request_seconds", "From the head of a request to its answer's end.",
                state.answer),
            .gauge(
                "utter_endpoint_recordings", "Recordings at a recogniser, and in line.",
                by: "state",
                ["running": Double(load.running), "waiting": Double(load.waiting)]),
        ]
    }
}
