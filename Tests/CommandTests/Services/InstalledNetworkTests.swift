// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// What libcurl and the C library bring, in the program as it is installed.
@Suite struct InstalledNetworkTests {
    private let home: TemporaryFolder
    private let bench: Bench

    init() async throws {
        home = try TemporaryFolder()
        bench = try Bench()
        let utter = try #require(BuiltProducts.path(of: "utter"))
        var environment = CommandRun.cleanEnvironment
        environment["UTTER_BUILD"] = String(utter.dropLast("/utter".count))
        let installed = try await CommandRun.run(
            SourceTree.path("scripts/install.sh"), ["install", "", home.path],
            environment: environment)
        try #require(installed.status == .exited(0), "\(installed.errorText)")
    }

    private var program: String { home.path("bin/utter") }

    private func send(_ options: [String]) async throws -> CommandResult {
        try await CommandRun.run(
            program, ["send", "-c", "retry.never=true"] + options + [Clip.goForward.path],
            environment: bench.environment)
    }

    @Test func aServiceThatSpeaksHTTP2AloneIsReached() async throws {
        let server = try await HTTP2Server(answer: "over two")
        let service = ["--to", server.url, "-c", "connection.ca-file=\(server.certificateFile)"]
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

    @Test(arguments: ["gzip", "brotli"])
    func aCompressedAnswerIsRead(_ tool: String) async throws {
        let body = try await CommandRun.run(
            tool, ["-c"], input: .bytes(Array(#"{"text":"heard by \#(tool)"}"#.utf8))
        ).output
        let headers = [
            HeaderField("Content-Encoding", tool == "brotli" ? "br" : tool),
            HeaderField("Content-Type", "application/json"),
        ]
        let server = try RecordingServer(
            otherwise: [
                .readHead, .readBodyToEnd, .respond(status: 200, headers: headers, body: body),
            ])
        let result = try await send(["--to", server.url()])
        #expect(result.outputText == "heard by \(tool)\n", "\(result.errorText)")
    }

    /// The name is in no file and no DNS: a plug-in of the name service knows its ASCII form.
    @Test(
        .enabled(if: NameService.isAvailable, "no program may mount something for itself here"),
        arguments: ["bücher.example", "xn--bcher-kva.example"])
    func anInternationalNameIsFoundByAPlugIn(_ host: String) async throws {
        let server = try RecordingServer.hearing("found")
        let front = try await TLSFront(to: server, for: "DNS:xn--bcher-kva.example")
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
