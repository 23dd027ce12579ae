// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import Downloads
@testable import LinuxPlatform

/// Playlists that ffmpeg has made, fetched by us and read by it again.
@Suite struct PlaylistDownloadTests {
    let bench: DownloadBench

    init() throws { bench = try DownloadBench() }

    /// A playlist of ten seconds of speech in segments of 2 s.
    struct Made: Sendable {
        /// By their paths.
        var files: [String: FileServer.File] = [:]
        /// The samples that ffmpeg reads of `talk.m3u8`.
        var samples: [UInt8] = []

        /// The text of `talk.m3u8`.
        var text: String { String(decoding: files["/talk.m3u8"]?.bytes ?? [], as: UTF8.self) }

        func bytes(_ name: String) throws -> [UInt8] { try #require(files["/" + name]).bytes }

        mutating func add(_ text: String, as name: String) {
            files["/" + name] = .init(Array(text.utf8))
        }
    }

    private static let known = Mutex<[[String]: Made]>([:])

    /// Serves a playlist of a form, which is made once.
    static func serve(_ words: [String]) throws -> (Made, FileServer) {
        let made = try known.withLock { known in
            let made = try known[words] ?? make(words)
            known[words] = made
            return made
        }
        return (made, try FileServer(made.files))
    }

    private static func make(_ words: [String]) throws -> Made {
        let folder = try TemporaryFolder()
        try folder.write(Array("0123456789abcdef".utf8), to: "secret.key")
        let info = "secret.key\n\(folder.path("secret.key"))\n"
        try folder.write(Array(info.utf8), to: "info")
        let withIV = info + "000102030405060708090a0b0c0d0e0f\n"
        try folder.write(Array(withIV.utf8), to: "info-iv")
        let words = words.map { $0.replacing("FOLDER", with: folder.path) }
        try ForeignTool("ffmpeg").run(
            ["-v", "error", "-i", Clip.speech.path, "-c:a", "aac", "-f", "hls"]
                + ["-hls_time", "2", "-hls_list_size", "0"] + words + [folder.path("talk.m3u8")])
        var made = Made()
        for name in try folder.names() { made.files["/" + name] = .init(try folder.read(name)) }
        made.samples = try samples(folder.path("talk.m3u8"))
        withExtendedLifetime(folder) {}
        return made
    }

    private static func samples(
        _ path: String,
        by options: [String] = ["-allowed_extensions", "ALL", "-protocol_whitelist", "file,crypto"]
    ) throws -> [UInt8] {
        try ForeignTool("ffmpeg").run(
            ["-v", "error"] + options + [
                "-i", path, "-f", "s16le", "-ac", "1", "-ar", "16000", "-",
            ]
        ).output
    }

    /// Decoded as utter does it: no protocol but that of files.
    static func ownSamples(_ path: String) throws -> [UInt8] {
        try samples("file:" + path, by: ["-protocol_whitelist", "file"])
    }

    /// Fetches one whose samples are those that it was made of.
    @discardableResult
    func expect(
        _ made: Made, of server: FileServer, _ path: String = "/talk.m3u8",
        change: (inout Download) throws -> Void = { _ in },
        at place: SourceLocation = #_sourceLocation
    ) async throws -> FetchedFile {
        let file = try await bench.fetch(server.url(path), change: change).get()
        let (ours, theirs) = (try Self.ownSamples(file.path), made.samples)
        #expect(
            !ours.isEmpty && ours == theirs, "\(ours.count) of \(theirs.count) bytes",
            sourceLocation: place)
        return file
    }

    private static let forms: [[String]] = [
        [], ["-hls_segment_type", "fmp4"], ["-hls_flags", "single_file"],
        ["-hls_segment_type", "fmp4", "-hls_flags", "single_file"],
        ["-hls_key_info_file", "FOLDER/info"], ["-hls_key_info_file", "FOLDER/info-iv"],
        ["-start_number", "300", "-hls_key_info_file", "FOLDER/info"],
        ["-hls_flags", "discont_start", "-hls_playlist_type", "vod"],
        ["-master_pl_name", "main.m3u8"],
    ]

