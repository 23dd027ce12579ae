// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import SpeechService

extension CurlEasy {
    /// All options of a request but the callbacks; asks for late headers, on the transfer thread.
    mutating func prepare(
        _ request: TransferRequest, through proxy: String?
    ) throws(CurlRefusal) {
        try keepMessage()
        try set(CURLOPT_URL, request.url)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        if let path = request.socketPath {
            guard !path.isEmpty else { throw .noSocket }
            try set(CURLOPT_UNIX_SOCKET_PATH, path)
        }
        if request.socket != nil {
            // The handshake is ours, as everything behind it.
            try set(CURLOPT_CONNECT_ONLY, 1)
            try set(CURLOPT_HTTPPROXYTUNNEL, 1)
        }
        // A POST of unknown length is sent chunked (RFC 9112 §7.1) on HTTP/1.1.
        let hasBody = !["GET", "HEAD"].contains(request.method)
        switch request.method {
        case "GET": try set(CURLOPT_HTTPGET, 1)
        case "HEAD": try set(CURLOPT_NOBODY, 1)
        default: try set(CURLOPT_POST, 1)
        }
        if hasBody, request.method != "POST" {
            try set(CURLOPT_CUSTOMREQUEST, request.method)
        }
        if hasBody, let length = request.body.contentLength {
            try setOffset(CURLOPT_POSTFIELDSIZE_LARGE, length)
        }
        // Each encoding that libcurl can undo; what is counted and read is the decoded answer.
        if !request.keepsCoding { try set(CURLOPT_ACCEPT_ENCODING, "") }
        try set(CURLOPT_FOLLOWLOCATION, 0)
        if let idle = request.longestIdleTime {
            try set(CURLOPT_MAXAGE_CONN, Int(idle.components.seconds))
        } else {
            try set(CURLOPT_FRESH_CONNECT, 1)
        }
        // The connection that is made for a WebSocket goes with its handle; forbidden to be used once
        // more, it would be closed as soon as it stands.
        if !request.leavesConnection, request.socket == nil { try forbidReuse() }
        // Breaking off must not wait for a name server that is silent.
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_NOSIGNAL, 1)
        if let jar = request.session?.jar(for: request.url) { try join(jar) }
        try connect(by: request.connection)
        try goThrough(proxy, login: request.connection.proxyLogin)
        // Above 32 KiB a burst of response bytes is never left waiting for a timer.
        try set(CURLOPT_BUFFERSIZE, 131_072)
        // Our own deadline comes first; without this libcurl has one of 300 s.
        let connect = request.deadlines.connect + .seconds(1)
        try set(CURLOPT_CONNECTTIMEOUT_MS, connect.wholeMilliseconds(upTo: Int(Int32.max)))
        // The handshake writes its own fields.
        guard request.socket == nil else { return }
        // "Expect" is sent for services alone that want it: those that ignore it cost a second of
        // dead air. "Transfer-Encoding" is libcurl's own to write.
        let expectation = request.expectsContinue ? "Expect: 100-continue" : "Expect:"
        let lines = (request.headers + request.lateHeaders()).map { name, value in
            // "Name:" would take a field away; this is how libcurl is told to send an empty one.
            value.isEmpty ? "\(name);" : "\(name): \(value)"
        }
        try setHeaders([expectation] + (request.omitsType ? ["Content-Type:"] : []) + lines)
    }

    func forbidReuse() throws(CurlRefusal) { try set(CURLOPT_FORBID_REUSE, 1) }

    private mutating func connect(by connection: ConnectionSettings) throws(CurlRefusal) {
        try set(CURLOPT_HTTP_VERSION, Int(connection.http.option))
        let version =
            switch connection.minimumTLS {
            case .two: CURL_SSLVERSION_TLSv1_2
            case .three: CURL_SSLVERSION_TLSv1_3
            }
        try set(CURLOPT_SSLVERSION, Int(version))
        if let file = connection.certificateFile {
            try set(CURLOPT_CAINFO, file)
            // The system's folder would be trusted beside it.
            try set(CURLOPT_CAPATH, nil)
        }
        if let certificate = connection.clientCertificate {
            try set(CURLOPT_SSLCERT, certificate)
            try set(CURLOPT_SSLKEY, connection.clientKey ?? certificate)
            // For a key with a passphrase OpenSSL would ask the terminal, on this thread.
            try set(CURLOPT_KEYPASSWD, "")
        }
        if !connection.pinnedKeys.isEmpty {
            let keys = connection.pinnedKeys.map(\.description).joined(separator: ";")
            try set(CURLOPT_PINNEDPUBLICKEY, keys)
        }
        if let addresses = connection.addresses {
            let kind =
                switch addresses {
                case .four: CURL_IPRESOLVE_V4
                case .six: CURL_IPRESOLVE_V6
                }
            try set(CURLOPT_IPRESOLVE, Int(kind))
        }
        if !connection.resolutions.isEmpty {
            try setResolutions(connection.resolutions.map(\.description))
        }
    }

    private func goThrough(_ proxy: String?, login: Credential?) throws(CurlRefusal) {
        // A proxy's own answer to CONNECT is not the service's.
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // Said in any case, since libcurl would ask the environment otherwise.
        try set(CURLOPT_PROXY, proxy ?? "")
        try set(CURLOPT_NOPROXY, "")
        if proxy != nil, let login = login?.percentEncodedLogin {
            try set(CURLOPT_PROXYUSERPWD, login)
        }
    }
}

extension HTTPVersion {
    /// libcurl's value for `CURLOPT_HTTP_VERSION`.
    ///
    /// HTTP/2 is agreed on in the TLS handshake alone: without TLS, libcurl 7.88 loses the second
    /// request of a connection.
    fileprivate var option: UInt32 {
        switch self {
        case .one: UInt32(CURL_HTTP_VERSION_1_1)
        case .two: UInt32(CURL_HTTP_VERSION_2TLS)
        }
    }
}
