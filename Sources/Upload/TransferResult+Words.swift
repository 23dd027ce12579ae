// SPDX-License-Identifier: Apache-2.0

extension TransferResult.Ending {
    /// The case as one word, such as `connection-lost`.
    package var word: String {
        switch self {
        case .answered: "answered"
        case .cannotResolve: "cannot-resolve"
        case .cannotConnect: "cannot-connect"
        case .insecure: "insecure"
        case .proxyRefused: "proxy-refused"
        case .notTLS: "not-tls"
        case .connectionLost: "connection-lost"
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

    /// The words of the part that noticed it, or nil.
    package var reason: String? {
        switch self {
        case .cannotResolve(let text), .cannotConnect(let text), .insecure(let text),
            .notTLS(let text), .connectionLost(let text), .badResponse(let text),
            .unprepared(let text), .journalUnreadable(let text):
            text
        case .proxyRefused(let status): "\(status)"
        case .answered, .timedOut, .cancelled: nil
        }
    }
}
