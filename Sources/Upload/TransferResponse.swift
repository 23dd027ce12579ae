// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The response so far, its head and the length of its body, and how the transfer ended by it.
struct TransferResponse {
    private var head: ResponseHead
    private var byteCount = 0
    /// While the person spoke.
    private var earlyByteCount = 0
    private var isTooLong = false
    /// By its content.
    private var isOver = false
    /// In bytes, once the recording is complete.
    private let limit: Int
    /// While the person speaks, the limit is this many times higher: hours of hypotheses.
    private static let earlyLimitFactor = 32
    private let isSecure: Bool
    /// The answer has no body, whatever its head says of one (RFC 9110 §9.3.2).
    private let isHeadAlone: Bool

    init(
        to url: String, limit: Int, isHeadAlone: Bool = false, endsWithConnection: Bool = false,
        isUpgrade: Bool = false
    ) {
        head = ResponseHead(isUpgrade: isUpgrade)
        self.limit = limit
        self.isHeadAlone = isHeadAlone
        isSecure = url.lowercased().hasPrefix("https:") && !endsWithConnection
    }

    mutating func take(headerLine: String, sent: Int = 0) -> ResponseHead.Step {
        head.accumulate(headerLine, sent: sent)
    }

    /// There is no head; `status` is that of a WebSocket.
    mutating func grant() { head.grant() }

    /// Decoded bytes; returns why the body cannot be used, or nil.
    mutating func take(bodyByteCount: Int, whileSpeaking isEarly: Bool = false) -> String? {
        // A refusal is the end of the sending.
        let isEarly = isEarly && !isRefusal
        byteCount += bodyByteCount
        if isEarly { earlyByteCount = byteCount }
        let most = isEarly ? limit * Self.earlyLimitFactor : earlyByteCount + limit
        isTooLong = byteCount > most
        return isTooLong ? "the response is longer than \(most) bytes" : nil
    }

    mutating func end() { isOver = true }

    var status: Int? { head.isComplete ? head.status : nil }
    var headers: [(name: String, value: String)] { head.headers }
    /// In seconds, by the last field (RFC 9110 §10.2.3); 0 without one, below 0 for a time that is over.
    var retryAfter: Int {
        guard let text = headers.last(where: { $0.name == "retry-after" })?.value else { return 0 }
        return Int(text) ?? HTTPDate.seconds(text).map { Int($0) - time(nil) } ?? 0
    }

    /// The service does not want the rest.
    var isRefusal: Bool { status.map { $0 >= 300 } ?? false }

    /// How the transfer ended: `own` is why we broke it off, `failure` is libcurl's error.
    func ending(
        own: TransferResult.Ending?, failure: TransferResult.Ending?
    ) -> TransferResult.Ending {
        switch own {
        case .cancelled?, .journalUnreadable?: return own ?? .cancelled
        default: if isHeard { return .answered }
        }
        if let ending = own ?? failure { return ending }
        guard let status else {
            return .connectionLost(
                head.status == nil
                    ? "the connection was closed without an answer"
                    : "the connection was closed in the answer's head")
        }
        // Over TLS a bare close cannot be told from an attacker's cut.
        let isBareClose =
            isSecure && status != 204 && head.header("content-length") == nil && !isChunked
            && !head.isHTTP2
        return isBareClose ? .badResponse("the answer's end is not marked") : .answered
    }

    /// Whether the answer is known, however the connection ended.
    ///
    /// A refusal is an answer even if its body was cut, and a success if it has its length: many
    /// services reset a connection whose body they do not want.
    private var isHeard: Bool {
        guard status != nil else { return false }
        return isRefusal || isWhole
    }

    /// Whether the response says by its content or by its length that it is complete (RFC 9112 §6.3).
    ///
    /// libcurl keeps the end of a chunked response to itself, and counts other bytes of an encoded
    /// one than we see.
    var isWhole: Bool {
        guard let status else { return false }
        if isOver { return true }
        if isTooLong { return false }
        if status == 204 || isHeadAlone { return true }
        return !isChunked && head.header("content-encoding") == nil
            && head.header("content-length").flatMap { Int($0) } == byteCount
    }

    private var isChunked: Bool {
        head.header("transfer-encoding")?.lowercased().hasSuffix("chunked") == true
    }
}
