// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import RecognitionEndpoint

/// "Resumable Uploads for HTTP" at the endpoint: a transcript is the answer of a resumed upload.
@Suite struct UploadTests {
    private let audio: [UInt8]

    init() throws { audio = try Samples.pcm("go-forward") }

    private let text = "go forward ten meters\n"
    private typealias Client = UploadClient

    // MARK: - Creation

    @Test func anUploadIsAnnouncedAtOnce() async throws {
        let clock = UploadClock()
        try await withUploads {
            $0.now = { clock.now }
        } _: { client async throws in
            for version in ["8", "6"] {
                let reply = try await onThread {
                    let raw = try RawClient(port: client.port)
                    try raw.sendHead(
                        "/recognize",
                        [
                            Client.pcm, "Accept: text/plain", Client.last,
                            "Upload-Draft-Interop-Version: \(version)",
                        ])
                    // Nothing of the body has been sent.
                    let first = try raw.readHead()
                    #expect(first.status == 104)
                    #expect(first.fields["upload-draft-interop-version"] == version)
                    #expect(first.fields["location"]?.count == "/uploads/".count + 32)
                    #expect(first.fields["upload-limit"] == "max-size=268435456, max-age=86400")
                    #expect(first.fields["upload-offset"] == nil)
                    try raw.sendEnd(audio)
                    return try Client.read(from: raw)
                }
                #expect(reply.status == 200)
                #expect(reply["upload-complete"] == "?1")
                #expect(reply.body == text)
            }
        }
    }

    @Test func aClientThatDoesNotSpeakItGetsWhatItGot() async throws {
        try await withUploads { client async throws in
            for fields in [
                [], ["Upload-Complete: ?1"],
                ["Upload-Complete: ?1", "Upload-Draft-Interop-Version: 3"],
                ["Upload-Draft-Interop-Version: 8", "Upload-Complete: 1"],
            ] {
                let reply = try await client.create(
                    [Client.pcm, "Accept: text/plain"] + fields, body: audio)
                #expect(reply.status == 200, "\(fields)")
                #expect(reply.interims.isEmpty, "\(fields)")
                #expect(reply["upload-complete"] == nil, "\(fields)")
                #expect(reply.body == text, "\(fields)")
            }
        }
    }

    @Test func withoutAFolderNothingIsOffered() async throws {
        try await TestEndpoint.run { port, _ in
            let client = Client(port: port)
            let reply = try await client.create(body: audio)
            #expect(reply.status == 200)
            #expect(reply.interims.isEmpty)
            #expect(try await client.send("HEAD", "/uploads/0123").status == 404)
            #expect(try await client.send("OPTIONS", "/recognize").status == 405)
        }
    }

    @Test func durableBytesAreReportedWhileTheyCome() async throws {
        try await withUploads {
            $0.uploadReportInterval = .zero
        } _: { client async throws in
            let (raw, first) = try await client.begin()
            #expect(first.status == 104)
            try await onThread {
                var offset = 0
                for _ in 0..<4 {
                    try raw.sendChunk(audio[offset..<offset + 1_000])
                    offset += 1_000
                    let head = try raw.readHead()
                    #expect(head.status == 104)
                    #expect(head.fields["upload-offset"] == "\(offset)")
                    #expect(head.fields["location"] == nil)
                }
                try raw.sendEnd(audio[offset...])
                #expect(try Client.read(from: raw).body == text)
            }
        }
    }

    @Test func partsInSeveralRequestsBecomeOneTextWhichStreams() async throws {
        try await withUploads { client async throws in
            let fields = [Client.pcm, "Accept: application/json", Client.version, Client.notLast]
            let first = try await client.create(fields)
            #expect(first.status == 201)
            #expect(first["upload-complete"] == "?0")
            #expect(first["upload-offset"] == "0")
            let place = try #require(first["location"])
            #expect(first.interims.first?.fields["location"] == place)
            let half = audio.count / 2
            let second = try await client.append(
                audio.prefix(half), at: 0, of: place, last: false)
            #expect(second.status == 204)
            #expect(second["upload-complete"] == "?0")
            #expect(second["upload-offset"] == "\(half)")
            let third = try await client.append(audio.dropFirst(half), at: half, of: place)
            #expect(third.status == 200)
            #expect(third["upload-complete"] == "?1")
            // As the first request has asked for.
            #expect(third["content-type"] == "application/json")
            #expect(third.body.contains("\"text\":\"go forward ten meters\""))

            // Partial texts stream in the answer of the request that is open.
            let later = try await client.breakOff(
                audio, after: half, ["Accept: application/x-ndjson"])
            try await onThread {
                let raw = try client.patch(later, at: half)
                try raw.sendChunk(audio[half..<audio.count - 2_000])
                // The text comes before the body is whole.
                let head = try raw.readHead()
                #expect(head.status == 200)
                #expect(head.fields["content-type"] == "application/x-ndjson")
                #expect(head.fields["upload-complete"] == "?1")
                #expect(try raw.readChunk().contains("\"type\":\"partial\""))
                try raw.sendEnd(audio[(audio.count - 2_000)...])
                #expect(try raw.readBody(head).contains("\"text\":\"go forward ten meters\""))
            }
        }
    }

