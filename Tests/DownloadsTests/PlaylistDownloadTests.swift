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

    /// Makes a playlist of ten seconds of speech in segments of 2 s, and serves its folder.
    static func serve(_ words: [String]) throws -> (TemporaryFolder, FileServer) {
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
        return (folder, try serve(folder))
    }

    static func serve(_ folder: TemporaryFolder) throws -> FileServer {
        var files: [String: FileServer.File] = [:]
        for name in try folder.names() { files["/" + name] = .init(try folder.read(name)) }
        return try FileServer(files)
    }

    static func samples(
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
        let (folder, server) = try Self.serve(form)
        let name = form.contains("main.m3u8") ? "/main.m3u8" : "/talk.m3u8"
        let file = try await bench.fetch(server.url(name)).get()
        #expect(file.isPlaylist && file.path.hasSuffix("/index.m3u8"))
        let ours = try Self.ownSamples(file.path)
        let theirs = try Self.samples(folder.path("talk.m3u8"))
        #expect(!ours.isEmpty && ours == theirs, "\(ours.count) of \(theirs.count) bytes")
    }

    @Test func discontinuitiesStay() async throws {
        let (folder, _) = try Self.serve([])
        // The same again with other times, as behind an advertisement.
        let text = String(decoding: try folder.read("talk.m3u8"), as: UTF8.self)
        let body = text.split(separator: "\n").filter {
            $0.hasPrefix("#EXTINF") || !$0.hasPrefix("#")
        }
        let twice =
            "#EXTM3U\n#EXT-X-TARGETDURATION:3\n" + body.joined(separator: "\n")
            + "\n#EXT-X-DISCONTINUITY\n" + body.joined(separator: "\n") + "\n#EXT-X-ENDLIST\n"
        try folder.write(Array(twice.utf8), to: "twice.m3u8")
        let server = try Self.serve(folder)
        let file = try await bench.fetch(server.url("/twice.m3u8")).get()
        let theirs = try Self.samples(folder.path("twice.m3u8"))
        #expect(try Self.ownSamples(file.path) == theirs)
        #expect(theirs.count > 600_000)
    }

    @Test func itGoesToAFolderOfThePerson() async throws {
        let (folder, server) = try Self.serve(["-hls_segment_type", "fmp4"])
        let place = bench.folder.path("talk")
        let url = server.url("/talk.m3u8")
        let file = try await bench.fetch(url) { $0.destination = place }.get()
        #expect(file.path == place + "/index.m3u8")
        #expect(try Self.ownSamples(file.path) == Self.samples(folder.path("talk.m3u8")))
        #expect(try await bench.fetch(url).get().isUnchanged)
        #expect(server.requests.count { $0.target == "/talk.m3u8" } == 2)
    }

    /// Left at each request, one after the other.
    @Test func itGoesOnWhereItWasLeft() async throws {
        let (folder, server) = try Self.serve(["-hls_segment_type", "fmp4"])
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
        let path = try result.get().path
        #expect(try Self.ownSamples(path) == Self.samples(folder.path("talk.m3u8")))
    }

    @Test func aSignedSegmentThatHasExpiredIsNamedAnew() async throws {
        let (folder, server) = try Self.serve([])
        let text = String(decoding: try folder.read("talk.m3u8"), as: UTF8.self)
        let number = Atomic(0)
        server.change { contents in
            contents.prepare = { contents, target in
                if target == "/talk.m3u8" {
                    let next = number.add(1, ordering: .relaxed).newValue
                    contents.files[target]?.bytes = Array(
                        text.replacing(".ts\n", with: ".ts?signed=\(next)\n").utf8)
                    contents.files[target]?.tag = nil
                } else if target.contains("2.ts"), target.hasSuffix("=1") {
                    contents.refusals = [target: 403]
                }
            }
        }
        let file = try await bench.fetch(server.url("/talk.m3u8")).get()
        #expect(try Self.ownSamples(file.path) == Self.samples(folder.path("talk.m3u8")))
        #expect(number.load(ordering: .relaxed) == 2)
    }

    /// Serves a live one; the requests for it that have these numbers get another answer.
    static func serveLive(
        _ odd: Range<Int>, _ status: Int?, _ page: String
    ) throws -> (TemporaryFolder, FileServer) {
        let (folder, server) = try serve(["-hls_time", "1"])
        let text = String(decoding: try folder.read("talk.m3u8"), as: UTF8.self)
        let lines = text.split(separator: "\n")
        let pairs = lines.indices.filter { lines[$0].hasPrefix("#EXTINF") }.map {
            "\(lines[$0])\n\(lines[$0 + 1])\n"
        }
        let number = Atomic(0)
        server.change { contents in
            contents.prepare = { contents, target in
                guard target == "/talk.m3u8" else { return }
                // A window of three that goes on by one each time.
                let request = number.add(1, ordering: .relaxed).oldValue
                contents.refusals[target] = odd.contains(request) ? status : nil
                if odd.contains(request) {
                    contents.files[target] = .init(Array(page.utf8), tag: nil)
                    return
                }
                let first = min(request, pairs.count - 3)
                let end = first + 3 == pairs.count ? "#EXT-X-ENDLIST\n" : ""
                let head = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
                contents.files[target] = .init(
                    Array((head + pairs[first..<first + 3].joined() + end).utf8), tag: nil)
            }
        }
        return (folder, server)
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
        let (folder, server) = try Self.serveLive(odd, status, page)
        let file = try await bench.fetch(server.url("/talk.m3u8")).get()
        #expect(try Self.ownSamples(file.path) == Self.samples(folder.path("talk.m3u8")))
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
        let (folder, server) = try Self.serveLive(2..<100, status, page)
        let file = try await bench.fetch(server.url("/talk.m3u8")).get()
        let place = file.path.dropLast("index.m3u8".count)
        let ours = try (0..<4).map { try readFile("\(place)\($0).ts") }
        #expect(try ours == (0..<4).map { try folder.read("talk\($0).ts") })
        let index = String(decoding: try readFile(file.path), as: UTF8.self)
        #expect(index.hasSuffix("3.ts\n#EXT-X-ENDLIST\n"))
        #expect(
            file.notices == [
                "the live playlist cannot be had any more, and counts as ended: \(reason)"
            ])
    }

    /// Of three variants the playlist of the first, or segments of the second, cannot be had.
    @Test func aVariantThatFailsGivesWayToTheNext() async throws {
        let (folder, _) = try Self.serve([])
        let text = String(decoding: try folder.read("talk.m3u8"), as: UTF8.self)
        try folder.write(Array(text.replacing("talk", with: "other").utf8), to: "other.m3u8")
        try folder.write(try folder.read("talk0.ts"), to: "other0.ts")
        let main = ["none", "other", "talk"].enumerated().map {
            "#EXT-X-STREAM-INF:BANDWIDTH=\($0.offset + 1)00\n\($0.element).m3u8\n"
        }
        try folder.write(Array(("#EXTM3U\n" + main.joined()).utf8), to: "main.m3u8")
        let server = try Self.serve(folder)
        let file = try await bench.fetch(server.url("/main.m3u8")).get()
        #expect(try Self.ownSamples(file.path) == Self.samples(folder.path("talk.m3u8")))
        #expect(file.notices.isEmpty)
    }

    @Test func anEncoderThatBeginsItsNumbersAgainIsFollowed() async throws {
        let (folder, _) = try Self.serve([])
        for number in 0..<2 {
            try folder.write(try folder.read("talk\(number).ts"), to: "again\(number).ts")
        }
        let server = try Self.serve(folder)
        let number = Atomic(0)
        server.change { contents in
            contents.prepare = { contents, target in
                guard target == "/talk.m3u8" else { return }
                let isFirst = number.add(1, ordering: .relaxed).oldValue == 0
                let names = isFirst ? (0..<4).map { "talk\($0).ts" } : ["again0.ts", "again1.ts"]
                let text =
                    "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-PLAYLIST-TYPE:EVENT\n"
                    + names.map { "#EXTINF:2,\n\($0)\n" }.joined()
                    + (isFirst ? "" : "#EXT-X-ENDLIST\n")
                contents.files[target] = .init(Array(text.utf8), tag: nil)
            }
        }
        let file = try await bench.fetch(server.url("/talk.m3u8")).get()
        let index = String(decoding: try readFile(file.path), as: UTF8.self)
        let lines = index.split(separator: "\n").filter {
            $0.hasSuffix(".ts") || $0.contains("DISCONTINUITY")
        }
        #expect(
            lines == ["0.ts", "1.ts", "2.ts", "3.ts", "#EXT-X-DISCONTINUITY", "4.ts", "5.ts"])
        let last = file.path.replacing("index.m3u8", with: "5.ts")
        #expect(try readFile(last) == folder.read("again1.ts"))
    }

    @Test func aTimeEndsALiveOne() async throws {
        let (_, server) = try Self.serve([])
        server.change { contents in
            let text = String(decoding: contents.files["/talk.m3u8"]?.bytes ?? [], as: UTF8.self)
            contents.files["/talk.m3u8"] = .init(
                Array(text.replacing("#EXT-X-ENDLIST\n", with: "").utf8))
        }
        let file = try await bench.fetch(server.url("/talk.m3u8")) { $0.longest = .seconds(3) }
            .get()
        let byteCount = try Self.ownSamples(file.path).count
        #expect((112_000...144_000).contains(byteCount), "\(byteCount)")
    }

    // MARK: - Hostile ones

    private func refusal(_ text: String) async throws -> DownloadFailure? {
        let server = try FileServer([
            "/a.m3u8": .init(Array("#EXTM3U\n\(text)\n".utf8)), "/1.ts": .init([1, 2, 3]),
        ])
        guard case .failure(let failure) = try await bench.fetch(server.url("/a.m3u8")) else {
            return nil
        }
        return failure
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
        let failure = try await refusal(text)
        guard case .ownNetwork = failure else {
            Issue.record("\(failure as DownloadFailure?)")
            return
        }
        #expect(other.server.connectionCount == 0)
    }

    @Test(arguments: [
        "file:///etc/passwd", "concat:1.ts|/etc/passwd", "ftp://127.0.0.1/", "data:,x",
    ])
    func noOtherSchemeIsFollowed(_ url: String) async throws {
        let failure = try await refusal(Self.head + url + "\n#EXT-X-ENDLIST")
        switch failure {
        case .unusable, .refused: break
        default: Issue.record("\(failure as DownloadFailure?)")
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
        #expect(try await refusal(text) == .unusable(reason))
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
