// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Downloads
@testable import LinuxPlatform

/// A folder of downloads of the test's own.
final class DownloadBench: Sendable {
    let folder: TemporaryFolder
    let downloads: Downloads

    init(limits: DownloadLimits = .standard) throws {
        folder = try TemporaryFolder()
        downloads = Downloads(in: folder.path("state"), limits: limits)
    }

    deinit { downloads.shutDown() }

    func fetch(
        _ url: String, change: (inout Download) throws -> Void = { _ in }
    ) async throws -> Result<FetchedFile, DownloadFailure> {
        var download = Download(try ServiceURL(url))
        try change(&download)
        return await downloads.fetch(download)
    }

    /// Begins a download, and waits until something of it has come.
    func begin(_ url: String) async throws -> Task<Result<FetchedFile, DownloadFailure>, Never> {
        let came = Gate()
        let download = Download(try ServiceURL(url))
        let task = Task { [downloads] in
            await downloads.fetch(download) { if $0.byteCount > 0 { came.open() } }
        }
        #expect(await came.wait())
        return task
    }

    /// Fetches a file that is right.
    @discardableResult
    func expect(
        _ bytes: [UInt8], of url: String, at place: SourceLocation = #_sourceLocation
    ) async throws -> FetchedFile {
        let file = try await fetch(url).get()
        let found = try readFile(file.path)
        #expect(found == bytes, "\(found.count) bytes", sourceLocation: place)
        return file
    }
}

/// Bytes in which no piece is like another.
func noise(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }
}

extension FileServer {
    /// Changes what it has before each answer for a path, whose requests have numbers from 0.
    func change(
        before path: String, _ body: @escaping @Sendable (inout Contents, Int) -> Void
    ) {
        let number = Atomic(0)
        change { contents in
            contents.prepare = { contents, target in
                guard target == path else { return }
                body(&contents, number.add(1, ordering: .relaxed).oldValue)
            }
        }
    }
}

extension Result<FetchedFile, DownloadFailure> {
    var failure: DownloadFailure? { if case .failure(let failure) = self { failure } else { nil } }

    /// Why what came cannot be used.
    var unusable: String? {
        if case .failure(.unusable(let reason)) = self { reason } else { nil }
    }

    /// The reason for which the disk refuses the file; nil for any other end.
    var diskFault: String? {
        if case .failure(.disk(let reason)) = self { reason } else { nil }
    }

    /// Whether it would have led into the own network.
    var isAvoided: Bool { if case .failure(.ownNetwork) = self { true } else { false } }
}

@Suite struct DownloadTests {
    static let bytes = noise(100_000)
    static let others = bytes.map { ~$0 }
    let server: FileServer
    let bench: DownloadBench

    init() throws {
        server = try FileServer(["/a": .init(Self.bytes)])
        bench = try DownloadBench()
    }

    /// Another process.
    private func otherDownloads() -> Downloads { Downloads(in: bench.folder.path("state")) }

    @Test func aFileIsFetchedAndKeepsNoNameOfTheServer() async throws {
        let server = try FileServer(["/a/%2Ftalk.mp3": .init(Self.bytes)])
        let file = try await bench.expect(Self.bytes, of: server.url("/a/%2Ftalk.mp3?x=1"))
        #expect(file.path == bench.folder.path("state/downloads/\(file.id)/\(file.id).mp3"))
        #expect(file.byteCount == 100_000 && !file.isPlaylist && !file.isUnchanged)
        let kept = try #require(bench.downloads.all().first)
        #expect(kept.state == .done && kept.path == file.path)
        #expect(kept.url == server.url("/a/%2Ftalk.mp3?…"))
    }

    @Test(arguments: [0, 1, 1_000, 65_536, 99_999])
    func aCutIsGoneOnBehind(_ cut: Int) async throws {
        server.change { $0.cuts = [cut] }
        try await bench.expect(Self.bytes, of: server.url("/a"))
        let second = try #require(server.requests.last)
        #expect(second["Range"] == (cut > 0 ? "bytes=\(cut)-" : nil))
        #expect(second["If-Range"] == (cut > 0 ? "\"1\"" : nil))
        #expect(server.requests.count == 2)
    }

