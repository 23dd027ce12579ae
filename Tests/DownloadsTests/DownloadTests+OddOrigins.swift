// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Downloads
@testable import LinuxPlatform
@testable import SpeechService

// Servers that say less than others, or other than was asked for, and names that URLs give files.
extension DownloadTests {
    private static let oldDates = [
        "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "Date: Sun, 06 Nov 1994 08:50:37 GMT",
    ]

    typealias Change = @Sendable (inout FileServer.Contents) -> Void

    /// Servers that say less than others.
    private static let terse: [Change] = [
        { $0.hidesTotal = true }, { $0.lead = 1_000 }, { $0.lead = 100_000 },
        { contents in
            contents.fields = oldDates
            contents.files["/a"]?.tag = nil
        },
        { contents in
            contents.fields = oldDates
            contents.files["/a"]?.tag = "W/\"1\""
        },
    ]

    @Test(arguments: terse.indices)
    func aServerThatSaysLittleIsGoneOnWith(_ index: Int) async throws {
        server.change { contents in
            contents.cuts = [40_000, 30_000]
            Self.terse[index](&contents)
        }
        try await bench.expect(Self.bytes, of: server.url("/a"))
        let ranges = server.requests.dropFirst().map { $0["Range"] }
        #expect(ranges.count >= 1 && !ranges.contains(nil), "\(ranges)")
    }

    /// Without a tag or an old date, or with all of the file for any range.
    private static let endless: [Change] = [
        { $0.files["/a"]?.tag = nil }, { $0.files["/a"]?.tag = "W/\"1\"" },
        { $0.ignoresRanges = true },
        { contents in
            contents.fields = [oldDates[0], "Date: Sun, 06 Nov 1994 08:50:36 GMT"]
            contents.files["/a"]?.tag = nil
        },
    ]

    @Test(arguments: endless.indices)
    func aServerThatCannotBeGoneOnWithIsSaid(_ index: Int) async throws {
        server.change { contents in
            contents.cuts = Array(repeating: 40_000, count: 100)
            Self.endless[index](&contents)
        }
        let words =
            "it breaks off each time, and the server cannot be gone on with: it sends all of it again"
        #expect(try await bench.fetch(server.url("/a")) == .failure(.unusable(words)))
        #expect(server.requests.count == 4)
        #expect(bench.downloads.all().map(\.state) == [.failed])
    }

    @Test func aCodingThatWasNotAskedForIsUndone() async throws {
        try bench.folder.write(Self.bytes, to: "plain")
        let packed = try ForeignTool("gzip").run(["-c", bench.folder.path("plain")]).output
        let cut = packed.count / 2
        for coding in ["gzip", "x-gzip", "GZIP"] {
            let server = try FileServer(["/a.wav": .init(packed), "/a.tar.gz": .init(packed)])
            server.change { ($0.fields, $0.cuts) = (["Content-Encoding: \(coding)"], [cut]) }
            // Its bytes are those of the coding, and what came of it before the cut is of no use.
            try await bench.expect(Self.bytes, of: server.url("/a.wav"))
            #expect(server.requests.map { $0["Range"] } == [nil, nil], "\(coding)")
            #expect(server.requests[0]["Accept-Encoding"] == "identity")
            // A file that is compressed itself stays so.
            server.change { $0.cuts = [cut] }
            try await bench.expect(packed, of: server.url("/a.tar.gz"))
            #expect(server.requests.last?["Range"] == "bytes=\(cut)-", "\(coding)")
        }
        // A broken coding is no file.
        server.change { $0.fields = ["Content-Encoding: gzip"] }
        #expect(try await bench.fetch(server.url("/a")).unusable != nil)
    }

