// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import RecognitionEndpoint

/// What clients get that speak an older HTTP, or one that is not quite HTTP.
@Suite struct ProtocolTests {
    private let audio: [UInt8]

    init() throws { audio = try Samples.pcm("go-forward") }

    // MARK: - HTTP/1.0

    @Test(.spec("RFC 9112 §6.1"), .spec("RFC 9112 §9.3"))
    func anHTTP10RequestGetsItsAnswerUntilTheConnectionEnds() async throws {
        let fields = ["Accept: */*", "Connection: keep-alive", "Expect: 100-continue"]
        try await TestEndpoint.serve(each: fields) { client, field in
            let answer = try client.exchange(
                [
                    "POST /recognize HTTP/1.0", "Content-Type: audio/pcm",
                    "Content-Length: \(audio.count)", field,
                ], body: audio)
            #expect(answer.head.hasPrefix("http/1.1 200 ok"), "\(field)")
            #expect(!answer.head.contains("transfer-encoding"), "\(field)")
            #expect(!answer.head.contains("content-length"), "\(field)")
            #expect(answer.head.contains("connection: close"), "\(field)")
            let lines = answer.body.split(separator: "\n")
            #expect(lines.count > 1, "\(field)")
            #expect(lines.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") }, "\(field)")
            #expect(lines.last?.contains("\"text\":\"go forward ten meters\"") == true, "\(field)")
        }
    }

    @Test(.spec("RFC 9112 §6.1"))
    func aWholeAnswerToHTTP10HasItsLengthAndABodyInChunksIs400() async throws {
        try await TestEndpoint.run { port, _ in
            func exchange(
                _ lines: [String], body: [UInt8] = []
            ) async throws -> (head: String, body: String) {
                try await onThread { try RawClient(port: port).exchange(lines, body: body) }
            }
            let answer = try await exchange(["GET /healthz HTTP/1.0"])
            #expect(answer.head.contains("content-length: \(answer.body.utf8.count)"))
            #expect(answer.head.contains("connection: close"))
            #expect(try await exchange(["GET / HTTP/1.0"]).head.hasPrefix("http/1.1 404"))
            let refusal = try await exchange(
                [
                    "POST /recognize HTTP/1.0", "Content-Type: audio/pcm",
                    "Transfer-Encoding: chunked",
                ], body: Array("0\r\n\r\n".utf8))
            #expect(refusal.head.hasPrefix("http/1.1 400"))
            #expect(refusal.body.contains("HTTP/1.0 has no Transfer-Encoding"), "\(refusal.body)")
            let text = try await onThread {
                try ForeignTool("curl").run([
                    "-sS", "--http1.0", "--data-binary", "@\(Samples.folder)/go-forward.wav",
                    "-H", "Content-Type: audio/wav", "http://127.0.0.1:\(port)/recognize",
                ]).text
            }
            #expect(text.contains("\"text\":\"go forward ten meters\",\"type\":\"final\""))
        }
    }

    @Test(.spec("RFC 9112 §9.6"))
    func theConnectionEndsWhenTheClientSaysSo() async throws {
        let values = ["close", "Close", "TE, close"]
        try await TestEndpoint.serve(each: values, TestEndpoint.withoutSound) { client, value in
            let answer = try client.exchange(
                ["GET /healthz HTTP/1.1", "Host: test", "Connection: \(value)"])
            #expect(answer.head.contains("connection: close"), "\(value)")
        }
    }

    @Test func anAnswerToHTTP11HasAnEndOfItsOwnThoughTheConnectionEnds() async throws {
        // The client says so, or sends its last word and then listens.
        try await TestEndpoint.serve(each: [["Connection: close"], []]) { client, fields in
            try client.sendHead("/recognize", ["Content-Type: audio/pcm"] + fields)
            try client.sendEnd(audio)
            if fields.isEmpty { client.endSending() }
            let answer = try client.readAnswer()
            #expect(answer.head.status == 200)
            #expect(answer.head.fields["transfer-encoding"] == "chunked")
            if !fields.isEmpty { #expect(answer.head.fields["connection"] == "close") }
            #expect(
                answer.body.contains("\"text\":\"go forward ten meters\",\"type\":\"final\""))
            #expect(try client.readToEnd() == [])
        }
    }

    // MARK: - Host and transfer codings

    @Test(.spec("RFC 9112 §3.2"))
    func aRequestHasOneHostAndAnyWillDo() async throws {
        let fields = [
            (["Accept: */*"], 400), (["Host: test", "Host: test"], 400),
            (["Host: test", "Host: other"], 400), (["Host: a/b"], 400), (["Host: a b"], 400),
            (["Host:"], 200), (["Host: [::1]:8517"], 200), (["Host: nas.local"], 200),
        ]
        try await TestEndpoint.serve(each: fields, TestEndpoint.withoutSound) { client, sent in
            let (fields, status) = sent
            let answer = try client.exchange(
                ["GET /healthz HTTP/1.1", "Connection: close"] + fields)
            #expect(answer.head.hasPrefix("http/1.1 \(status)"), "\(fields)")
            #expect(status == 200 || answer.body.contains("Host"), "\(answer.body)")
        }
    }

