// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import RecognitionEndpoint

/// Who may read and continue an upload.
@Suite struct UploadSecrecyTests {
    private typealias Client = UploadClient

    @Test func theNameOfAnUploadIsInNoLog() async throws {
        let paths = Mutex<[String]>([])
        try await withUploads {
            $0.onRequest = { request in paths.withLock { $0.append(request.path) } }
        } _: { client async throws in
            let place = try await client.breakOff([0, 0, 0, 0], after: 2)
            _ = try await client.offset(of: place)
            _ = try await client.append([0, 0], at: 2, of: place)
        }
        #expect(paths.withLock { Set($0) } == ["/recognize", "/uploads/…"])
    }

    @Test func anUploadBelongsToThoseWhoShowTheToken() async throws {
        try await withUploads {
            $0.bearerToken = BearerToken("sesame")
        } _: { client async throws in
            let token = "Authorization: Bearer sesame"
            let fields = [Client.pcm, Client.version, Client.notLast, token]
            let place = try #require(
                try await client.send("POST", "/recognize", fields)["location"])
            #expect(try await client.send("HEAD", place).status == 401)
            #expect(try await client.send("HEAD", place, [token]).status == 204)
        }
    }

    @Test func onlyTheUserMayReadTheFiles() async throws {
        let folder = try TemporaryFolder()
        try await withUploads(in: folder) { client async throws in
            _ = try await client.breakOff([0, 0, 0, 0], after: 2)
            for name in try folderEntries(folder) + [""] {
                var status = stat()
                #expect(stat(folder.path("uploads/\(name)"), &status) == 0)
                #expect(status.st_mode & 0o777 == (name.isEmpty ? 0o700 : 0o600))
            }
        }
    }

    @Test func aCancelledUploadLeavesNothing() async throws {
        let folder = try TemporaryFolder()
        try await withUploads(in: folder) { client async throws in
            let place = try await client.breakOff([UInt8](repeating: 0, count: 9_000), after: 5_000)
            #expect(try folderEntries(folder).count == 2)
            #expect(try await client.send("DELETE", place).status == 204)
            #expect(try await client.send("HEAD", place).status == 404)
            #expect(try await client.send("DELETE", place).status == 404)
            #expect(try folderEntries(folder) == [])
        }
    }
}
