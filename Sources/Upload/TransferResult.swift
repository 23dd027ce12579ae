// SPDX-License-Identifier: Apache-2.0

/// How one transfer ended.
public struct TransferResult: Sendable {
    /// The cause of a transfer's end.
    public enum Ending: Sendable, Equatable {
        /// A final response was read to its end.
        case answered
        /// The name could not be resolved; the text is libcurl's.
        case cannotResolve(String)
        /// No connection could be made; the text is libcurl's.
        case cannotConnect(String)
        /// The peer could not prove who it is, or TLS failed; the text is libcurl's.
        case insecure(String)
        /// The proxy does not let the request through: it answers with this status.
        case proxyRefused(status: Int)
        /// The other side does not speak TLS, or none that we speak; the text is libcurl's.
        case notTLS(String)
        /// The connection broke before a complete answer; the text is libcurl's.
        case connectionLost(String)
        /// An answer came, and does not show that the service has the recording; the text says why not.
        case unproved(String)
        case timedOut(TransferDeadlines.Missed)
        /// The response was not HTTP, too large, or otherwise broken.
        case badResponse(String)
        /// libcurl does not take the request; the text says what of it.
        case unprepared(String)
        /// The recording could not be read; the text is the system's.
        case journalUnreadable(String)
        case cancelled
    }

    /// The cause of the end.
    public var ending: Ending
    /// The final response's status (RFC 9110 §15), or nil when none came.
    public var status: Int?
    /// Fields of the final response; names in lower case.
    package var headers: [(name: String, value: String)]
    /// Bytes of the recording that the connection took, whatever the body makes of them, and those
    /// before them that the service had.
    public var sentByteCount: Int
    /// Bytes that the connection took, without chunk framing.
    package let wireByteCount: Int
    /// The byte of the whole body at which the request began.
    package private(set) var bodyStart = 0
    /// Bytes with chunk framing, where there is one.
    package private(set) var framedByteCount = 0
    /// Bytes of the answer's body, as they travelled.
    package private(set) var receivedByteCount = 0
    /// Over a WebSocket; nil over HTTP.
    package private(set) var messages: SocketCounts?
    package internal(set) var isBodyComplete: Bool
    package var timings: TransferTimings
    /// `Retry-After` (RFC 9110 §10.2.3), which may be years; zero without one.
    package internal(set) var retryAfter = Duration.zero
    /// The pause that is made for it: an hour at most, whatever a service asks for.
    package var pauseAsked: Duration { min(retryAfter, .seconds(3_600)) }
    package var hasReusedConnection = false
    /// libcurl 7.88 loses an answer that comes together with the reset of its HTTP/2 stream
    /// (RFC 9113 §8.1).
    package internal(set) var mayHaveLostAnswer = false
    package private(set) var route = TransferRoute()

    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// Whether a final response came before the service had the whole body.
    ///
    /// A head alone is not one: a service that streams its answer sends it while the body comes.
    /// Where the answer's end is the connection's (RFC 9112 §6.3), a connection that is reset may
    /// have ended it: a server that has not read the body resets.
    package var isEarlyAnswer: Bool {
        guard status != nil, !isBodyComplete else { return false }
        switch ending {
        case .answered: return true
        case .connectionLost:
            // The messages of a WebSocket are no answer before they say so.
            return status != 101 && timings.httpVersion != "2" && header("content-length") == nil
                && header("transfer-encoding") == nil
        default: return false
        }
    }
}

/// Messages of a WebSocket, without pings and the like.
package struct SocketCounts: Sendable, Equatable {
    package internal(set) var (sent, received) = (0, 0)
}

/// Durations since the start.
package struct TransferTimings: Sendable, Equatable {
    /// When the transfer began; nil when it did not.
    package internal(set) var began: ContinuousClock.Instant?
    package internal(set) var resolved: Duration?
    package internal(set) var connected: Duration?
    /// When TLS was set up; nil without TLS.
    package internal(set) var secured: Duration?
    /// The connection had the head of the request.
    package internal(set) var headOut: Duration?
    package internal(set) var firstByteOut: Duration?
    package internal(set) var lastByteOut: Duration?
    package internal(set) var firstByteIn: Duration?
    package internal(set) var firstBodyByteIn: Duration?
    /// The first words of the answer; set by the observer.
    package var firstText: Duration?
    package internal(set) var lastByteIn: Duration?
    package internal(set) var end: Duration?
    /// Such as "1.1"; nil without an answer.
    package internal(set) var httpVersion: String?
}

extension TransferResult.Ending {
    /// The ending as one word, such as `connection-lost`.
    package var word: String {
        switch self {
        case .answered: "answered"
        case .cannotResolve: "cannot-resolve"
        case .cannotConnect: "cannot-connect"
        case .insecure: "insecure"
        case .proxyRefused: "proxy-refused"
        case .notTLS: "not-tls"
        case .connectionLost: "connection-lost"
        case .unproved: "unproved"
        case .timedOut(.connect): "connect-timeout"
        case .timedOut(.stall): "stall-timeout"
        case .timedOut(.answer): "answer-timeout"
        case .timedOut(.whole): "timeout"
        case .badResponse: "bad-response"
        case .unprepared: "unprepared"
        case .journalUnreadable: "journal-unreadable"
        case .cancelled: "cancelled"
        }
    }

    package var reason: String? {
        switch self {
        case .cannotResolve(let text), .cannotConnect(let text), .insecure(let text),
            .notTLS(let text), .connectionLost(let text), .unproved(let text),
            .badResponse(let text), .unprepared(let text), .journalUnreadable(let text):
            text
        case .proxyRefused(let status): "\(status)"
        case .answered, .timedOut, .cancelled: nil
        }
    }
}

package struct TransferRoute: Sendable, Equatable {
    /// Such as `192.0.2.7:41234` or `[::1]:41234`.
    package internal(set) var local: String?
    /// The service's, or the proxy's.
    package internal(set) var remote: String?
    package private(set) var isByProxy = false
    /// Such as `TLSv1.3`; nil without TLS.
    package internal(set) var tls: String?
    /// OpenSSL's name; nil without TLS.
    package internal(set) var cipher: String?

    /// A proxy is asked for the whole URL (RFC 9112 §3.2.2), or to CONNECT.
    mutating func note(requestHead: String) {
        let line = requestHead.prefix { !$0.isNewline }.split(separator: " ")
        guard line.count > 1 else { return }
        if line[0] == "CONNECT" || line[1].hasPrefix("http://") { isByProxy = true }
    }

    /// An IPv6 address stands in brackets.
    static func place(_ address: String?, _ port: Int) -> String? {
        guard let address, !address.isEmpty, port > 0 else { return nil }
        return address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
}
