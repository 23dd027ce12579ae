// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import NIOCore
internal import Synchronization

/// The endpoint's page for browsers: who may use it, and the last requests for the operator.
///
/// The page shows a token that the operator has given to the person with its address. A session is
/// opened with a ticket, since no script can send a token with a WebSocket. From any thread.
package final class EndpointPage: Sendable {
    private struct State {
        /// The tickets that were not used yet, and until when they can be; the oldest is first.
        var tickets: [(text: String, end: ContinuousClock.Instant)] = []
        var served = CircularBuffer<ServedRequest>()
    }

    /// The token as text; stands behind `#` in the page's address, which no browser sends.
    package let secret = [UInt8].random(16).hexadecimal
    let token: BearerToken?
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// Creates a page with a token that no other has.
    package convenience init() { self.init { .now } }

    init(now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.now = now
        token = BearerToken(secret)
    }

    /// The subprotocol of a page's session (RFC 6455 §1.9), and the beginning of the one that is a ticket.
    static let (sessionName, ticketName) = ("utter.page", "utter.ticket.")
    static let ticketLifetime = Duration.seconds(30)
    static let ticketLimit = 64
    static let servedLimit = 100

    /// Makes a ticket for one session that begins soon.
    func makeTicket() -> String {
        let ticket = [UInt8].random(16).hexadecimal
        state.withLock { state in
            if state.tickets.count >= Self.ticketLimit { state.tickets.removeFirst() }
            state.tickets.append((ticket, now() + Self.ticketLifetime))
        }
        return ticket
    }

    /// Takes a ticket; false when it was taken before, or is too old.
    func redeem(_ ticket: String) -> Bool {
        state.withLock { state in
            state.tickets.removeAll { $0.end < now() }
            guard let index = state.tickets.firstIndex(where: { $0.text == ticket }) else {
                return false
            }
            state.tickets.remove(at: index)
            return true
        }
    }

    func note(_ request: ServedRequest) {
        // The operator's page asks for the list again and again.
        guard request.path != "/page/requests" || request.status != 200 else { return }
        state.withLock { state in
            if state.served.count >= Self.servedLimit { state.served.removeFirst() }
            state.served.append(request)
        }
    }

    /// The last requests that were served, the newest first.
    var served: [ServedRequest] { state.withLock { $0.served.reversed() } }
}

/// An answer to the page.
struct PageAnswer: Encodable {
    /// A request of any client; it has no secret and no text.
    struct Served: Encodable {
        var peer, method, path: String
        var status: Int?
        var bytes: Int
        /// In seconds.
        var audio: Double?
        var seconds: Double

        init(_ request: ServedRequest) {
            (peer, method, path) = (request.peer, request.method, request.path)
            (status, bytes, audio) = (request.status, request.byteCount, request.audioDuration)
            seconds = request.duration / .seconds(1)
        }
    }

    var ticket: String?
    var requests: [Served]?
    var load: AnswerLine.Load?
}
