// SPDX-License-Identifier: Apache-2.0

package import Cassettes
internal import HTTPTypes
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

        init(number: Int, cassette: Cassette, differences: [String], byteCount: Int) {
            (self.number, self.differences, self.byteCount) = (number, differences, byteCount)
            name = cassette.title ?? "\(cassette.request.method) \(cassette.request.target)"
        }
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
            host: host, port: port, idleTimeout: .seconds(60), gracePeriod: .seconds(1),
            socketChoice: { request, connection in
                tape.session(for: request).map { cassette, number in
                    CassetteSession(
                        cassette: cassette, number: number, connection: connection, tape: tape,
                        clock: CassetteClock(speed), onRequest: onRequest
                    ).respond
                }
            }
        ) { request, writer, connection in
            try await CassetteExchange(
                request: request, connection: connection, tape: tape, clock: CassetteClock(speed),
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
        method: String, target: String, headers: [CassetteField], asksForSocket: Bool = false
    ) -> (cassette: Cassette, number: Int, differences: [String]) {
        next.withLock { next in
            let number = next
            var differences = cassettes[number].request.differences(
                method: method, target: target, headers: headers)
            if cassettes[number].response?.isSocket == true, !asksForSocket {
                differences.append("the client does not ask for a WebSocket")
            }
            if differences.isEmpty { next = (next + 1) % cassettes.count }
            return (cassettes[number], number, differences)
        }
    }

    /// The next cassette if it is of a WebSocket, and the request is the one that it wants.
    func session(for request: HTTPRequest) -> (cassette: Cassette, number: Int)? {
        guard cassettes[next.withLock(\.self)].response?.isSocket == true else { return nil }
        let (cassette, number, differences) = take(
            method: request.method.rawValue, target: request.path ?? "/",
            headers: request.headerFields.map { CassetteField($0.name.canonicalName, $0.value) },
            asksForSocket: true)
        return differences.isEmpty ? (cassette, number) : nil
    }

    /// Has a cassette wait once more, whose client has turned out to be another one.
    func putBack(_ number: Int) { next.withLock { $0 = number } }

    /// The text with this server's origin in place of those of the cassettes' requests: what an
    /// answer names, such as the URL of a job, is asked for here.
    func relocated(_ text: String, to origin: String) -> String {
        Set(cassettes.map(\.request.origin)).reduce(text) { text, old in
            old.isEmpty ? text : text.replacing(old, with: origin)
        }
    }

    func relocated(_ bytes: [UInt8], to origin: String) -> [UInt8] {
        guard let text = String(validating: bytes, as: UTF8.self) else { return bytes }
        return Array(relocated(text, to: origin).utf8)
    }
}
