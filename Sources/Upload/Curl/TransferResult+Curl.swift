// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import Glibc
internal import LinuxPlatform

extension TransferResult.Ending {
    /// Sorts libcurl's codes of failed transfers (libcurl-errors(3)).
    ///
    /// `proxyStatus` is the answer to CONNECT, `systemCode` an `errno`; both are 0 without one.
    init(code: CURLcode, text: String, proxyStatus: Int, systemCode: Int, url: String) {
        switch code {
        // It cannot reach the service now.
        case _ where (500...599).contains(proxyStatus):
            self = .cannotConnect("the proxy answers \(proxyStatus)")
        case _ where proxyStatus >= 300: self = .proxyRefused(status: proxyStatus)
        // With TLS 1.3 a service says so when the handshake is over for us (RFC 8446 §4.4.2.4).
        case CURLE_RECV_ERROR where text.contains("alert certificate required"),
            CURLE_SEND_ERROR where text.contains("alert certificate required"):
            self = .insecure("the service wants a certificate of the client's")
        case CURLE_COULDNT_CONNECT where systemCode != 0:
            self = .cannotConnect(Self.refusal(text, systemCode: systemCode, url: url))
        // libcurl repeats the whole of it, with a password that it may hold.
        case _ where text.hasPrefix("Unsupported proxy"):
            self = .cannotConnect(
                "the proxy's URL "
                    + (text.contains("scheme") ? "has a scheme that is not known" : "is none"))
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            self = .cannotResolve(text)
        case CURLE_SSL_CONNECT_ERROR where Self.isLasting(text):
            self = .notTLS(text)
        case CURLE_COULDNT_CONNECT, CURLE_SSL_CONNECT_ERROR, CURLE_PROXY:
            self = .cannotConnect(text)
        case CURLE_OPERATION_TIMEDOUT:
            self = .timedOut(.connect)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_USE_SSL_FAILED:
            self = .insecure(text)
        // There is no code of its own for an answer whose chunks are broken (RFC 9112 §7.1).
        case CURLE_RECV_ERROR where text.contains("chunk"):
            self = .badResponse(text)
        // Before 8.6 libcurl has no code of its own for a line of more than 100 KiB.
        case CURLE_OUT_OF_MEMORY, Self.tooLarge:
            self = .badResponse("a line of its head is too long, or memory ran out")
        case CURLE_UNSUPPORTED_PROTOCOL where text.contains("HTTP/0.9"):
            self = .notHTTP
        // libcurl wanted to make the request again on a new connection, and had no body for it.
        case CURLE_SEND_FAIL_REWIND:
            self = .connectionLost("the service closed a connection that was kept open")
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR,
            CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_WRITE_ERROR:
            self = .connectionLost(text)
        default:
            self = .badResponse(text)
        }
    }

    fileprivate static let notHTTP = Self.badResponse("what answers there does not speak HTTP")

    /// The value of `CURLE_TOO_LARGE`.
    private static let tooLarge = CURLcode(rawValue: 100)

    /// Whether a failed handshake would fail again.
    ///
    /// OpenSSL has its own error for a peer's mistakes; a connection that breaks has the system's
    /// error, or none.
    private static func isLasting(_ text: String) -> Bool {
        text.contains("error:0A") && !text.contains("unexpected eof")
    }

    /// The system's words, since libcurl's say the same three times, with the name of a peer other
    /// than the service, such as a proxy.
    private static func refusal(_ text: String, systemCode: Int, url: String) -> String {
        let reason = SystemError(call: "connect", code: Int32(clamping: systemCode)).reason
        // "Failed to connect to HOST port NUMBER after …"
        let words = text.split(separator: " ")
        guard words.count > 6, words[..<4] == ["Failed", "to", "connect", "to"] else {
            return reason
        }
        let (host, port) = (words[4], words[6])
        let usualPort = url.lowercased().hasPrefix("https:") ? "443" : "80"
        let isService = [host, "[\(host)]"].contains { host in
            url.contains("//\(host):\(port)/") || port == usualPort && url.contains("//\(host)/")
        }
        return isService ? reason : "\(host) port \(port): \(reason)"
    }
}

extension CurlEasy {
    /// Why the transfer of a request ended, or nil when it did not fail; `isSent`: the body whole.
    func failure(
        _ code: CURLcode, of request: TransferRequest, isSent: Bool
    ) -> TransferResult.Ending? {
        guard code != CURLE_OK else { return nil }
        let systemCode = long(CURLINFO_OS_ERRNO)
        // The kernel gave up on bytes that the peer did not acknowledge (TCP_USER_TIMEOUT).
        let isStall =
            (code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR)
            && systemCode == Int(ETIMEDOUT) && !isSent
        if isStall { return .timedOut(.stall) }
        let ending = TransferResult.Ending(
            code: code, text: message(for: code), proxyStatus: long(CURLINFO_HTTP_CONNECTCODE),
            systemCode: systemCode, url: request.url)
        // Some servers end an answer twice, such as one to HEAD by an empty chunk (RFC 9112 §9.2).
        return ending == .notHTTP && long(CURLINFO_NUM_CONNECTS) == 0
            ? .connectionLost("a connection that was kept open had more in it than its answer")
            : ending
    }
}
