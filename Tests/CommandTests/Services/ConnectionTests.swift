// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Connections of the program, and what it tells of them.
@Suite struct ConnectionTests {
    @Test func theLoginOfAProxyIsThatOfTheVariable() async throws {
        let proxy = try await ProxyServer(login: "name s3cret")
        let bench = try Bench(server: .hearing("heard"), ["UTTER_PROXY_LOGIN": "name:s3cret"])
        let result = try await bench.run(
            "send", "-c", "connection.proxy=\(proxy.url)", Clip.goForward.path)
        #expect(result.outputText == "heard\n", "\(result.errorText)")
    }

    /// Many takes to one https service, as the service counts their handshakes.
    @Test(arguments: ["flush", "send"])
    func takesShareAConnection(_ command: String) async throws {
        let (count, server) = (8, try RecordingServer.hearing("heard"))
        let (front, bench) = (try await TLSFront(to: server.port), try Bench())
        var files = try (0..<count).map { _ in try bench.fresh(.goForward) }
        if command == "flush" {
            // All begin before the first one fails, so that none is skipped.
            let kept = try await bench.start(
                [
                    "send", "-q", "-c", "retry.never=true", "--jobs", "\(count)", "--to",
                    "http://127.0.0.1:9/",
                ] + files
            ).result()
            #expect(kept.status == .exited(75))
            try #require(try bench.takes().count == count)
            files = []
        }
        let sent = try await bench.start(
            [command, "--to", front.url(), "-c", "connection.ca-file=\(front.certificateFile)"]
                + files
        ).result()
        #expect(sent.status == .exited(0), "\(sent.errorText)")
        #expect(server.requests.count == count)
        #expect(server.frontConnectionCount < count / 2)
    }

    @Test func whatHappenedWhenIsTold() async throws {
        let server = try RecordingServer(
            scripts: [[.readHead, .readBodyToEnd, .close]], otherwise: .answer(text: "heard"))
        let front = try await TLSFront(to: server.port)
        let bench = try Bench()
        let result = try await bench.run(
            "send", "-v", "--events", "--to", front.url("/asr?secret=sesame"),
            "-c", "connection.ca-file=\(front.certificateFile)", Clip.goForward.path)
        #expect(result.status == .exited(0), "\(result.errorText)")
        let last = try #require(result.outputText.split(separator: "\n").last)
        let report = try #require(try ParsedJSON(Array(last.utf8))["outcome"])
        #expect(report["retries"] == .number(1))
        #expect(report["redirects"] == .number(0))
        let attempt = try #require(report["attempts"]?[1])
        for name in ["headOutMs", "firstTextMs", "firstBodyByteInMs", "securedMs"] {
            #expect(attempt[name]?.number != nil, "\(name)")
        }
        #expect(attempt["tls"]?.string?.hasPrefix("TLSv1.") == true)
        #expect(attempt["cipher"]?.string?.isEmpty == false)
        #expect(attempt["remote"] == .string("127.0.0.1:\(front.port)"))
        #expect(attempt["reused"] == .bool(false))
        #expect(attempt["receivedBytes"] == .number(5))
        for name in ["firstFrameMs", "capturedMs", "sealedMs", "settledMs"] {
            #expect(report["times"]?[name]?.number != nil, "\(name)")
        }
        for words in ["connection", "TLSv1.", "first frame after", "2: 1 retried"] {
            #expect(result.errorText.contains(words), "\(result.errorText)")
        }
        // The sample draws it in the shape that trace viewers read.
        let events = try bench.folder.write(result.output, to: "events")
        let trace = try await CommandRun.run(
            "python3", [SourceTree.path("samples/trace.py"), events])
        #expect(trace.status == .exited(0), "\(trace.errorText)")
        let check = try await CommandRun.run(
            "python3",
            [
                "-c",
                """
                import json, sys
                text = sys.argv[1]
                assert "sesame" not in text
                events = json.loads(text)["traceEvents"]
                for event in events:
                    assert event["ph"] in "XiM" and isinstance(event["pid"], int), event
                    assert isinstance(event["tid"], int) and event["name"], event
                    if event["ph"] == "X": assert event["ts"] >= 0 and event["dur"] >= 0, event
                    if event["ph"] == "i": assert event["s"] == "t", event
                spans = {(e["tid"], e["name"]): e for e in events if e["ph"] == "X"}
                take = spans[(0, "take")]
                assert take["args"]["retries"] == 1
                for number in (1, 2):
                    request = spans[(number, "request %d" % number)]
                    inside = [e for (tid, _), e in spans.items() if tid == number]
                    assert len(inside) > 3
                    for e in inside:
                        assert e["ts"] >= request["ts"] - 1
                        assert e["ts"] + e["dur"] <= request["ts"] + request["dur"] + 1, e
                assert spans[(2, "request 2")]["ts"] >= spans[(1, "request 1")]["ts"]
                assert spans[(2, "request 2")]["args"]["tls"].startswith("TLSv1.")
                assert any(e["ph"] == "i" and e["name"] == "first text" for e in events)
                print("well-formed")
                """, trace.outputText,
            ])
        #expect(check.outputText == "well-formed\n", "\(check.errorText)")
    }
}

