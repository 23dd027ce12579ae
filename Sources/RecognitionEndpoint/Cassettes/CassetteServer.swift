// SPDX-License-Identifier: Apache-2.0

package import Cassettes

/// A server that answers with what cassettes hold, one request after the other.
///
/// It needs no recogniser. After the last cassette the first one follows again. A request that is
/// not the one of its cassette gets 422 with what differs, and the cassette waits for the right one.
package final class CassetteServer: Sendable {
    /// How fast time passes.
    package enum Speed: Sendable, Equatable {
        /// Nothing waits for time.
        case max
        /// So many times as fast as when it was recorded.
        case factor(Double)

        /// How long a time of the recording takes; nil when it takes none.
        func duration(ofMilliseconds milliseconds: Double) -> Duration? {
            guard case .factor(let factor) = self else { return nil }
            return .microseconds(Int64(milliseconds * 1_000 / factor))
        }
    }

    /// What a request was, once its answer is over or refused.
    package struct Served: Sendable, Equatable {
        /// The number of the cassette, from 0.
        package var number: Int
        /// The cassette's title, or its request.
        package var name: String
        /// In what the request differs from the cassette's; empty when it was answered.
        package var differences: [String]
        /// Bytes of the request's body that came.
        package var byteCount: Int
    }

    private let tape: CassetteTape
    private let service: HTTPService

    /// Prepares a server for cassettes, at least one.
    ///
    /// - Parameters:
    ///   - cassettes: what is asked and answered, in order.
    ///   - host: the address or name to listen on.
    ///   - port: the port, or 0 to let the system choose.
    ///   - speed: how fast time passes.
    ///   - onRequest: told about each request, on a thread that must not be made to wait.
    package init(
        _ cassettes: [Cassette], host: String = "127.0.0.1", port: Int = 0, speed: Speed = .max,
        onRequest: @escaping @Sendable (Served) -> Void = { _ in }
    ) {
        let tape = CassetteTape(cassettes)
        self.tape = tape
        service = HTTPService(
            host: host, port: port, idleTimeout: .seconds(60), gracePeriod: .seconds(1)
        ) { request, writer, connection in
            try await CassetteExchange(
                request, on: connection, tape: tape, speed: speed, onRequest: onRequest
            ).answer(writer)
        }
    }

    /// Listens and answers until `shutdown` is called or the task is cancelled; once.
    ///
    /// - Parameter onReady: called with the port once clients can connect.
    /// - Throws: `RecognitionEndpointError` when the address cannot be listened on.
    package func run(
        onReady: @escaping @Sendable (Int) async -> Void
    ) async throws(RecognitionEndpointError) {
        try await service.run(onReady: onReady)
    }

    /// Ends `run`.
    ///
    /// From any thread; returns at once.
    package func shutdown() { service.shutdown() }
}
