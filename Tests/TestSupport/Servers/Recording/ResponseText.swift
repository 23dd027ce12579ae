// SPDX-License-Identifier: Apache-2.0

/// The bytes of responses (RFC 9112 §4, §7.1).
enum ResponseText {
    static let lastChunk = Array("0\r\n\r\n".utf8)

    static func whole(status: Int, headers: [HeaderField], body: [UInt8]) -> [UInt8] {
        let isFramed = headers.contains {
            $0.isNamed("Content-Length") || $0.isNamed("Transfer-Encoding")
        }
        let hasNoBody = status < 200 || status == 204 || status == 304
        let framing =
            isFramed || hasNoBody ? [] : [HeaderField("Content-Length", String(body.count))]
        return head(status: status, headers: headers + framing) + body
    }

    /// The head of a response whose body comes in chunks.
    static func chunkedHead(status: Int, headers: [HeaderField]) -> [UInt8] {
        head(status: status, headers: headers + [HeaderField("Transfer-Encoding", "chunked")])
    }

    static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        Array((String(bytes.count, radix: 16) + "\r\n").utf8) + bytes + [13, 10]
    }

    private static func head(status: Int, headers: [HeaderField]) -> [UInt8] {
        let lines = headers.map { "\($0.name): \($0.value)\r\n" }.joined()
        let reason = status == 200 ? "OK" : "Status"
        return Array("HTTP/1.1 \(status) \(reason)\r\n\(lines)\r\n".utf8)
    }
}
