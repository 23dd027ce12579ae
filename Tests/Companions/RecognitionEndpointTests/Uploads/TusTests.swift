// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import RecognitionEndpoint

@Suite struct TusTests {
    private let audio: [UInt8]

    init() throws { audio = try Samples.wav("go-forward") }

    private let text = "go forward ten meters\n"
    private let version = "Tus-Resumable: 1.0.0"
    private let more = "Content-Type: application/offset+octet-stream"
    /// `filetype audio/wav` in base64.
    private let metadata = "Upload-Metadata: filename YS53YXY=,filetype YXVkaW8vd2F2"

    private func create(
        _ client: UploadClient, _ fields: [String], body: [UInt8] = []
    ) async throws -> UploadClient.Reply {
        try await client.create([version, metadata, "Accept: text/plain"] + fields, body: body)
    }

    private func append(
        _ client: UploadClient, _ bytes: some Sequence<UInt8>, at offset: Int, of place: String,
        _ fields: [String] = []
    ) async throws -> UploadClient.Reply {
        let fields = [version, more, "Upload-Offset: \(offset)"] + fields
        return try await client.send("PATCH", place, fields, body: Array(bytes))
    }

    @Test(.spec("RFC 9110 §5.6.7"))
    func thePatchThatCompletesAnUploadIsAnsweredWithItsText() async throws {
        let half = audio.count / 2
        let clock = UploadClock()
        try await withUploads {
            $0.now = { clock.now }
        } _: { client async throws in
            let first = try await create(client, ["Upload-Length: \(audio.count)"])
            #expect(first.status == 201)
            #expect(first.interims.isEmpty)
            #expect(first["tus-resumable"] == "1.0.0")
            #expect(first["upload-offset"] == "0")
            #expect(first["upload-expires"] == "Sat, 16 Jan 2027 08:00:00 GMT")
            let place = try #require(first["location"])
            let part = try await append(client, audio.prefix(half), at: 0, of: place)
            #expect(part.status == 204)
            #expect(part["upload-offset"] == "\(half)")
            let head = try await client.send("HEAD", place, [version])
            #expect(head["upload-offset"] == "\(half)")
            #expect(head["upload-length"] == "\(audio.count)")
            #expect(head["cache-control"] == "no-store")
            let last = try await append(client, audio.dropFirst(half), at: half, of: place)
            #expect(last.status == 200)
            #expect(last["upload-offset"] == "\(audio.count)")
            #expect(last["tus-resumable"] == "1.0.0")
            #expect(last.body == text)
        }
    }

    @Test func aRecordingMayTellItsLengthAtTheEnd() async throws {
        try await withUploads { client async throws in
            let first = try await create(client, ["Upload-Defer-Length: 1"])
            let place = try #require(first["location"])
            let head = try await client.send("HEAD", place, [version])
            #expect(head["upload-defer-length"] == "1")
            #expect(head["upload-length"] == nil)
            let live = try await onThread {
                let raw = try RawClient(port: client.port)
                try raw.sendHead(
                    place, [version, more, "Upload-Offset: 0"], method: "PATCH")
                try raw.sendChunk(audio[..<9_000])
                try raw.sendEnd(audio[9_000...])
                return try UploadClient.read(from: raw)
            }
            #expect(live.status == 204)
            #expect(live["upload-offset"] == "\(audio.count)")
            let length = "Upload-Length: \(audio.count)"
            let last = try await append(client, [], at: audio.count, of: place, [length])
            #expect(last.status == 200)
            #expect(last.body == text)
            // Once: another length is refused.
            let other = try await append(
                client, [], at: audio.count, of: place, ["Upload-Length: 7"])
            #expect(other.status == 400)
        }
    }

    @Test func aFileComesAtOnceOrGoesOnBehindABreak() async throws {
        try await withUploads { client async throws in
            for eighths in [1, 4, 7] {
                let cut = audio.count * eighths / 8
                let first = try await create(client, ["Upload-Length: \(audio.count)"])
                let place = try #require(first["location"])
                try await client.breakOff(audio, after: cut, at: 0, of: place)
                let head = try await client.send("HEAD", place, [version])
                #expect(head["upload-offset"] == "\(cut)")
                let last = try await append(client, audio.dropFirst(cut), at: cut, of: place)
                #expect(last.body == text, "\(cut)")
            }
            // The first request may hold all bytes.
            let whole = try await create(
                client, [more, "Upload-Length: \(audio.count)"], body: audio)
            #expect(whole.status == 201)
            #expect(whole["upload-offset"] == "\(audio.count)")
            #expect(whole["location"] != nil)
            #expect(whole.body == text)
        }
    }

    @Test func itSaysWhatItCanDoAndRefusesWhatDoesNotFit() async throws {
        try await withUploads(hears: false) { client async throws in
            let reply = try await client.send("OPTIONS", "/recognize")
            #expect(reply.status == 204)
            #expect(reply["tus-version"] == "1.0.0")
            #expect(
                reply["tus-extension"]
                    == "creation,creation-defer-length,creation-with-upload,expiration,termination"
            )
            #expect(reply["tus-max-size"] == "268435456")
            #expect(reply["upload-limit"] == "max-size=268435456, max-age=86400")
            let other = try await client.create(["Tus-Resumable: 0.2.2", "Upload-Length: 1"])
            #expect(other.status == 412)
            #expect(other["tus-version"] == "1.0.0")
            #expect(try await create(client, []).status == 400)
            #expect(try await create(client, ["Upload-Length: 268435457"]).status == 413)
            let untyped = try await client.create([version, more, "Upload-Length: 1"])
            // Its first bytes will tell.
            #expect(untyped.status == 201)
            // `text/plain` in base64.
            let text = "Upload-Metadata: filetype dGV4dC9wbGFpbg=="
            let noSound = try await client.create([version, more, text, "Upload-Length: 1"])
            #expect(noSound.status == 415)

            let first = try await create(client, ["Upload-Length: 9"])
            let place = try #require(first["location"])
            let early = try await append(client, [0], at: 3, of: place)
            #expect(early.status == 409)
            #expect(early["tus-resumable"] == "1.0.0")
            let type = try await client.send(
                "PATCH", place, [version, "Upload-Offset: 0"], body: [0])
            #expect(type.status == 415)
            #expect(try await client.send("DELETE", place, [version]).status == 204)
            #expect(try await client.send("HEAD", place, [version]).status == 404)
        }
    }
}
