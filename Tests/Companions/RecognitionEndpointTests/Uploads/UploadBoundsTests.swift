// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import RecognitionEndpoint

/// The names in the folder of `withUploads`.
func folderEntries(_ folder: TemporaryFolder) throws -> [String] {
    try Folder.names(at: folder.path("uploads"))
}

/// What ends an upload that its client does not end.
@Suite struct UploadBoundsTests {
    private let audio: [UInt8]

    init() throws { audio = try Samples.pcm("go-forward") }

    private typealias Client = UploadClient
    private let fields = [Client.pcm, Client.version, Client.notLast]

    private func create(_ client: Client, _ bytes: Int = 0) async throws -> Client.Reply {
        try await client.create(fields, body: [UInt8](repeating: 0, count: bytes))
    }

    @Test func anUploadExpires() async throws {
        let clock = UploadClock()
        let folder = try TemporaryFolder()
        try await withUploads(in: folder, hears: false) {
            $0.now = { clock.now }
            $0.uploadLifetime = .seconds(60)
        } _: { client async throws in
            let first = try await create(client, 10)
            #expect(first["upload-limit"] == "max-size=268435456, max-age=60")
            let place = try #require(first["location"])
            clock.advance(by: 59)
            let head = try await client.send("HEAD", place)
            #expect(head["upload-limit"] == "max-size=268435456, max-age=1")
            clock.advance(by: 1)
            #expect(try await client.send("HEAD", place).status == 404)
            #expect(try folderEntries(folder) == [])
            // An upload that expires while it comes is ended.
            let (raw, _) = try await client.begin()
            try await onThread { try raw.sendChunk([0, 0]) }
            clock.advance(by: 60)
            #expect(try await client.send("GET", "/healthz").status == 200)
            let reply = try await onThread { try Client.read(from: raw) }
            #expect(reply.status == 410)
        }
    }

    @Test func anUploadExpiresWhileNoEndpointRuns() async throws {
        let clock = UploadClock()
        let folder = try TemporaryFolder()
        let place = try await withUploads(in: folder, hears: false) {
            $0.now = { clock.now }
        } _: { client async throws in
            try #require(try await create(client, 10)["location"])
        }
        clock.advance(by: 86_400)
        try await withUploads(in: folder, hears: false) {
            $0.now = { clock.now }
        } _: { client async throws in
            #expect(try folderEntries(folder) == [])
            #expect(try await client.send("HEAD", place).status == 404)
        }
    }

    @Test func aClientHasSoManyUploads() async throws {
        try await withUploads(hears: false) {
            $0.maximumUploadCountPerClient = 2
        } _: { client async throws in
            let place = try #require(try await create(client)["location"])
            #expect(try await create(client).status == 201)
            let third = try await create(client)
            #expect(third.status == 429)
            #expect(third["retry-after"] == "60")
            #expect(third.interims.isEmpty)
            // One that is answered counts no more, and neither does one that is cancelled.
            #expect(try await client.append([0, 0], at: 0, of: place).status == 200)
            let next = try #require(try await create(client)["location"])
            #expect(try await create(client).status == 429)
            #expect(try await client.send("DELETE", next).status == 204)
            #expect(try await create(client).status == 201)
            // The answered one gave its place back already.
            #expect(try await client.send("DELETE", place).status == 204)
            #expect(try await create(client).status == 429)
        }
    }

    @Test func whatIsAnsweredCountsNoMore() async throws {
        try await withUploads(hears: false) {
            $0.maximumUploadByteCountPerClient = 1_000
        } _: { client async throws in
            for _ in 0..<3 {
                let place = try #require(try await create(client, 600)["location"])
                #expect(try await client.append([0, 0], at: 600, of: place).status == 200)
            }
        }
    }

    @Test(arguments: [429, 503])
    func soManyBytesAreTaken(status: Int) async throws {
        let folder = try TemporaryFolder()
        let change = { (configuration: inout RecognitionEndpointConfiguration) in
            if status == 429 {
                configuration.maximumUploadByteCountPerClient = 1_000
            } else {
                configuration.maximumUploadByteCount = 1_000
            }
        }
        let places = try await withUploads(in: folder, hears: false, change) {
            client async throws in
            let first = try #require(try await create(client, 600)["location"])
            let second = try await create(client, 600)
            #expect(second.status == status)
            #expect(second["upload-complete"] == "?0")
            let place = try #require(second.interims.first?.fields["location"])
            #expect(try await client.offset(of: place) == 0)
            return [first, place]
        }
        // The bytes are counted again after a restart.
        try await withUploads(in: folder, hears: false, change) { client async throws in
            let bytes = [UInt8](repeating: 0, count: 600)
            let refused = try await client.append(bytes, at: 0, of: places[1], last: false)
            #expect(refused.status == status)
            #expect(try await client.send("DELETE", places[0]).status == 204)
            let taken = try await client.append(bytes, at: 0, of: places[1], last: false)
            #expect(taken.status == 204)
        }
    }

