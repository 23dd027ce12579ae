// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `utter fetch`, and what other commands do with downloads.
@Suite struct FetchTests {
    private static let bytes = (0..<200_000).map {
        UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13)
    }

    private let bench: Bench

    init() throws { bench = try Bench() }

    /// The downloads that there are.
    private func downloads() throws -> [String] {
        try bench.folder.names(in: "state/utter/downloads")
    }

    private func path(_ result: CommandResult) -> String {
        String(result.outputText.dropLast())
    }

    @Test func pathsArePrintedInTheOrderOfTheURLs() async throws {
        let server = try FileServer(["/a.mp3": .init(Self.bytes), "/b": .init([1, 2])])
        let result = try await bench.run("fetch", server.url("/a.mp3"), server.url("/b"))
        #expect(result.status == .exited(0), "\(result.errorText)")
        let paths = result.outputText.split(separator: "\n").map(String.init)
        #expect(try paths.map { try readFile($0) } == [Self.bytes, [1, 2]])
        let again = try await bench.run("fetch", server.url("/b"))
        #expect(path(again) == paths[1] && again.errorText.contains("unchanged"))
        let elsewhere = try await bench.run(
            "fetch", "-o", bench.folder.path("here.mp3"), server.url("/a.mp3"))
        #expect(path(elsewhere) == bench.folder.path("here.mp3"))
        #expect(try bench.folder.read("here.mp3") == Self.bytes)
    }

    @Test func aFailureHasItsStatusAndItsHint() async throws {
        let server = try FileServer()
        server.change {
            $0.refusals = ["/secret": 401]
            $0.moves["/away"] = (302, "http://127.0.0.1:9/")
        }
        let expected: [(String, Int32, String)] = [
            (server.url("/secret"), 77, "--token-file"),
            (server.url("/away"), 69, "services.NAME.url"),
            ("http://127.0.0.1:9/", 75, "utter flush"),
        ]
        for (words, reason) in [
            (["-o", "-", server.url("/a")], "a new file"),
            (["-o", "", server.url("/a")], "a new file"), (["ftp://example.com/"], "http://"),
        ] {
            let result = try await bench.here(["fetch"] + words)
            #expect(result.status == .exited(64) && result.outputText.isEmpty)
            #expect(result.errorText.contains(reason), "\(result.errorText)")
        }
        let unkept = try await bench.run("send", "--no-keep", server.url("/a"))
        #expect(unkept.status == .exited(64) && server.requests.isEmpty)
        for (url, status, words) in expected {
            let result = try await bench.run("fetch", url)
            #expect(result.status == .exited(status), "\(url): \(result.errorText)")
            #expect(result.errorText.contains(words), "\(result.errorText)")
            #expect(result.outputText.isEmpty)
        }
    }

    @Test func eventsTellHowFarItHasCome() async throws {
        let server = try FileServer(["/a": .init(Self.bytes)])
        let result = try await bench.run("fetch", "--events", server.url("/a"), server.url("/b"))
        let events = try result.outputText.split(separator: "\n").map {
            try ParsedJSON(Array($0.utf8))
        }
        #expect(events.first?["event"] == .string("fetching"))
        #expect(events.first?["totalBytes"] == .number(200_000))
        let fetched = try #require(events.first { $0["event"] == .string("fetched") })
        #expect(try readFile(fetched["path"]?.string ?? "") == Self.bytes)
        #expect(events.last?["event"] == .string("unfetched"))
    }

    /// Starts to fetch a file of which three quarters come before the gate opens.
    private func fetchThatStalls(until gate: Gate) async throws -> (FileServer, CommandRun) {
        let server = try FileServer(["/a": .init(Self.bytes)], stallingUntil: gate)
        server.change { $0.cuts = [150_000] }
        let run = try bench.start(["fetch", "--events", server.url("/a")])
        #expect(await run.wait(for: "\"bytes\":150000", in: .output))
        return (server, run)
    }

    @Test func aKilledFetchGoesOnByFlush() async throws {
        let gate = Gate()
        let (server, run) = try await fetchThatStalls(until: gate)
        run.signal(SIGKILL)
        _ = try await run.result()
        let waiting = try await bench.here("list")
        #expect(waiting.errorText.contains("waiting, 150 kB of 200 kB: \(server.url("/a"))"))
        gate.open()
        let flushed = try await bench.run("flush")
        #expect(flushed.status == .exited(0), "\(flushed.errorText)")
        #expect(server.requests.last?["Range"] == "bytes=150000-")
        let again = try await bench.run("fetch", server.url("/a"))
        #expect(try readFile(path(again)) == Self.bytes)
        #expect(again.errorText.contains("unchanged"))
    }

    @Test func aFailedDownloadIsListedOnlyAmongAllAndCanBeTakenOff() async throws {
        let server = try FileServer([:])
        let failed = try await bench.run("fetch", server.url("/none"))
        #expect(failed.status == .exited(69) && failed.outputText.isEmpty)
        #expect(failed.errorText.contains("answers 404"), "\(failed.errorText)")
        #expect(failed.errorText.contains("hint: check the URL; 'utter rm ID'"))
        let id = try #require(try downloads().first)
        for words in [["-n", "1"], ["--grep", "x"], ["--waiting"]] {
            #expect(try await bench.here(["list"] + words).error.isEmpty)
        }
        #expect(try await bench.here("list").errorText.contains("with: utter rm \(id)\n"))
        #expect(try await bench.here("rm", id).status == .exited(0))
        #expect(try await bench.here("list").error.isEmpty)
    }

    @Test func aPauseOfAnotherProcessHolds() async throws {
        let gate = Gate()
        let (server, run) = try await fetchThatStalls(until: gate)
        let id = try #require(try downloads().first)
        let paused = try await bench.here("fetch", "--pause", String(id.prefix(5)))
        #expect(paused.status == .exited(0), "\(paused.errorText)")
        #expect(try await run.result().status == .exited(75))
        gate.open()
        #expect(try await bench.here("list").errorText.contains("paused"))
        _ = try await bench.run("flush")
        #expect(server.requests.count == 1)
        let resumed = try await bench.run("fetch", "--resume", id)
        #expect(try readFile(path(resumed)) == Self.bytes)
        let late = try await bench.here("fetch", "--pause", id)
        #expect(late.status == .exited(0) && late.errorText.contains("is whole"))
        let removed = try await bench.here("rm", id)
        #expect(removed.errorText.contains("removed download \(id)"))
        #expect(try downloads().isEmpty)
    }

    @Test func whatIsFetchedNowIsNotRemoved() async throws {
        let gate = Gate()
        let (server, run) = try await fetchThatStalls(until: gate)
        let id = try #require(try downloads().first)
        let removed = try await bench.here("rm", id)
        #expect(removed.status == .exited(75) && removed.errorText.contains("being fetched"))
        _ = try await bench.here("rm", "-y", "all")
        #expect(try downloads() == [id])
        gate.open()
        let fetched = try await run.result()
        #expect(fetched.status == .exited(0), "\(fetched.errorText)")
        #expect(server.requests.count == 2)
        let listed = try ParsedJSON(await bench.here("list", "--json").output)
        #expect(listed.array?.count == 1 && listed[0]?["url"]?.string != nil)
        #expect(listed[0]?["id"] == .string(id) && listed[0]?["state"] == .string("done"))
        #expect(listed[0]?["bytes"] == .number(200_000))
        let all = try await bench.here("rm", "all")
        #expect(all.errorText.contains("removed download \(id)"), "\(all.errorText)")
        #expect(try downloads().isEmpty)
    }

    /// The file that ffmpeg makes of a clip.
    private static func files(_ words: String...) throws -> [String: FileServer.File] {
        let folder = try TemporaryFolder()
        try ForeignTool("ffmpeg").run(
            ["-v", "error", "-i", Clip.digits.path]
                + words.map { $0.replacing("FOLDER", with: folder.path) })
        var files: [String: FileServer.File] = [:]
        for name in try folder.names() { files["/" + name] = .init(try folder.read(name)) }
        return files
    }

    private static let playlist = Result {
        try files("-hls_time", "1", "-hls_list_size", "0", "FOLDER/index.m3u8")
    }

    @Test(arguments: ["/talk.mp3", "/index.m3u8"])
    func aURLIsFetchedAndTranscribed(_ name: String) async throws {
        let server = try FileServer(
            name == "/talk.mp3" ? Self.files("FOLDER/talk.mp3") : Self.playlist.get())
        let service = try RecordingServer.hearing("heard")
        let bench = try Bench(server: service)
        let result = try await bench.run("send", server.url(name))
        #expect(result.status == .exited(0), "\(result.errorText)")
        // What it has fetched itself goes with it.
        #expect(try bench.folder.names(in: "state/utter/downloads").isEmpty)
        #expect(result.outputText == "heard\n")
        let (sent, spoken) = (service.requests[0].body.count, try Clip.digits.samples.count)
        #expect(abs(sent - spoken) < 16_000 / 4, "\(sent) of \(spoken)")
    }

    @Test func aGapIsSaidWhereItsTextIsPrinted() async throws {
        var files = try Self.playlist.get()
        let index = try #require(files["/index.m3u8"])
        let text = String(decoding: index.bytes, as: UTF8.self)
        files["/index.m3u8"] = .init(
            Array(text.replacing("index1.ts", with: "#EXT-X-GAP\nindex1.ts").utf8))
        let server = try FileServer(files)
        let url = server.url("/index.m3u8")
        let words = "a segment could not be had; a gap is left"
        let bench = try Bench(server: try RecordingServer.hearing("heard"))
        for command in ["fetch", "send"] {
            let result = try await bench.run(command, "-q", url)
            #expect(result.status == .exited(0))
            #expect(result.errorText.contains("warning: \(url): \(words)\n"))
        }
        let report = try ParsedJSON(await bench.run("send", "--json", url).output)
        #expect(report["notices"]?.array?.contains(.string(words)) == true)
    }

    /// What a server calls a recording names files of this machine.
    @Test(arguments: [
        ("ffconcat version 1.0\nfile SECRET\n", "is text, and not sound: nothing is sent\n"),
        (
            "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nfile:SECRET\n#EXT-X-ENDLIST\n",
            "it must begin with http:// or https://"
        ),
        (
            "<?xml version=\"1.0\"?><MPD><Period><BaseURL>file:SECRET</BaseURL></Period></MPD>",
            "is XML, and not sound: nothing is sent\n"
        ),
    ])
    func noFileOfThisMachineIsSent(_ text: String, _ reason: String) async throws {
        let secret = Clip.digits.path
        let body = Array(text.replacing("SECRET", with: secret).utf8)
        let server = try FileServer(["/a.mp3": .init(body)])
        let service = try RecordingServer.hearing("heard")
        let result = try await Bench(server: service).run("send", server.url("/a.mp3"))
        #expect(result.status == .exited(65))
        #expect(result.errorText.contains(reason), "\(result.errorText)")
        #expect(server.requests.map(\.target) == ["/a.mp3"])
        #expect(service.requests.isEmpty)
    }

    @Test func aProgramThatIsKilledAtEachRequestEndsWithTheSameFiles() async throws {
        let files = try Self.files(
            "-hls_time", "1", "-hls_segment_type", "fmp4", "-hls_list_size", "0", "FOLDER/a.m3u8")
        let server = try FileServer(files)
        for number in 1..<40 {
            let (reached, requests) = (Gate(), Observed(0))
            server.change { contents in
                contents.prepare = { _, _ in
                    let count = requests.update { count in
                        count += 1
                        return count
                    }
                    if count == number { reached.open() }
                }
            }
            let run = try bench.start(["fetch", "-q", server.url("/a.m3u8")])
            let ending = Task {
                defer { reached.open() }
                return try await run.result().status
            }
            #expect(await reached.wait())
            run.signal(SIGKILL)
            if try await ending.value == .exited(0) { break }
        }
        let result = try await bench.run("fetch", server.url("/a.m3u8"))
        #expect(result.status == .exited(0), "\(result.errorText)")
        let folder = String(path(result).dropLast("/index.m3u8".count))
        for (name, file) in files where name.hasSuffix(".m4s") {
            let found = try (0..<files.count).contains { number in
                guard access("\(folder)/\(number).m4s", F_OK) == 0 else { return false }
                return try readFile("\(folder)/\(number).m4s") == file.bytes
            }
            #expect(found, "\(name)")
        }
    }
}