    @Test func aBodyThatEndsWithTheConnectionIsTakenAndSaid() async throws {
        server.change { $0.hidesLength = true }
        let file = try await bench.expect(Self.bytes, of: server.url("/a"))
        #expect(
            file.notices == ["the server does not say how long it is; it ended the connection"])
    }

    @Test(
        .spec("RFC 9110 §5.6.7"),
        arguments: [
            "%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y",
        ])
    func aDateToTryAgainAtIsHeeded(_ format: String) async throws {
        var (instant, parts) = (time(nil) + 2, tm())
        gmtime_r(&instant, &parts)
        var text = [CChar](repeating: 0, count: 64)
        strftime(&text, text.count, format, &parts)
        let date = String(decoding: text.prefix { $0 != 0 }.map { UInt8($0) }, as: UTF8.self)
        let asked = Observed<[Int]>([])
        server.change { $0.fields = ["Retry-After: \(date)"] }
        server.change(before: "/a") { contents, number in
            asked.update { $0.append(time(nil)) }
            contents.refusals = number == 0 ? ["/a": 503] : [:]
        }
        try await bench.expect(Self.bytes, of: server.url("/a"))
        // libcurl counts in whole seconds, from the time at which it reads the date.
        #expect(asked.value.count == 2 && asked.value[1] > asked.value[0])
    }

    @Test(
        arguments: [
            ("/talk.wav", "talk.wav"), ("/a/b/talk.wav?x=1/2", "talk.wav"), ("/a/", "a"),
            ("/", nil), ("/%C3%A9t%C3%A9.mp3", "été.mp3"), ("/a%20b.mp3", "a b.mp3"),
            ("/%2541.mp3", "%41.mp3"), ("/x/%2fetc%2fpasswd", "etcpasswd"),
            ("/.bashrc", "bashrc"), ("/-rf.wav", "rf.wav"), ("/%00a%07b%1b%5b31m.wav", "ab.wav"),
            ("/a%E2%80%AEvaw.exe", "avaw.exe"), ("/a%0Ab.wav", "ab.wav"),
            ("/%E9.wav", "\u{FFFD}.wav"), ("/%2B1.wav", "+1.wav"), ("/a.%E2%80%8B", "a."),
            ("/%2F", nil), ("/x%E2%81%A6y", "xy"),
        ] as [(String, String?)])
    func theURLsOwnNameIsMadeHarmless(_ path: String, _ name: String?) throws {
        let found = FileSuffix.name(of: try ServiceURL("http://a.example" + path))
        #expect(found.map { $0.stem + $0.end } == name)
    }

    @Test(arguments: ["a", "%C3%A9", "%F0%9F%98%80", "e%CC%81"])
    func aLongNameKeepsItsEnd(_ letter: String) throws {
        let path = String(repeating: letter, count: 300) + ".flac"
        let found = try #require(FileSuffix.name(of: try ServiceURL("http://a.example/" + path)))
        #expect(found.end == ".flac" && (150...200).contains(found.stem.utf8.count))
    }

    @Test func aFolderGetsFilesByTheirURLsNames() async throws {
        let server = try FileServer([
            "/x/talk.wav": .init(Self.bytes), "/y/talk.wav": .init(Self.others),
            "/z": .init(Self.bytes),
        ])
        server.change { $0.moves["/z/talk.wav"] = (302, "/z") }
        let place = bench.folder.path("in")
        #expect(mkdir(place, 0o700) == 0)
        var names: [String] = []
        for path in ["/x/talk.wav", "/y/talk.wav", "/z/talk.wav", "/x/talk.wav"] {
            let file = try await bench.fetch(server.url(path)) { $0.destination = place }.get()
            names.append(String(file.path.dropFirst(place.count + 1)))
        }
        #expect(names == ["talk.wav", "talk-2.wav", "talk-3.wav", "talk.wav"])
        #expect(try readFile(place + "/talk-2.wav") == Self.others)
        // The copy of before makes room, and has its name again.
        server.change { $0.files["/y/talk.wav"] = .init(Self.bytes, tag: "\"2\"") }
        let again = try await bench.fetch(server.url("/y/talk.wav")) { $0.destination = place }
        #expect(try again.get().path == place + "/talk-2.wav")
        #expect(try readFile(place + "/talk-2.wav") == Self.bytes)
    }
}