    @Test func anUploadIsNoLongerThanABody() async throws {
        try await withUploads(hears: false) {
            $0.maximumBodyByteCount = 1_000
        } _: { client async throws in
            #expect(try await client.create(fields + ["Upload-Length: 1001"]).status == 413)
            let place = try #require(try await create(client, 900)["location"])
            let bytes = [UInt8](repeating: 0, count: 101)
            #expect(try await client.append(bytes, at: 900, of: place, last: false).status == 413)
            #expect(try await client.send("HEAD", place).status == 404)
        }
    }

    @Test func anUploadThatBrokeOffGivesItsRecogniserToWhoeverIsHere() async throws {
        try await withUploads {
            $0.maximumConcurrentRecognitions = 1
            $0.uploadPatience = .ages
        } _: { client async throws in
            // An open request has the only recogniser; the bytes of other uploads are kept.
            let (open, first) = try await client.begin()
            defer { withExtendedLifetime(open) {} }
            try await onThread { try open.sendChunk(audio[..<20_000]) }
            let stuck = try #require(first.fields["location"])
            let other = try #require(try await create(client, 20_000)["location"])
            #expect(try await client.offset(of: other) == 20_000)
            #expect(try await client.send("DELETE", stuck).status == 204)
            let rest = try await client.append(audio.dropFirst(20_000), at: 20_000, of: other)
            #expect(rest.status == 200)

            // An upload that broke off gives it away.
            let broken = try await client.breakOff(audio, after: 20_000)
            let plain = try await client.create([Client.pcm, "Accept: text/plain"], body: audio)
            #expect(plain.status == 200)
            #expect(plain.body == "go forward ten meters\n")
            let second = try await client.breakOff(audio, after: 30_000)
            for (place, offset) in [(broken, 20_000), (second, 30_000)] {
                let rest = try await client.append(
                    audio.dropFirst(offset), at: offset, of: place)
                #expect(rest.body == "go forward ten meters\n")
            }
        }
    }

    @Test func aFolderHasOneEndpoint() async throws {
        let folder = try TemporaryFolder()
        try await withUploads(in: folder) { first in
            let place = try await first.breakOff(audio, after: 1_000)
            try await withUploads(in: folder) { second in
                let reply = try await second.create(body: audio)
                #expect(reply.interims.isEmpty)
                #expect(reply.body == "go forward ten meters\n")
            }
            #expect(try await first.offset(of: place) == 1_000)
        }
    }

    @Test func aFolderThatCannotBeMadeIsSaid() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write([], to: "file")
        var configuration = RecognitionEndpointConfiguration(recogniser: TestEndpoint.soundless)
        configuration.uploadFolder = path
        #expect {
            try RecognitionEndpoint(configuration)
        } throws: {
            "\($0)" == "cannot keep uploads in '\(path)': Not a directory"
        }
    }

    @Test func whatBelongsToNoUploadIsRemoved() async throws {
        let folder = try TemporaryFolder()
        try await withUploads(in: folder, hears: false) { client async throws in
            _ = try await create(client, 10)
        }
        _ = try folder.write([1], to: "uploads/00.audio")
        _ = try folder.write([1], to: "uploads/11.json")
        try await withUploads(in: folder, hears: false) { _ async throws in
            #expect(try folderEntries(folder).count == 2)
        }
    }
}

/// Who may read and continue an upload.
@Suite struct UploadSecrecyTests {
    private typealias Client = UploadClient

    @Test func theNameOfAnUploadIsInNoLog() async throws {
        let paths = Mutex<[String]>([])
        try await withUploads(hears: false) {
            $0.onRequest = { request in paths.withLock { $0.append(request.path) } }
        } _: { client async throws in
            let place = try await client.breakOff([0, 0, 0, 0], after: 2)
            _ = try await client.offset(of: place)
            _ = try await client.append([0, 0], at: 2, of: place)
        }
        #expect(paths.withLock { Set($0) } == ["/recognize", "/uploads/…"])
    }

    @Test func anUploadBelongsToThoseWhoShowTheToken() async throws {
        try await withUploads(hears: false) {
            $0.bearerToken = BearerToken("sesame")
        } _: { client async throws in
            let token = "Authorization: Bearer sesame"
            let fields = [Client.pcm, Client.version, Client.notLast, token]
            let place = try #require(try await client.create(fields)["location"])
            #expect(try await client.send("HEAD", place).status == 401)
            #expect(try await client.send("HEAD", place, [token]).status == 204)
        }
    }

    @Test func onlyTheUserMayReadTheFilesAndACancelLeavesNone() async throws {
        let folder = try TemporaryFolder()
        try await withUploads(in: folder, hears: false) { client async throws in
            let place = try await client.breakOff([UInt8](repeating: 0, count: 9_000), after: 5_000)
            #expect(try folderEntries(folder).count == 2)
            for name in try folderEntries(folder) + [""] {
                var status = stat()
                #expect(stat(folder.path("uploads/\(name)"), &status) == 0)
                #expect(status.st_mode & 0o777 == (name.isEmpty ? 0o700 : 0o600))
            }
            #expect(try await client.send("DELETE", place).status == 204)
            #expect(try await client.send("HEAD", place).status == 404)
            #expect(try await client.send("DELETE", place).status == 404)
            #expect(try folderEntries(folder) == [])
        }
    }
}