/// What libcurl and the C library bring, in the program as it is installed.
@Suite struct InstalledNetworkTests {
    private let bench: Bench
    private let program: String

    /// Where the program is, once for all of these tests.
    private static let installed = Task {
        let home = try TemporaryFolder.forProcess()
        let utter = try #require(BuiltProducts.path(of: "utter"))
        var environment = CommandRun.cleanEnvironment
        environment["UTTER_BUILD"] = String(utter.dropLast("/utter".count))
        let result = try await CommandRun.run(
            SourceTree.path("scripts/install.sh"), ["install", "", home.path],
            environment: environment)
        try #require(result.status == .exited(0), "\(result.errorText)")
        return home.path("bin/utter")
    }

    init() async throws {
        (bench, program) = (try Bench(), try await Self.installed.value)
    }

    private func send(_ options: [String]) async throws -> CommandResult {
        try await CommandRun.run(
            program, ["send", "-c", "retry.never=true"] + options + [Clip.goForward.path],
            environment: bench.environment)
    }

    @Test func aServiceThatSpeaksHTTP2AloneIsReached() async throws {
        let server = try RecordingServer.hearing("over two")
        let front = try await TLSFront(to: server.port, TLSFront.http2Alone)
        let service = ["--to", front.url(), "-c", "connection.ca-file=\(front.certificateFile)"]
        let result = try await send(["-c", "connection.http=2", "--json"] + service)
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.outputText.contains("over two"))
        #expect(result.outputText.contains(#""httpVersion":"2""#))
        // Unless it is wished, only HTTP/1.1 is spoken.
        #expect(try await send(service).status == .exited(75))
        // What was kept remembers what it is told once.
        let again = try await CommandRun.run(
            program, ["retry", "last", "-c", "connection.http=2"], environment: bench.environment)
        #expect(again.outputText == "over two\n", "\(again.errorText)")
    }

    /// The name is in no file and no DNS: a plug-in of the name service knows its ASCII form.
    @Test(
        .enabled(if: NameService.isAvailable, "no program may mount something for itself here"),
        arguments: ["bücher.example", "xn--bcher-kva.example"])
    func anInternationalNameIsFoundByAPlugIn(_ host: String) async throws {
        let server = try RecordingServer.hearing("found")
        let front = try await TLSFront(to: server.port, for: "DNS:xn--bcher-kva.example")
        let names = try await NameService(knowing: "xn--bcher-kva.example")
        var environment = bench.environment
        // A locale that knows no such letters changes nothing.
        environment["LC_ALL"] = "C"
        environment["UTTER_URL"] = "https://xn--bcher-kva.example:\(front.port)"
        environment["UTTER_TOKEN"] = "sesame"
        let result = try await names.run(
            program,
            [
                "send", "-c", "retry.never=true", "-c",
                "connection.ca-file=\(front.certificateFile)", "--to",
                "https://\(host):\(front.port)/", Clip.goForward.path,
            ], environment: environment)
        #expect(result.outputText == "found\n", "\(result.errorText)")
        let request = try #require(server.requests.first)
        #expect(request["Host"] == "xn--bcher-kva.example:\(front.port)")
        // The token of one spelling is that of the other.
        #expect(request["Authorization"] == "Bearer sesame")
    }
}