    /// Each of the cuts brings something, or the server knows no ranges and sends all again.
    @Test(
        arguments: [(Array(repeating: 12_000, count: 8), false), ([50_000, 70_000], true)]
            as [([Int], Bool)])
    func manyCutsAreNoFailure(_ cuts: [Int], ignoresRanges: Bool) async throws {
        server.change { ($0.cuts, $0.ignoresRanges) = (cuts, ignoresRanges) }
        try await bench.expect(Self.bytes, of: server.url("/a"))
    }

    /// Another content, tag or length, with the others as they were.
    @Test(arguments: [
        FileServer.File(others, tag: "\"2\""), .init(Array(others.prefix(60_000)), tag: "\"2\""),
        .init(bytes, tag: "\"2\""), .init(Array(others.prefix(30_000)), tag: "\"2\""),
        .init(others + bytes, tag: "\"2\""), .init(others, tag: nil), .init(others, tag: "W/\"1\""),
    ])
    func aFileThatHasChangedBeginsAnew(_ later: FileServer.File) async throws {
        for (ignoresRanges, ignoresTags) in [(false, false), (true, false), (false, true)] {
            // Without any tag, a server that takes no notice of ours cannot be seen through.
            if ignoresTags, later.tag != "\"2\"" { continue }
            let server = try FileServer(["/a": .init(Self.bytes)])
            server.change {
                ($0.cuts, $0.ignoresRanges, $0.ignoresTags) = ([50_000], ignoresRanges, ignoresTags)
                // Once the first answer has been cut.
                $0.prepare = { contents, _ in
                    if contents.cuts.isEmpty { contents.files["/a"] = later }
                }
            }
            try await DownloadBench().expect(later.bytes, of: server.url("/a"))
        }
    }