    // MARK: - Resumption

    @Test func anUploadThatBreaksOffGoesOnAtItsByte() async throws {
        try await withUploads {
            $0.maximumConcurrentRecognitions = 1
        } _: { client async throws in
            for eighths in 0...8 {
                let cut = audio.count * eighths / 8
                let place = try await client.breakOff(audio, after: cut)
                #expect(try await client.offset(of: place) == cut)
                let reply = try await client.append(audio.dropFirst(cut), at: cut, of: place)
                #expect(reply.status == 200, "\(cut)")
                #expect(reply["upload-complete"] == "?1", "\(cut)")
                #expect(reply.body == text, "\(cut)")
            }
        }
    }

    /// The recogniser either waits for the rest, or begins again from the disk.
    @Test(arguments: [Duration.ages, .zero])
    func anUploadMayBreakOffAgainAndAgain(patience: Duration) async throws {
        let audio = try Samples.wav("go-forward")
        let step = audio.count / 8
        try await withUploads {
            $0.maximumConcurrentRecognitions = 1
            $0.uploadPatience = patience
        } _: { client async throws in
            let fields = [
                "Content-Type: audio/wav", "Accept: text/plain", Client.version, Client.notLast,
            ]
            let place = try #require(try await client.create(fields)["location"])
            for number in 0..<8 {
                let offset = number * step
                try await client.breakOff(
                    Array(audio.dropFirst(offset)), after: step, at: offset, of: place)
                #expect(try await client.offset(of: place) == offset + step)
            }
            let rest = audio.dropFirst(8 * step)
            #expect(try await client.append(rest, at: 8 * step, of: place).body == text)
        }
    }

    /// Also one that was whole, and has no answer yet.
    @Test(arguments: [1, 3])
    func anUploadSurvivesTheEndpoint(thirds: Int) async throws {
        let cut = audio.count * thirds / 3
        let folder = try TemporaryFolder()
        let place = try await withUploads(in: folder) { client async throws in
            try await client.breakOff(audio, after: cut)
        }
        try await withUploads(in: folder) { client async throws in
            #expect(try await client.offset(of: place) == cut)
            let reply = try await client.append(audio.dropFirst(cut), at: cut, of: place)
            #expect(reply.body == text)
        }
        // And so does the answer, without the audio.
        try await withUploads(in: folder, hears: false) { client async throws in
            let head = try await client.send("HEAD", place)
            #expect(head["upload-complete"] == "?1")
            #expect(head["upload-offset"] == "\(audio.count)")
            #expect(try await client.append([], at: audio.count, of: place).body == text)
        }
    }

    // MARK: - Requests that do not fit

    @Test func anAppendThatDoesNotFitIsRefusedWithTheReason() async throws {
        try await withUploads { client async throws in
            let place = try await client.breakOff(audio, after: 40_000)
            for offset in [0, 39_999, 40_001, audio.count] {
                let reply = try await client.append(audio, at: offset, of: place)
                #expect(reply.status == 409)
                #expect(reply["upload-offset"] == "40000")
                #expect(reply["upload-complete"] == "?0")
                #expect(reply["content-type"] == "application/problem+json")
                #expect(reply.body.contains("#mismatching-upload-offset\""))
                #expect(reply.body.contains("\"expected-offset\":40000"))
                #expect(reply.body.contains("\"provided-offset\":\(offset)"))
            }
            let rest = try await client.append(audio.dropFirst(40_000), at: 40_000, of: place)
            #expect(rest.body == text)

            // A part that lacks a field, or has a wrong one, is refused.
            let short = try await client.breakOff([0, 0, 0, 0], after: 2)
            let offset = "Upload-Offset: 2"
            for (fields, status) in [
                ([Client.pcm, Client.last, offset], 415), ([Client.last, offset], 415),
                ([Client.more, Client.last], 400), ([Client.more, offset], 400),
                ([Client.more, Client.last, "Upload-Offset: two"], 400),
            ] {
                let reply = try await client.send("PATCH", short, fields, body: [0, 0])
                #expect(reply.status == status)
            }
            #expect(try await client.send("POST", short, [Client.pcm]).status == 405)
            #expect(try await client.append([], at: 0, of: "/uploads/no").status == 404)
            #expect(try await client.offset(of: short) == 2)
        }
    }

