// SPDX-License-Identifier: Apache-2.0

internal import CCurl

extension CurlEasy {
    /// Sets everything about one request but the callbacks.
    ///
    /// On the transfer thread, when the transfer begins: it asks for the late headers.
    mutating func prepare(_ request: TransferRequest) {
        set(CURLOPT_URL, request.url)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        // A POST of unknown length is sent chunked (RFC 9112 §7.1) on HTTP/1.1.
        set(CURLOPT_POST, 1)
        if request.method != "POST" { set(CURLOPT_CUSTOMREQUEST, request.method) }
        if let length = request.contentLength { set(CURLOPT_POSTFIELDSIZE_LARGE, length) }
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        set(CURLOPT_FOLLOWLOCATION, 0)
        // A reused connection that dies would make libcurl post a second time by itself, and one
        // that is kept for nobody is a descriptor lost.
        set(CURLOPT_FRESH_CONNECT, 1)
        set(CURLOPT_FORBID_REUSE, 1)
        // Breaking off must not wait for a name server that is silent.
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        set(CURLOPT_NOSIGNAL, 1)
        if request.bypassesProxy { set(CURLOPT_PROXY, "") }
        // A proxy's own answer to CONNECT is not the service's.
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // Above 32 KiB a burst of response bytes is never left waiting for a timer.
        set(CURLOPT_BUFFERSIZE, 131_072)
        // Our own deadline comes first; without this libcurl has one of 300 s.
        let connect = request.deadlines.connect + .seconds(1)
        set(CURLOPT_CONNECTTIMEOUT_MS, connect.wholeMilliseconds(upTo: Int(Int32.max)))
        if let file = request.certificateFile { trustOnly(certificatesIn: file) }
        // "Expect:" and "Transfer-Encoding" are never sent: servers that ignore the first
        // cost a second of dead air, and the second is libcurl's own to write.
        let lines = (request.headers + request.lateHeaders()).map { name, value in
            // "Name:" would take a field away; this is how libcurl is told to send an empty one.
            value.isEmpty ? "\(name);" : "\(name): \(value)"
        }
        setHeaders(["Expect:"] + lines)
    }
}