    @Test func anAddressThatHasExpiredIsAskedForAgain() async throws {
        let server = try FileServer(["/signed": .init(Self.bytes)])
        server.change { $0.cuts = [.max, 40_000] }
        server.change(before: "/a") { contents, number in
            contents.moves["/a"] = (302, "/signed?number=\(number)")
            contents.refusals["/signed?number=\(number - 1)"] = 403
        }
        try await bench.expect(Self.bytes, of: server.url("/a"))
        #expect(
            server.requests.map(\.target) == ["/a", "/signed?number=0", "/a", "/signed?number=1"])
        #expect(server.requests.last?["Range"] == "bytes=40000-")
    }

    @Test func whatIsUnchangedIsNotLoadedTwice() async throws {
        try await bench.expect(Self.bytes, of: server.url("/a"))
        let again = try await bench.expect(Self.bytes, of: server.url("/a"))
        #expect(again.isUnchanged)
        #expect(server.requests.last?["If-None-Match"] == "\"1\"")
        let fresh = try await bench.fetch(server.url("/a")) { $0.isFresh = true }.get()
        #expect(!fresh.isUnchanged)
        #expect(server.requests.last?["If-None-Match"] == nil)
        server.change { $0.files["/a"] = .init(Self.others, tag: "\"2\"") }
        let other = try await bench.expect(Self.others, of: server.url("/a"))
        #expect(!other.isUnchanged)
        // A copy that was cut off is loaded again.
        #expect(truncate(other.path, 100) == 0)
        #expect(try await !bench.expect(Self.others, of: server.url("/a")).isUnchanged)
    }

    @Test func twoFetchesOfOneURLAreOne() async throws {
        let others = otherDownloads()
        defer { others.shutDown() }
        let download = Download(try ServiceURL(server.url("/a")))
        async let first = bench.downloads.fetch(download).get()
        async let second = others.fetch(download).get()
        async let third = bench.downloads.fetch(download).get()
        let files = try await [first, second, third]
        #expect(Set(files.map(\.path)).count == 1 && files.count { !$0.isUnchanged } == 1)
        #expect(server.requests.count { $0["If-None-Match"] == nil } == 1)
    }

    /// Begins a download that stands still in its middle until the gate opens.
    private func stand(
        until gate: Gate
    ) async throws -> (FileServer, Task<Result<FetchedFile, DownloadFailure>, Never>) {
        let server = try FileServer(["/a": .init(Self.bytes)], stallingUntil: gate)
        server.change { $0.cuts = [50_000] }
        return (server, try await bench.begin(server.url("/a")))
    }

    @Test func aCancelKeepsWhatCame() async throws {
        let gate = Gate()
        let (server, task) = try await stand(until: gate)
        task.cancel()
        #expect(await task.value == .failure(.left))
        let kept = try #require(bench.downloads.all().first)
        #expect(kept.state == .waiting && kept.byteCount > 0)
        gate.open()
        let results = await bench.downloads.goOn()
        #expect(try readFile(results[0].result.get().path) == Self.bytes)
        #expect(server.requests.last?["Range"] == "bytes=\(kept.byteCount)-")
        #expect(await bench.downloads.goOn().isEmpty)
    }

    @Test func aPauseHoldsUntilItIsAskedFor() async throws {
        let gate = Gate()
        let (server, task) = try await stand(until: gate)
        let others = otherDownloads()
        defer { others.shutDown() }
        let id = others.all()[0].id
        try others.pause(id)
        #expect(await task.value == .failure(.paused))
        gate.open()
        #expect(others.all().map(\.state) == [.paused])
        #expect(await others.goOn().isEmpty)
        let file = try await others.goOn(with: [id])[0].result.get()
        #expect(try readFile(file.path) == Self.bytes)
        #expect(server.requests.count == 2)
    }

    @Test func aFileGoesWhereThePersonWantsIt() async throws {
        let server = try FileServer(["/a": .init(Self.bytes, type: "audio/ogg; codecs=opus")])
        let nowhere = bench.folder.path("nowhere")
        let lost = try await bench.fetch(server.url("/a?a")) { $0.destination = nowhere + "/a" }
        // Said before the first byte.
        #expect(lost == .failure(.disk("there is no folder '\(nowhere)'")))
        #expect(server.requests.isEmpty)
        let place = bench.folder.path("talk")
        let file = try await bench.fetch(server.url("/a")) { $0.destination = place }.get()
        #expect(file.path == place)
        #expect(try readFile(place) == Self.bytes)
        let other = server.url("/a?b")
        let taken = try await bench.fetch(other) { $0.destination = place }
        #expect(taken == .failure(.disk("'\(place)' is there already")))
        let inside = try await bench.fetch(other) { $0.destination = bench.folder.path }.get()
        #expect(inside.path == bench.folder.path("a"))
        let again = try await bench.fetch(server.url("/a")) { $0.destination = place }.get()
        #expect(again.isUnchanged)
    }

    @Test func aCopyOfBeforeMakesRoomUnlessAPersonHasChangedIt() async throws {
        let place = bench.folder.path("talk")
        let fetch = { () async throws in
            try await bench.fetch(server.url("/a")) { $0.destination = place }
        }
        _ = try await fetch().get()
        server.change { $0.files["/a"] = .init(Self.others, tag: "\"2\"") }
        #expect(try await !fetch().get().isUnchanged)
        #expect(try readFile(place) == Self.others)
        try bench.folder.write([1, 2, 3], to: "talk")
        server.change { $0.files["/a"] = .init(Self.bytes, tag: "\"3\"") }
        for _ in 0..<2 {
            #expect(try await fetch().diskFault != nil)
            #expect(try readFile(place) == [1, 2, 3])
        }
        // Without a place it goes to its own.
        let own = try await bench.expect(Self.bytes, of: server.url("/a"))
        #expect(own.path.hasPrefix(bench.folder.path("state/downloads/")))
    }

    @Test func aServerThatNeverSaysTheSameIsGivenUp() async throws {
        server.change { contents in
            contents.ignoresTags = true
            contents.cuts = Array(repeating: 50_000, count: 1_000)
            contents.prepare = { contents, _ in
                contents.files["/a"]?.tag = "\"\(contents.cuts.count)\""
            }
        }
        let result = try await bench.fetch(server.url("/a"))
        #expect(result == .failure(.unusable("it changes each time")))
        #expect(server.requests.count < 20)
    }

    @Test func limitsOfTheDiskHold() async throws {
        let server = try FileServer(["/a": .init(Self.bytes), "/b": .init(Self.bytes)])
        let bench = try DownloadBench(limits: DownloadLimits(bytes: 150_000, free: 0))
        try await bench.expect(Self.bytes, of: server.url("/a"))
        let full = try DownloadBench(limits: DownloadLimits(bytes: .max, free: .max))
        for found in [
            try await bench.fetch(server.url("/b")), try await full.fetch(server.url("/a")),
        ] {
            guard case .failure(.noRoom) = found else {
                Issue.record("\(found)")
                return
            }
        }
    }

    @Test func whatCannotBeRightIsNotThere() async throws {
        #expect(try await bench.fetch(server.url("/b")) == .failure(.refused(status: 404)))
        server.change { $0.moves["/loop"] = (301, "/loop") }
        let loop = try await bench.fetch(server.url("/loop"))
        #expect(loop == .failure(.unusable("it leads from URL to URL, more than 5 times")))
        #expect(Set(bench.downloads.all().map(\.state)) == [.failed])
    }

    @Test(
        arguments: [
            ("/a.mp3", "", nil, "it is empty"),
            ("/a.m3u8", "no playlist", nil, "not a playlist of HTTP Live Streaming"),
            ("/a", "no playlist", "application/vnd.apple.mpegurl", "not a playlist of HTTP Live"),
            ("/a.m3u8", "\u{FEFF}#EXTM3U\n#EXT-X-ENDLIST\n", nil, "has a target duration"),
            ("/a", "<html>", "text/html", "a web page"),
        ] as [(String, String, String?, String)])
    func whatIsNoRecordingIsRefused(
        path: String, text: String, type: String?, reason: String
    ) async throws {
        let server = try FileServer([path: .init(Array(text.utf8), type: type)])
        let found = try await bench.fetch(server.url(path))
        #expect(found.unusable?.contains(reason) == true, "\(found)")
    }

    @Test(arguments: [#"{"version":99,"url":"http://example.com/"}"#, "{", ""])
    func aNoteThatCannotBeReadStays(_ note: String) async throws {
        let id = try await bench.expect(Self.bytes, of: server.url("/a")).id
        let place = "state/downloads/\(id)/fetch.json"
        try bench.folder.write(Array(note.utf8), to: place)
        let reason = try #require(try await bench.fetch(server.url("/a")).diskFault)
        #expect(reason.contains("remove the download \(id)"))
        #expect(try bench.folder.read(place) == Array(note.utf8))
        let listed = try #require(bench.downloads.all().first)
        #expect(listed.state == .failed && listed.reason == "the disk refuses it: \(reason)")
        try bench.downloads.remove(id)
        try await bench.expect(Self.bytes, of: server.url("/a"))
    }

    @Test func aTokenIsAskedFor() async throws {
        let folder = try TemporaryFolder()
        let asked = Observed<[SecretQuestion]>([])
        let downloads = Downloads(in: folder.path) { question in
            asked.update { $0.append(question) }
            return "sesame"
        }
        defer { downloads.shutDown() }
        var download = Download(try ServiceURL(server.url("/a")))
        download.credential = Credential(askedOf: .command("pass show talks"))
        _ = try await downloads.fetch(download).get()
        #expect(server.requests.map { $0["Authorization"] } == ["Bearer sesame"])
        #expect(asked.value.map(\.source) == [.command("pass show talks")])
        #expect(asked.value.map(\.origin) == [download.url.origin])
    }
}