    @Test(arguments: forms)
    func aRecordingIsFetchedWithTheSameSamples(_ form: [String]) async throws {
        let (made, server) = try Self.serve(form)
        let path = form.contains("main.m3u8") ? "/main.m3u8" : "/talk.m3u8"
        let file = try await expect(made, of: server, path)
        #expect(file.isPlaylist && file.path.hasSuffix("/index.m3u8"))
    }

    @Test func discontinuitiesStay() async throws {
        var (made, _) = try Self.serve([])
        // The same again with other times, as behind an advertisement.
        let body = made.text.split(separator: "\n").filter {
            $0.hasPrefix("#EXTINF") || !$0.hasPrefix("#")
        }.joined(separator: "\n")
        made.add(
            "#EXTM3U\n#EXT-X-TARGETDURATION:3\n\(body)\n#EXT-X-DISCONTINUITY\n\(body)\n"
                + "#EXT-X-ENDLIST\n", as: "twice.m3u8")
        let folder = try TemporaryFolder()
        for (path, file) in made.files { try folder.write(file.bytes, to: "\(path.dropFirst())") }
        made.samples = try Self.samples(folder.path("twice.m3u8"))
        #expect(made.samples.count > 600_000)
        try await expect(made, of: try FileServer(made.files), "/twice.m3u8")
        withExtendedLifetime(folder) {}
    }

    @Test func itGoesToAFolderOfThePerson() async throws {
        let (made, server) = try Self.serve(["-hls_segment_type", "fmp4"])
        let place = bench.folder.path("talk")
        let file = try await expect(made, of: server) { $0.destination = place }
        #expect(file.path == place + "/index.m3u8")
        #expect(try await bench.fetch(server.url("/talk.m3u8")).get().isUnchanged)
        #expect(server.requests.count { $0.target == "/talk.m3u8" } == 2)
    }

    /// Left at each request, one after the other.
    @Test func itGoesOnWhereItWasLeft() async throws {
        let (made, server) = try Self.serve(["-hls_segment_type", "fmp4"])
        let download = Download(try ServiceURL(server.url("/talk.m3u8")))
        var result = Result<FetchedFile, DownloadFailure>.failure(.left)
        var number = 0
        while result == .failure(.left), number < 40 {
            number += 1
            let task = Mutex<Task<Result<FetchedFile, DownloadFailure>, Never>?>(nil)
            let count = Atomic(0)
            server.change { contents in
                contents.prepare = { [number] _, _ in
                    guard count.add(1, ordering: .relaxed).newValue == number else { return }
                    task.withLock { $0?.cancel() }
                }
            }
            let run = task.withLock { task in
                let run = Task { await bench.downloads.fetch(download) }
                task = run
                return run
            }
            result = await run.value
        }
        #expect(number > 1)
        #expect(try Self.ownSamples(try result.get().path) == made.samples)
    }

    @Test func aSignedSegmentThatHasExpiredIsNamedAnew() async throws {
        let (made, server) = try Self.serve([])
        server.change { $0.refusals = ["/talk2.ts?signed=0": 403] }
        server.change(before: "/talk.m3u8") { contents, number in
            let text = made.text.replacing(".ts\n", with: ".ts?signed=\(number)\n")
            contents.files["/talk.m3u8"] = .init(Array(text.utf8), tag: nil)
        }
        try await expect(made, of: server)
        #expect(server.requests.count { $0.target == "/talk.m3u8" } == 2)
    }

    /// Serves a live one; the requests for it that have these numbers get another answer.
    static func serveLive(
        _ odd: Range<Int>, _ status: Int?, _ page: String
    ) throws -> (Made, FileServer) {
        let (made, server) = try serve(["-hls_time", "1"])
        let lines = made.text.split(separator: "\n")
        let pairs = lines.indices.filter { lines[$0].hasPrefix("#EXTINF") }.map {
            "\(lines[$0])\n\(lines[$0 + 1])\n"
        }
        server.change(before: "/talk.m3u8") { contents, number in
            // A window of three that goes on by one each time.
            let first = min(number, pairs.count - 3)
            let text =
                "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
                + pairs[first..<first + 3].joined()
                + (first + 3 == pairs.count ? "#EXT-X-ENDLIST\n" : "")
            let isOdd = odd.contains(number)
            contents.refusals["/talk.m3u8"] = isOdd ? status : nil
            contents.files["/talk.m3u8"] = .init(Array((isOdd ? page : text).utf8), tag: nil)
        }
        return (made, server)
    }

