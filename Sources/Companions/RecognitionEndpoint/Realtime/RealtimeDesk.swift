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
        var served = ServedRequest(
            peer: RequestRecorder.name(of: connection.channel.remoteAddress))
        (served.method, served.status) = ("GET", 101)
        served.path = String((head.path ?? "").prefix { $0 != "?" })
        return { [self, served] messages, writer in
            guard enter() else { return SocketClose(code: 1013, reason: refusal.message) }
            defer { count.withLock { $0 -= 1 } }
            let (begin, counts) = (ContinuousClock.now, RealtimeCounts())
            var session = RealtimeSession(writer, connection, pool, configuration, counts)
            let end: Result<SocketClose, any Error>
            do {
                end = .success(try await session.run(&messages))
            } catch {
                end = .failure(error)
            }
            var record = served
            if case .success = end { record.isAnswered = true }
            record.byteCount = counts.byteCount
            record.audioDuration = counts.duration > 0 ? counts.duration : nil
            record.duration = begin.duration(to: .now)
            configuration.onRequest?(record)
            return try end.get()
        }
    }

    /// Counts one more client; false when there are as many as there may be.
    private func enter() -> Bool {
        count.withLock { count in
            guard count < configuration.maximumRealtimeSessions else { return false }
            count += 1
            return true
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