    @Test func theLengthMustAgree() async throws {
        try await withUploads(hears: false) { client async throws in
            let both = try await client.create(
                [Client.pcm, Client.version, Client.last, "Upload-Length: 5"], body: [0, 0])
            #expect(both.status == 400)
            #expect(both["content-type"] == "application/problem+json")
            #expect(both.body.contains("#inconsistent-upload-length\""))

            let fields = [Client.pcm, Client.version, Client.notLast, "Upload-Length: 4"]
            let place = try #require(try await client.create(fields, body: [0, 0])["location"])
            #expect(try await client.send("HEAD", place)["upload-length"] == "4")
            // Another length, in words and by the body's end.
            let other = try await client.append(
                [0, 0], at: 2, of: place, ["Upload-Length: 6"])
            #expect(other.status == 400)
            #expect(try await client.append([0], at: 2, of: place).status == 400)
            #expect(try await client.offset(of: place) == 2)
            let rest = try await client.append([0, 0], at: 2, of: place)
            #expect(rest.status == 200, "\(rest.body)")

            // More bytes than the length end the upload.
            let (raw, first) = try await client.begin(["Upload-Length: 4"])
            let long = try #require(first.fields["location"])
            let reply = try await onThread {
                try raw.sendChunk([0, 0, 0, 0, 0, 0])
                return try Client.read(from: raw)
            }
            #expect(reply.status == 400)
            #expect(reply.body.contains("#inconsistent-upload-length\""))
            #expect(try await client.send("HEAD", long).status == 404)
        }
    }

    @Test func whatIsAnsweredIsOver() async throws {
        try await withUploads { client async throws in
            let wav = [Client.version, Client.last, "Content-Type: audio/wav"]
            let reply = try await client.create(
                wav, body: Array("this is no RIFF file at all".utf8))
            #expect(reply.status == 400)
            #expect(reply["upload-complete"] == "?1")
            let place = try #require(reply.interims.first?.fields["location"])
            #expect(try await client.send("HEAD", place).status == 404)

            let fields = [
                Client.pcm, "Accept: text/plain", Client.version, Client.last,
                "Idempotency-Key: k",
            ]
            for _ in 0..<2 {
                #expect(try await client.create(fields, body: audio).body == text)
            }
            let other = try await client.create(fields, body: Array(audio.dropLast(2)))
            #expect(other.status == 422)
            #expect(other["upload-complete"] == "?1")

            // A lost answer is given again.
            let (raw, first) = try await client.begin(["X-Misbehave: truncate-answer"])
            let lost = try #require(first.fields["location"])
            try await onThread {
                try raw.sendEnd(audio)
                // Half of the answer comes.
                _ = try? raw.readToEnd()
            }
            let head = try await client.send("HEAD", lost)
            #expect(head["upload-complete"] == "?1")
            for _ in 0..<2 {
                let again = try await client.append([], at: audio.count, of: lost)
                #expect(again.status == 200)
                #expect(again["upload-complete"] == "?1")
                #expect(again.body == text)
            }
            // It is complete, so nothing more is taken.
            for (bytes, isLast) in [([0, 0], true), ([], false)] as [([UInt8], Bool)] {
                let more = try await client.append(
                    bytes, at: audio.count, of: lost, last: isLast)
                #expect(more.status == 400)
                #expect(more["upload-complete"] == "?0")
            }
        }
    }

    // MARK: - One request at a time

    @Test func theNewerRequestWins() async throws {
        try await withUploads {
            $0.maximumConcurrentRecognitions = 1
        } _: { client async throws in
            for method in ["PATCH", "DELETE", "HEAD"] {
                let place = try await client.breakOff(audio, after: 10_000)
                let old = try await onThread {
                    let raw = try client.patch(place, at: 10_000, ["Expect: 100-continue"])
                    // It has the upload now.
                    #expect(try raw.readHead().status == 100)
                    return raw
                }
                switch method {
                case "HEAD": #expect(try await client.offset(of: place) == 10_000)
                case "DELETE": #expect(try await client.send("DELETE", place).status == 204)
                default:
                    let rest = audio.dropFirst(10_000)
                    #expect(try await client.append(rest, at: 10_000, of: place).body == text)
                }
                try await onThread {
                    // It is closed, with or without a word.
                    let rest = (try? old.readToEnd()) ?? []
                    #expect(!String(decoding: rest, as: UTF8.self).contains("HTTP/1.1 200"))
                }
            }
        }
    }
}
