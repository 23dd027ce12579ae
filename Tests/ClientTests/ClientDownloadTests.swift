// SPDX-License-Identifier: Apache-2.0

import Downloads
import Glibc
import Testing

/// A program in another package that fetches recordings: it imports nothing but Downloads.
@Suite struct ClientDownloadTests {
    @Test func aDownloadIsAskedForListedPausedAndForgotten() async throws {
        let folder = "/tmp/utter-client-\(getpid())-downloads"
        let downloads = Downloads(in: folder, limits: .standard)
        defer { downloads.shutDown() }
        #expect(downloads.all().isEmpty && access(folder, F_OK) != 0)
        // Nothing listens at port 9, which is discard.
        var download = Download(try ServiceURL("http://127.0.0.1:9/talk.mp3"))
        download.credential = try Credential(secret: "sesame")
        download.longest = .seconds(60)
        download.ownOrigins = [try Origin("http://127.0.0.1:10")]
        download.connection.proxy = Proxy.none
        let result = await downloads.fetch(download) { progress in
            #expect(progress.byteCount == 0 && progress.left == nil)
        }
        guard case .failure(.unreachable) = result else {
            Issue.record("\(result)")
            return
        }
        let kept = try #require(downloads.all().first)
        #expect(kept.state == .waiting && kept.byteCount == 0 && kept.path == nil)
        #expect(try downloads.named(String(kept.id.prefix(4))) == kept)
        try downloads.pause(kept.id)
        #expect(downloads.all().map(\.state) == [.paused])
        #expect(await downloads.goOn().isEmpty)
        try downloads.remove(kept.id)
        #expect(throws: DownloadFailure.unknown(kept.id)) { try downloads.named(kept.id) }
        let gone = await downloads.goOn(with: [kept.id])
        #expect(gone.map(\.result) == [.failure(.unknown(kept.id))])
        rmdir(folder + "/downloads")
        rmdir(folder)
    }
}
