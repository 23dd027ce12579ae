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
        // The handlers of HTTP answer a request that is not let in.
        let demand = try? Demand(head, configuration: configuration, isLocal: connection.isLocal)
        guard !isFull, case .realtime(let ticket)? = demand else { return nil }
        if let ticket, configuration.page?.redeem(ticket) != true { return nil }
        // Once the connection has ended, it has no address.
        let peer = RequestRecorder.name(of: connection.channel.remoteAddress)
        return { [self] messages, writer in
            guard enter() else { return SocketClose(code: 1013, reason: Self.fullness) }
            var served = ServedRequest(peer: peer)
            let counts = RealtimeCounts()
            let begin = ContinuousClock.now
            defer {
                count.withLock { $0 -= 1 }
                (served.method, served.status) = ("GET", 101)
                served.path = String((head.path ?? "").prefix { $0 != "?" })
                served.byteCount = counts.byteCount
                served.audioDuration = counts.duration > 0 ? counts.duration : nil
                served.duration = begin.duration(to: .now)
                configuration.onRequest?(served)
            }
            var session = RealtimeSession(writer, connection, pool, configuration, counts)
            let end = try await session.run(&messages)
            served.isAnswered = true
            return end
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

    private static let fullness = "as many sessions run as this endpoint is allowed"

    /// Why a request for a session is answered by HTTP.
    func refusal(of ticket: String?) -> Refusal {
        if isFull { return Refusal(503, Self.fullness, fields: [.retryAfter: "1"]) }
        return ticket != nil
            ? Refusal(401, "the ticket was used before, or is too old")
            : Refusal(
                426, "a session needs a WebSocket (RFC 6455), version 13",
                fields: [.upgrade: "websocket", .secWebSocketVersion: "13"])
    }
}
