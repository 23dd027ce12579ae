// SPDX-License-Identifier: Apache-2.0

package import Cassettes
internal import Synchronization

/// A server that answers with what cassettes hold, one request after the other.
///
/// It needs no recogniser. After the last cassette the first one follows again. A request that is
/// not the one of its cassette gets 422 with what differs, and the cassette waits for the right one.
package enum CassetteServer {
    package enum Speed: Sendable, Equatable {
        case max
        case factor(Double)

        /// How long a pause of the cassette lasts; nil for none.
        func duration(ofMilliseconds milliseconds: Double) -> Duration? {
            guard case .factor(let factor) = self else { return nil }
            return .microseconds(Int64(milliseconds * 1_000 / factor))
        }
    }

    package struct Served: Sendable, Equatable {
        /// The number of the cassette, from 0.
        package let number: Int
        package let name: String
        /// In what the request differs from the cassette's; empty when it was answered.
        package let differences: [String]
        package let byteCount: Int
    }

    /// Prepares a server for cassettes, at least one.
    ///
    /// It does not listen yet. `onRequest` is called on a thread that must not be made to wait.
    package static func make(
        _ cassettes: [Cassette], host: String = "127.0.0.1", port: Int = 0, speed: Speed = .max,
        onRequest: @escaping @Sendable (Served) -> Void = { _ in }
    ) -> some LocalServer {
        let tape = CassetteTape(cassettes)
        return HTTPService(
            host: host, port: port, idleTimeout: .seconds(60), gracePeriod: .seconds(1)
        ) { request, writer, connection in
            try await CassetteExchange(
                request: request, connection: connection, tape: tape, speed: speed,
                onRequest: onRequest
            ).answer(writer)
        }
    }
}

final class CassetteTape: Sendable {
    private let cassettes: [Cassette]
    private let next = Mutex(0)

    init(_ cassettes: [Cassette]) {
        precondition(!cassettes.isEmpty)
        self.cassettes = cassettes
    }

    /// Takes the next cassette if the request is the one that it wants; otherwise it stays.
    func take(
        method: String, target: String, headers: [CassetteField]
    ) -> (cassette: Cassette, number: Int, differences: [String]) {
        next.withLock { next in
            let number = next
            let differences = cassettes[number].request.differences(
                method: method, target: target, headers: headers)
            if differences.isEmpty { next = (next + 1) % cassettes.count }
            return (cassettes[number], number, differences)
        }
    }

    /// The text with this server's origin in place of those of the cassettes' requests: what an
    /// answer names, such as the URL of a job, is asked for here.
    func relocated(_ text: String, to origin: String) -> String {
        Set(cassettes.map(\.request.origin)).reduce(text) { text, old in
            old.isEmpty ? text : text.replacing(old, with: origin)
        }
    }
}
