// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import RecognitionEndpoint

/// What the endpoint says when it gives no text.
@Suite struct RefusalTests {
    private let audio: [UInt8]

    init() throws { audio = try Samples.pcm("go-forward") }

    private static let pcm = "audio/pcm"

    // MARK: - Statuses

    @Test func whatIsNotOfferedOrNoAudioHasItsStatus() async throws {
        try await TestEndpoint.run(TestEndpoint.withoutSound) { port, _ in
            let unknown = try await onThread { try RawClient(port: port).get("/") }
            #expect(unknown.head.status == 404)
            let message = "there is nothing here; audio goes to /recognize"
            #expect(unknown.body == "{\"error\":{\"message\":\"\(message)\"}}\n")
            for (method, path, allowed) in [
                ("GET", "/recognize", "POST, PUT"), ("DELETE", "/healthz", "GET, HEAD"),
            ] {
                let answer = try await onThread {
                    let client = try RawClient(port: port)
                    try client.sendHead(path, method: method, framing: "Accept: */*")
                    return try client.readAnswer()
                }
                #expect(answer.head.status == 405, "\(method)")
                #expect(answer.head.fields["allow"] == allowed)
            }
            for type in ["text/html", "audio/mpeg", "audio/pcm;rate=x", ""] {
                let answer = try await TestEndpoint.post([1, 2], type: type, to: port)
                #expect(answer.head.status == 415, "\(type)")
                #expect(
                    answer.body.contains(
                        "send audio/wav, audio/ogg;codecs=opus, audio/flac or audio/pcm"))
            }
            for (accept, field, status) in [
                ("*/*", "Content-Encoding: gzip", 415), ("image/png", "X-Own: 1", 406),
                ("*/*", "Origin: https://page.example", 403),
            ] {
                let answer = try await TestEndpoint.post(
                    [], type: Self.pcm, accept: accept, to: port, fields: [field])
                #expect(answer.head.status == status, "\(field)")
            }
            // A body that is no audio is told why.
            for (type, text, reason) in [
                (
                    "audio/wav", "this is no WAV file at all, not in the least, is it",
                    "this is not audio: it begins like text, with 'this'"
                ),
                ("audio/wav", "RIFF", "byte 4: the file ends before its data chunk"),
                (
                    "audio/ogg", "OggX is a page of no Ogg file at all",
                    "Ogg Opus: byte 0 does not begin an intact Ogg page"
                ),
                ("audio/ogg", "", "Ogg Opus: the stream ended before its headers were complete"),
            ] {
                for accept in ["application/x-ndjson", "application/json"] {
                    let answer = try await TestEndpoint.post(
                        Array(text.utf8), type: type, accept: accept, to: port)
                    #expect(answer.head.status == 400, "\(reason)")
                    #expect(
                        answer.body.contains("the body cannot be decoded: \(reason)\"}}"),
                        "\(answer.body)")
                }
            }
        }
    }

    @Test func aMissingOrWrongTokenIs401WhileTheBodyIsStillComing() async throws {
        try await TestEndpoint.run {
            $0.bearerToken = BearerToken("open-sesame")
        } _: { port, _ in
            for field in [
                "Accept: */*", "Authorization: Bearer open-sesamf",
                "Authorization: Basic open-sesame",
            ] {
                try await onThread {
                    let client = try RawClient(port: port)
                    try client.sendHead("/recognize", ["Content-Type: \(Self.pcm)", field])
                    try client.sendChunk(audio.prefix(3_200))
                    let answer = try client.readAnswer()
                    #expect(answer.head.status == 401)
                    #expect(answer.head.fields["www-authenticate"] == "Bearer")
                    #expect(answer.head.fields["connection"] == "close")
                    #expect(!answer.body.contains("sesame"))
                }
            }
            let answer = try await TestEndpoint.post(
                audio, type: Self.pcm, to: port, fields: ["Authorization: bearer open-sesame"])
            #expect(answer.body == "go forward ten meters\n")
        }
    }

    // MARK: - Bodies

    @Test func aBodyBeyondTheLimitIs413AtOnceOrInItsMiddle() async throws {
        try await TestEndpoint.serve(each: [true, false]) {
            TestEndpoint.withoutSound(&$0)
            $0.maximumBodyByteCount = 4_000
        } _: { client, isDeclared in
            if isDeclared {
                try client.sendHead(
                    "/recognize", ["Content-Type: \(Self.pcm)"], framing: "Content-Length: 4001")
            } else {
                try client.sendHead("/recognize", ["Content-Type: \(Self.pcm)"])
                try client.sendChunk([UInt8](repeating: 0, count: 4_000))
                try client.sendChunk([0, 0])
            }
            // The body goes on, and the answer is there nevertheless.
            let answer = try client.readAnswer()
            #expect(answer.head.status == 413)
            #expect(answer.body.contains("the body is longer than 4000 bytes"))
            if !isDeclared { #expect(try client.readToEnd() == []) }
        }
    }

    @Test func whatGoesWrongAfterTheTextBeganIsALine() async throws {
        try await TestEndpoint.serve {
            $0.maximumBodyByteCount = 64_000
        } _: { client in
            try client.sendHead("/recognize", ["Content-Type: \(Self.pcm)"])
            try client.sendChunk(audio.prefix(64_000))
            let head = try client.readHead()
            #expect(try client.readChunk().contains("partial"))
            try client.sendChunk(audio.dropFirst(64_000))
            let last = try client.readBody(head).split(separator: "\n").last
            let message = "the body is longer than 64000 bytes"
            #expect(last ?? "" == "{\"message\":\"\(message)\",\"type\":\"error\"}")
        }
    }

    @Test func aBodyThatBreaksOffGivesNoFinalText() async throws {
        try await TestEndpoint.run { port, _ in
            for isReset in [true, false] {
                let received = try await onThread {
                    let client = try RawClient(port: port)
                    try client.sendHead("/recognize", ["Content-Type: \(Self.pcm)"])
                    try client.sendChunk(audio)
                    if isReset { return "" }
                    client.endSending()
                    return try client.readTextToEnd()
                }
                #expect(!received.contains("final"))
                // The recogniser is free again.
                for _ in 0..<2 {
                    let answer = try await TestEndpoint.post(audio, type: Self.pcm, to: port)
                    #expect(answer.body == "go forward ten meters\n")
                }
            }
            try await onThread {
                let client = try RawClient(port: port)
                try client.sendHead("/recognize", ["Content-Type: \(Self.pcm)"])
                try client.sendChunk([0, 0])
                client.endSending()
                let answer = try client.readAnswer()
                #expect(answer.head.status == 400)
                #expect(answer.body.contains("it ended in its middle"), "\(answer.body)")
                // After the text began it ends in a line.
                let later = try RawClient(port: port)
                try later.sendHead("/recognize", ["Content-Type: \(Self.pcm)"])
                try later.sendChunk(audio.prefix(64_000))
                let head = try later.readHead()
                later.endSending()
                let last = try later.readBody(head).split(separator: "\n").last
                let message = "the body broke off"
                #expect(last ?? "" == "{\"message\":\"\(message)\",\"type\":\"error\"}")
                #expect(try later.readToEnd() == [])
            }
        }
    }

    @Test(.spec("RFC 9110 §15.5.9"))
    func aClientThatFallsSilentIsToldSo() async throws {
        try await TestEndpoint.serve {
            TestEndpoint.withoutSound(&$0)
            $0.idleTimeout = .milliseconds(300)
        } _: { client in
            try client.sendHead("/recognize", ["Content-Type: \(Self.pcm)"])
            try client.sendChunk([0, 0])
            let answer = try client.readAnswer()
            #expect(answer.head.status == 408)
            #expect(answer.body.contains("nothing of the body has come for 0.3 s"))
            #expect(try client.readToEnd() == [])
        }
    }

    // MARK: - Framing

    @Test func framingThatTwoServersMightReadDifferentlyIsRefused() async throws {
        let framings = [
            ["Content-Length: 4", "Transfer-Encoding: chunked"],
            ["Transfer-Encoding: chunked", "Content-Length: 4"],
            ["Content-Length: 4", "Content-Length: 5"],
            ["Content-Length: +4"], ["Content-Length: 4, 4"],
            ["Transfer-Encoding: chunked, identity"],
            ["Transfer-Encoding: xchunked"],
            ["Content-Length: 4", " folded: yes"],
            ["Content-Length : 4"],
            ["X-Null: a\u{0}b", "Content-Length: 4"],
        ]
        try await TestEndpoint.serve(each: framings, TestEndpoint.withoutSound) { client, fields in
            let lines = ["POST /recognize HTTP/1.1", "Content-Type: audio/pcm"] + fields
            let head = (lines + ["Host: test", "", ""]).joined(separator: "\r\n")
            try client.send(Array((head + "0\r\n\r\n").utf8))
            let received = try client.readTextToEnd()
            let statuses = ["HTTP/1.1 400 ", "HTTP/1.1 501 "]
            #expect(statuses.contains { received.hasPrefix($0) }, "\(fields): \(received)")
            #expect(received.split(separator: "HTTP/1.1").count <= 1, "\(fields)")
        }
    }
}