    /// Something else may be there for a moment.
    @Test(
        arguments: [
            (0..<0, nil, ""), (2..<3, 404, ""), (2..<3, nil, "<html>wait</html>"), (2..<3, nil, ""),
            (2..<4, nil, "#EXT"),
        ] as [(Range<Int>, Int?, String)])
    func aLiveOneIsFollowedToItsEnd(
        _ odd: Range<Int>, _ status: Int?, _ page: String
    ) async throws {
        let (made, server) = try Self.serveLive(odd, status, page)
        let file = try await expect(made, of: server)
        #expect(file.notices.isEmpty)
    }

    @Test(
        arguments: [
            (404, "", "the server refuses it: it answers 404"),
            (410, "", "the server refuses it: it answers 410"),
            (nil, "<html>bye</html>", "it cannot be fetched: \(PlaylistError.noPlaylist)"),
            (nil, "", "it cannot be fetched: \(PlaylistError.noPlaylist)"),
        ] as [(Int?, String, String)])
    func aLiveOneThatIsGoneCountsAsEnded(
        _ status: Int?, _ page: String, _ reason: String
    ) async throws {
        let (made, server) = try Self.serveLive(2..<100, status, page)
        let file = try await bench.fetch(server.url("/talk.m3u8")).get()
        let place = file.path.dropLast("index.m3u8".count)
        let ours = try (0..<4).map { try readFile("\(place)\($0).ts") }
        #expect(try ours == (0..<4).map { try made.bytes("talk\($0).ts") })
        let index = String(decoding: try readFile(file.path), as: UTF8.self)
        #expect(index.hasSuffix("3.ts\n#EXT-X-ENDLIST\n"))
        #expect(
            file.notices == [
                "the live playlist cannot be had any more, and counts as ended: \(reason)"
            ])
    }

    /// Of three variants the playlist of the first, or segments of the second, cannot be had.
    @Test func aVariantThatFailsGivesWayToTheNext() async throws {
        var (made, _) = try Self.serve([])
        made.add(made.text.replacing("talk", with: "other"), as: "other.m3u8")
        made.files["/other0.ts"] = made.files["/talk0.ts"]
        let main = ["none", "other", "talk"].enumerated().map {
            "#EXT-X-STREAM-INF:BANDWIDTH=\($0.offset + 1)00\n\($0.element).m3u8\n"
        }
        made.add("#EXTM3U\n" + main.joined(), as: "main.m3u8")
        let file = try await expect(made, of: try FileServer(made.files), "/main.m3u8")
        #expect(file.notices.isEmpty)
    }

    @Test func anEncoderThatBeginsItsNumbersAgainIsFollowed() async throws {
        let (made, server) = try Self.serve([])
        server.change { contents in
            for number in 0..<2 {
                contents.files["/again\(number).ts"] = contents.files["/talk\(number).ts"]
            }
        }
        server.change(before: "/talk.m3u8") { contents, number in
            let names = number == 0 ? (0..<4).map { "talk\($0).ts" } : ["again0.ts", "again1.ts"]
            let text =
                "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-PLAYLIST-TYPE:EVENT\n"
                + names.map { "#EXTINF:2,\n\($0)\n" }.joined()
                + (number == 0 ? "" : "#EXT-X-ENDLIST\n")
            contents.files["/talk.m3u8"] = .init(Array(text.utf8), tag: nil)
        }
        let file = try await bench.fetch(server.url("/talk.m3u8")).get()
        let index = String(decoding: try readFile(file.path), as: UTF8.self)
        let lines = index.split(separator: "\n").filter {
            $0.hasSuffix(".ts") || $0.contains("DISCONTINUITY")
        }
        #expect(
            lines == ["0.ts", "1.ts", "2.ts", "3.ts", "#EXT-X-DISCONTINUITY", "4.ts", "5.ts"])
        let last = file.path.replacing("index.m3u8", with: "5.ts")
        #expect(try readFile(last) == made.bytes("talk1.ts"))
    }

    @Test func aTimeEndsALiveOne() async throws {
        var (made, _) = try Self.serve([])
        made.add(made.text.replacing("#EXT-X-ENDLIST\n", with: ""), as: "talk.m3u8")
        let server = try FileServer(made.files)
        let file = try await bench.fetch(server.url("/talk.m3u8")) { $0.longest = .seconds(3) }
            .get()
        let byteCount = try Self.ownSamples(file.path).count
        #expect((112_000...144_000).contains(byteCount), "\(byteCount)")
    }

    // MARK: - Hostile ones

    private func fetch(_ text: String) async throws -> Result<FetchedFile, DownloadFailure> {
        let server = try FileServer([
            "/a.m3u8": .init(Array("#EXTM3U\n\(text)\n".utf8)), "/1.ts": .init([1, 2, 3]),
        ])
        return try await bench.fetch(server.url("/a.m3u8"))
    }

    private static let head = "#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n"

    /// A segment, a key, the head of the segments, and a variant.
    private static let elsewhere: [String] = [
        "\(head)URL", "#EXT-X-KEY:METHOD=AES-128,URI=\"URL\"\n\(head)1.ts",
        "#EXT-X-MAP:URI=\"URL\"\n\(head)1.ts", "#EXT-X-STREAM-INF:BANDWIDTH=1\nURL",
    ]

    @Test(arguments: elsewhere) func nothingOfTheOwnNetworkIsAskedFor(_ text: String) async throws {
        let other = try FileServer(["/x": .init([1])])
        let text = text.replacing("URL", with: other.url("/x")) + "\n#EXT-X-ENDLIST"
        let found = try await fetch(text)
        #expect(found.isAvoided, "\(found)")
        #expect(other.server.connectionCount == 0)
    }

    @Test(arguments: [
        "file:///etc/passwd", "concat:1.ts|/etc/passwd", "ftp://127.0.0.1/", "data:,x",
    ])
    func noOtherSchemeIsFollowed(_ url: String) async throws {
        let found = try await fetch(Self.head + url + "\n#EXT-X-ENDLIST")
        switch found.failure {
        case .unusable, .refused: break
        default: Issue.record("\(found)")
        }
    }

    private static let fairPlay =
        "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://x\",KEYFORMAT=\"com.apple.streamingkeydelivery\"\n"

    private static let unusable: [(String, String)] = [
        ("#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8", "its variants are playlists of variants"),
        (
            "\(fairPlay)\(head)1.ts\n#EXT-X-ENDLIST",
            "it is protected by FairPlay (SAMPLE-AES), which utter does not open"
        ),
        (
            "#EXT-X-TARGETDURATION:2\n#EXT-X-ENDLIST",
            "its playlist has no segment that could be fetched"
        ),
        (
            "#EXT-X-KEY:METHOD=AES-128,URI=\"1.ts\"\n\(head)1.ts\n#EXT-X-ENDLIST",
            "a key of its playlist has 3 bytes instead of 16"
        ),
    ]

    @Test(arguments: unusable)
    func depthAndKindsAreBounded(_ text: String, _ reason: String) async throws {
        #expect(try await fetch(text).unusable == reason)
    }

    @Test func aTokenGoesToNoSegmentAndNoKey() async throws {
        let (_, server) = try Self.serve(["-hls_key_info_file", "FOLDER/info"])
        let file = try await bench.fetch(server.url("/talk.m3u8")) {
            $0.credential = try Credential(secret: "sesame")
        }.get()
        #expect(file.isPlaylist)
        for request in server.requests {
            let isOpened = request["Authorization"] != nil
            #expect(isOpened == (request.target == "/talk.m3u8"), "\(request.target)")
        }
    }
}
