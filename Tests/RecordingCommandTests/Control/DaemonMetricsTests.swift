// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// What programs that run for long tell an operator.
@Suite struct DaemonMetricsTests {
    private func get(_ path: String, _ socket: String) throws -> String {
        try ForeignTool("curl").run(
            ["-sS", "-m", "20", "-w", "\n%{http_code}", "--unix-socket", socket, "http://x\(path)"]
        ).text
    }

    /// Expects that the program is ready, and has lines on its page.
    private func expect(at socket: String, _ lines: String...) throws {
        let page = try get("/metrics", socket)
        for line in lines { #expect(page.contains("\n\(line)\n"), "\(line): \(page)") }
        #expect(try get("/readyz", socket) == "ready\n\n200")
    }

    @Test func theDaemonCountsItsTakes() async throws {
        let bench = try ControlBench(
            RecordingServer(
                scripts: [.answer(text: "one")],
                otherwise: .answer(status: 400, text: "no")))
        let socket = bench.bench.folder.path("metrics")
        let daemon = try await bench.daemon("--metrics", "unix:" + socket)
        for number in 0...1 { _ = try await bench.dictate(number) }
        try expect(
            at: socket,
            #"utter_takes_total{outcome="text"} 1"#, #"utter_takes_total{outcome="failed"} 1"#,
            #"utter_attempts_total{class="2xx"} 1"#, #"utter_attempts_total{class="4xx"} 1"#,
            #"utter_bytes_sent_total{kind="resent"} 0"#, "utter_answer_seconds_count 1",
            #"utter_spool_takes{state="kept"} 1"#, #"utter_spool_takes{state="answered"} 1"#)
        // The trace follows from the take's id.
        let request = try #require(bench.server.requests.first)
        let id = try #require(request["Idempotency-Key"]).filter { $0 != "\"" }
        let digest = try ForeignTool("bash").run(["-c", "printf %s '\(id)' | sha256sum"]).text
        #expect(request["traceparent"]?.hasPrefix("00-\(digest.prefix(32))-") == true)
        try await daemon.terminate()
    }

    @Test func theEndpointCountsItsRequests() async throws {
        let bench = try Bench()
        let socket = bench.folder.path("metrics")
        let (server, url) = try await bench.serve(
            "--grammar", Bench.grammar, "--metrics", "unix:" + socket)
        #expect(
            try await bench.run("send", "--to", url, Clip.goForward.path).status == .exited(0))
        try expect(
            at: socket,
            #"utter_endpoint_requests_total{class="2xx"} 1"#,
            "utter_endpoint_request_seconds_count 1",
            #"utter_endpoint_recordings{state="running"} 0"#)
        try await server.terminate()
    }
}
