// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Downloads
@testable import LinuxPlatform

// Segments that do not come.
extension PlaylistDownloadTests {
    /// A segment comes empty, as a page or as a message, and later as it is; or never.
    @Test(
        arguments: [
            ([("", nil)], true), ([("<html>wait</html>", "text/html")], true),
            ([("", "video/mp2t"), ("please wait", "text/html; charset=utf-8")], true),
            ([(" ", "text/html"), ("<!doctype html>", "text/html"), ("", nil)], true),
            (
                [
                    ("{\"error\":\"expired\"}", "application/json"),
                    ("Zugriff über", "application/problem+json"),
                    ("Geht nicht – nie", "text/plain"),
                ], true
            ),
            ([("{\"error\":\"expired\"}", "application/octet-stream")], true),
            ([("", nil), ("", nil), ("", nil), ("", nil)], false),
        ] as [([(String, String?)], Bool)])
    func aSegmentWithoutSoundIsAskedForAgain(
        _ answers: [(text: String, type: String?)], _ comes: Bool
    ) async throws {
        for form in [[], ["-hls_key_info_file", "FOLDER/info"]] {
            let (made, server) = try Self.serve(form)
            let right = try made.bytes("talk2.ts")
            server.change(before: "/talk2.ts") { contents, number in
                contents.files["/talk2.ts"] =
                    number < answers.count
                    ? .init(Array(answers[number].text.utf8), type: answers[number].type)
                    : .init(right, type: "text/plain")
            }
            let bench = try DownloadBench()
            let file = try await bench.fetch(server.url("/talk.m3u8")).get()
            let ours = try Self.ownSamples(file.path)
            let theirs = made.samples
            #expect(comes ? ours == theirs : ours.count < theirs.count && ours.count > 100_000)
            #expect(file.notices == (comes ? [] : ["a segment could not be had; a gap is left"]))
            let requestCount = server.requests.count { $0.target == "/talk2.ts" }
            #expect(requestCount == answers.count + (comes ? 1 : 0))
        }
    }

    /// A text in the place of a segment is no gap: the download goes on once its sound comes.
    @Test(
        arguments: [("{\"error\":1}", nil), ("<html>log in</html>", "text/html")]
            as [(String, String?)])
    func aSegmentThatStaysATextIsNoGap(_ text: String, _ type: String?) async throws {
        let (made, server) = try Self.serve([])
        server.change { $0.files["/talk2.ts"] = .init(Array(text.utf8), type: type) }
        let result = try await bench.fetch(server.url("/talk.m3u8"))
        #expect(result == .failure(.unreachable("segment 2 of its playlist came as a text")))
        server.change { $0.files["/talk2.ts"] = made.files["/talk2.ts"] }
        try await expect(made, of: server)
        #expect(server.requests.count { $0.target == "/talk0.ts" } == 1)
    }

    @Test func aGapOfThePlaylistIsSaidEachTime() async throws {
        let (made, server) = try Self.serve([])
        let odd = made.text.replacing("talk2.ts", with: "#EXT-X-GAP\ntalk2.ts")
        server.change { $0.files["/talk.m3u8"] = .init(Array(odd.utf8)) }
        let url = server.url("/talk.m3u8")
        for isUnchanged in [false, true] {
            let file = try await bench.fetch(url).get()
            #expect(file.isUnchanged == isUnchanged)
            #expect(file.notices == ["a segment could not be had; a gap is left"])
        }
        #expect(!server.requests.contains { $0.target == "/talk2.ts" })
    }
}
