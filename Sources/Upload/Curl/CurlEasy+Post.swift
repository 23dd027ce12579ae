// SPDX-License-Identifier: Apache-2.0

internal import CCurl

extension CurlEasy {
    /// Sets everything about one request but the callbacks.
    ///
    /// On the transfer thread, when the transfer begins: it asks for the late headers.
    mutating func prepare(_ request: TransferRequest) throws(CurlRefusal) {
        try keepMessage()
        try set(CURLOPT_URL, request.url)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        // A POST of unknown length is sent chunked (RFC 9112 §7.1) on HTTP/1.1.
        let isGet = request.method == "GET"
        try set(isGet ? CURLOPT_HTTPGET : CURLOPT_POST, 1)
        if !isGet, request.method != "POST" {
            try set(CURLOPT_CUSTOMREQUEST, request.method)
        }
        if !isGet, let length = request.body.contentLength {
            try setOffset(CURLOPT_POSTFIELDSIZE_LARGE, length)
        }
        // Each encoding that libcurl can undo; what is counted and read is the decoded answer.
        try set(CURLOPT_ACCEPT_ENCODING, "")
        try set(CURLOPT_FOLLOWLOCATION, 0)
        if let idle = request.longestIdleTime {
            try set(CURLOPT_MAXAGE_CONN, Int(idle.components.seconds))
        } else {
            try set(CURLOPT_FRESH_CONNECT, 1)
        }
        if !request.leavesConnection { try forbidReuse() }
        // Breaking off must not wait for a name server that is silent.
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_NOSIGNAL, 1)
        if let jar = request.session?.jar(for: request.url) { try join(jar) }
        try connect(by: request.connection)
        // Above 32 KiB a burst of response bytes is never left waiting for a timer.
        try set(CURLOPT_BUFFERSIZE, 131_072)
        // Our own deadline comes first; without this libcurl has one of 300 s.
        let connect = request.deadlines.connect + .seconds(1)
        try set(CURLOPT_CONNECTTIMEOUT_MS, connect.wholeMilliseconds(upTo: Int(Int32.max)))
        // "Expect" is sent for services alone that want it: those that ignore it cost a second of
        // dead air. "Transfer-Encoding" is libcurl's own to write.
        let expectation = request.expectsContinue ? "Expect: 100-continue" : "Expect:"
        let lines = (request.headers + request.lateHeaders()).map { name, value in
            // "Name:" would take a field away; this is how libcurl is told to send an empty one.
            value.isEmpty ? "\(name);" : "\(name): \(value)"
        }
        try setHeaders([expectation] + lines)
    }

    func forbidReuse() throws(CurlRefusal) { try set(CURLOPT_FORBID_REUSE, 1) }
}