    /// A page of another site may have given this machine's address to its name.
    @Test(.spec("RFC 9110 §15.5.20"), arguments: [nil, "sesame"])
    func aNameOfTheInternetWantsAToken(token: String?) async throws {
        try await TestEndpoint.run {
            TestEndpoint.withoutSound(&$0)
            $0.bearerToken = token.flatMap { BearerToken($0) }
        } _: { port, _ in
            for (host, status) in [
                ("talks.example:\(port)", 421), ("127.0.0.1.example", 421), ("localhost", 200),
                ("NAS.lan:80", 200), ("192.168.1.2:\(port)", 200), ("[::1]:8517", 200),
            ] {
                let answer = try await onThread {
                    try RawClient(port: port).exchange([
                        "GET /v1/models HTTP/1.1", "Connection: close", "Host: \(host)",
                        "Authorization: Bearer sesame",
                    ])
                }
                let expected = token == nil ? status : 200
                #expect(answer.head.hasPrefix("http/1.1 \(expected)"), "\(host): \(answer.head)")
            }
        }
    }

    @Test(.spec("RFC 9112 §6.1"))
    func aTransferCodingThatIsNotKnownIs501() async throws {
        let codings = ["gzip, chunked", "deflate,chunked", "gzip , Chunked"]
        try await TestEndpoint.serve(each: codings, TestEndpoint.withoutSound) { client, coding in
            let lines = [
                "POST /recognize HTTP/1.1", "Host: test", "Content-Type: audio/pcm",
                "Transfer-Encoding: \(coding)", "", "0", "", "",
            ]
            try client.send(Array(lines.joined(separator: "\r\n").utf8))
            let answer = try client.readAnswer()
            #expect(answer.head.status == 501, "\(coding)")
            #expect(answer.body.contains("the transfer coding '\(coding)' is not supported"))
        }
    }

    // MARK: - What is not HTTP

    private static let foreign: [(lines: [String], reason: String)] = [
        (["SPEAK now"], "invalid HTTP method"),
        (["GET /healthz HTTP/2.0", "Host: test"], "invalid HTTP version"),
        (["POST / HTTP/1.1", "Host: test", "Content-Length: +4"], "content-length header"),
        (
            ["POST / HTTP/1.1", "Host: test", "Content-Length: 4", "Transfer-Encoding: chunked"],
            "its framing is not understood"
        ),
        (["GET / HTTP/1.1", "Host: test", "A B: c"], "invalid character in header"),
        (
            ["GET / HTTP/1.1", "X: " + String(repeating: "x", count: 20_000)],
            "its head is too long"
        ),
    ]

    @Test func whatIsNotHTTPIsToldWhy() async throws {
        try await TestEndpoint.serve(each: Self.foreign, TestEndpoint.withoutSound) {
            client, sent in
            let answer = try client.exchange(sent.lines)
            #expect(answer.head.hasPrefix("http/1.1 400"), "\(sent.reason)")
            #expect(answer.head.contains("connection: close"), "\(sent.reason)")
            #expect(answer.head.contains("content-length: \(answer.body.utf8.count)"))
            #expect(
                answer.body.hasPrefix("{\"error\":{\"message\":\"the request is not valid HTTP: "))
            #expect(answer.body.contains(sent.reason), "\(answer.body)")
        }
    }

    // MARK: - Clients that read late

    @Test(arguments: [["-c:a", "libopus", "-f", "ogg"], ["-f", "wav"]])
    func whatFfmpegStreamsIsHeardToItsEnd(format: [String]) async throws {
        let (requests, served) = AsyncStream.makeStream(of: ServedRequest.self)
        try await TestEndpoint.run {
            $0.onRequest = { served.yield($0) }
            // A slow recogniser is not stopped because its client has gone.
            $0.patience.look = .ages
        } _: { port, _ in
            // It ends without reading, and resets the connection if there is anything to read.
            _ = try await onThread {
                try ForeignTool("ffmpeg").run(
                    ["-loglevel", "error", "-re", "-i", "\(Samples.folder)/go-forward.wav"]
                        + format + [
                            "-content_type", format.last == "ogg" ? "audio/ogg" : "audio/wav",
                            "-headers", "Accept: text/plain\r\n", "-method", "POST",
                            "http://127.0.0.1:\(port)/recognize",
                        ])
            }
            let request = try #require(await requests.first { _ in true })
            #expect(request.byteCount > 5_000 && request.status == 200)
            let heard = try #require(request.audioDuration)
            #expect((2.78...2.82).contains(heard), "\(heard)")
        }
    }
}

extension RawClient {
    /// Sends a head and a body as they are, and reads until the server ends the connection.
    fileprivate func exchange(
        _ lines: [String], body: [UInt8] = []
    ) throws -> (head: String, body: String) {
        try send(Array((lines + ["", ""]).joined(separator: "\r\n").utf8) + body)
        let received = try readTextToEnd()
        let end = try #require(received.firstRange(of: "\r\n\r\n"), "\(received)")
        return (received[..<end.lowerBound].lowercased(), String(received[end.upperBound...]))
    }
}
