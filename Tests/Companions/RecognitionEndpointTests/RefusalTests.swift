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

    @Test func anUnknownPathIs404() async throws {
        let answer = try await TestEndpoint.serve { try $0.get("/") }
        #expect(answer.head.status == 404)
        let message = "there is nothing here; audio goes to /recognize"
        #expect(answer.body == "{\"error\":{\"message\":\"\(message)\"}}\n")
    }

    @Test(arguments: [("GET", "/recognize", "POST, PUT"), ("DELETE", "/healthz", "GET, HEAD")])
    func anotherMethodIs405AndTheRightOneIsNamed(
        method: String, path: String, allowed: String
    ) async throws {
        let answer = try await TestEndpoint.serve { client in
            try client.sendHead(path, method: method, framing: "Accept: */*")
            return try client.readAnswer()
        }
        #expect(answer.head.status == 405)
        #expect(answer.head.fields["allow"] == allowed)
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

    @Test(arguments: ["text/html", "audio/mpeg", "audio/pcm;rate=x", ""])
    func anUnknownMediaTypeIs415(type: String) async throws {
        let answer = try await TestEndpoint.answer([1, 2], type: type)
        #expect(answer.head.status == 415)
        #expect(
            answer.body.contains(
                "send audio/wav, audio/ogg;codecs=opus, audio/flac or audio/pcm"))
    }

    @Test(arguments: [
        ("*/*", "Content-Encoding: gzip", 415), ("image/png", "X-Own: 1", 406),
        ("*/*", "Origin: https://page.example", 403),
    ])
    func aFieldThatRulesAnAnswerOutIsRefused(
        accept: String, field: String, status: Int
    ) async throws {
        let answer = try await TestEndpoint.answer(
            [], type: Self.pcm, accept: accept, fields: [field])
        #expect(answer.head.status == status)
    }

    // MARK: - Bodies

    @Test(arguments: [
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
    ])
    func aBodyThatIsNoAudioIs400AndSaysWhy(
        type: String, text: String, reason: String
    ) async throws {
        try await TestEndpoint.run { port, _ in
            for accept in ["application/x-ndjson", "application/json"] {
                let answer = try await TestEndpoint.post(
                    Array(text.utf8), type: type, accept: accept, to: port)
                #expect(answer.head.status == 400)
                #expect(
                    answer.body.contains("the body cannot be decoded: \(reason)\"}}"),
                    "\(answer.body)")
            }
        }
    }

    @Test func aDeclaredLengthBeyondTheLimitIs413AtOnce() async throws {
        try await TestEndpoint.serve {
            $0.maximumBodyByteCount = 1_000
        } _: { client in
            try client.sendHead(
                "/recognize", ["Content-Type: \(Self.pcm)"], framing: "Content-Length: 1001")
            let answer = try client.readAnswer()
            #expect(answer.head.status == 413)
            #expect(answer.body.contains("the body is longer than 1000 bytes"))
        }
    }

    @Test func aBodyThatGrowsBeyondTheLimitIs413InItsMiddle() async throws {
        try await TestEndpoint.serve {
            $0.maximumBodyByteCount = 4_000
        } _: { client in
            try client.sendHead("/recognize", ["Content-Type: \(Self.pcm)"])
            try client.sendChunk([UInt8](repeating: 0, count: 4_000))
            try client.sendChunk([0, 0])
            // The body goes on, and the answer is there nevertheless.
            let answer = try client.readAnswer()
            #expect(answer.head.status == 413)
            #expect(try client.readToEnd() == [])
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

    @Test(arguments: [true, false])
    func aBodyThatBreaksOffGivesNoFinalText(isReset: Bool) async throws {
        try await TestEndpoint.run { port, _ in
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
    }

    @Test func aBodyThatBreaksOffAfterTheTextBeganEndsInALine() async throws {
        try await TestEndpoint.serve { client in
            try client.sendHead("/recognize", ["Content-Type: \(Self.pcm)"])
            try client.sendChunk(audio.prefix(64_000))
            let head = try client.readHead()
            client.endSending()
            let last = try client.readBody(head).split(separator: "\n").last
            let message = "the body broke off"
            #expect(last ?? "" == "{\"message\":\"\(message)\",\"type\":\"error\"}")
            #expect(try client.readToEnd() == [])
        }
    }

    @Test(.spec("RFC 9110 §15.5.9"))
    func aClientThatFallsSilentIsToldSo() async throws {
        try await TestEndpoint.serve {
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

    @Test(arguments: [
        ["Content-Length: 4", "Transfer-Encoding: chunked"],
        ["Transfer-Encoding: chunked", "Content-Length: 4"],
        ["Content-Length: 4", "Content-Length: 5"],
        ["Content-Length: +4"], ["Content-Length: 4, 4"],
        ["Transfer-Encoding: chunked, identity"],
        ["Transfer-Encoding: xchunked"],
        ["Content-Length: 4", " folded: yes"],
        ["Content-Length : 4"],
        ["X-Null: a\u{0}b", "Content-Length: 4"],
    ])
    func framingThatTwoServersMightReadDifferentlyIsRefused(fields: [String]) async throws {
        let lines = ["POST /recognize HTTP/1.1", "Content-Type: audio/pcm"] + fields
        let received = try await TestEndpoint.serve { client in
            let head = (lines + ["Host: test", "", ""]).joined(separator: "\r\n")
            try client.send(Array((head + "0\r\n\r\n").utf8))
            return try client.readTextToEnd()
        }
        let statuses = ["HTTP/1.1 400 ", "HTTP/1.1 501 "]
        #expect(statuses.contains { received.hasPrefix($0) }, "\(received)")
        #expect(received.split(separator: "HTTP/1.1").count <= 1)
    }
}
