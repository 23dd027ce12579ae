// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOCore
internal import Synchronization

/// Lets clients in that ask for a realtime session, as far as there is room; from any thread.
final class RealtimeDesk: Sendable {
    private let pool: RecogniserPool
    private let configuration: RecognitionEndpointConfiguration
    private let count = Mutex(0)

    init(_ pool: RecogniserPool, _ configuration: RecognitionEndpointConfiguration) {
        (self.pool, self.configuration) = (pool, configuration)
    }

    private var isFull: Bool { count.withLock { $0 >= configuration.maximumRealtimeSessions } }

    /// Lets a client in by the same rules as any other request; nil when HTTP says why it does not.
    func responder(to head: HTTPRequest, over connection: Connection) -> SocketResponder? {
        // HTTP says a mistake in it.
        let demand = try? Demand(head, configuration: configuration, isLocal: connection.isLocal)
        guard !isFull, case .realtime? = demand else { return nil }
        let path = String((head.path ?? "").prefix { $0 != "?" })
        return { [self] messages, writer in
            count.withLock { $0 += 1 }
            defer { count.withLock { $0 -= 1 } }
            let (begin, counts) = (ContinuousClock.now, RealtimeCounts())
            defer {
                var served = ServedRequest(
                    peer: RequestRecorder.name(of: connection.channel.remoteAddress))
                (served.method, served.path) = ("GET", path)
                (served.status, served.isAnswered) = (101, true)
                served.byteCount = counts.byteCount
                served.audioDuration = counts.duration
                served.duration = begin.duration(to: .now)
                configuration.onRequest?(served)
            }
            var session = RealtimeSession(writer, connection, pool, configuration, counts)
            return try await session.run(&messages)
        }
    }

    /// Why a request for a session is answered by HTTP.
    var refusal: Refusal {
        isFull
            ? Refusal(
                503, "as many sessions run as this endpoint is allowed", fields: [.retryAfter: "1"])
            : Refusal(
                426, "sessions here are WebSockets (RFC 6455), of version 13",
                fields: [.upgrade: "websocket", .secWebSocketVersion: "13"])
    }
}
