// SPDX-License-Identifier: Apache-2.0

import Glibc
import LinuxPlatform
import TestSupport
import Testing

@testable import OperatorMetrics

@Suite struct MetricFamilyTests {
    @Test func aFamilyIsWrittenAsPrometheusReadsIt() {
        let plain = MetricFamily.counter("a_total", "Things.", 3)
        #expect(plain.text == "# HELP a_total Things.\n# TYPE a_total counter\na_total 3\n")
        let labelled = MetricFamily.gauge("b", "Others.", by: "state", ["x": 0.5, "a\"\\\n": 2])
        #expect(
            labelled.text == """
                # HELP b Others.
                # TYPE b gauge
                b{state="a\\"\\\\\\n"} 2
                b{state="x"} 0.5

                """)
    }

    @Test func aHistogramCountsUpwards() {
        var histogram = Histogram()
        for seconds in [0.05, 0.2, 0.2, 9_999] { histogram.note(seconds) }
        let lines = MetricFamily.histogram("c", "Times.", histogram).text.split(separator: "\n")
        #expect(lines[1] == "# TYPE c histogram")
        #expect(lines[2] == #"c_bucket{le="0.05"} 1"#)
        #expect(lines[4] == #"c_bucket{le="0.25"} 3"#)
        #expect(lines.suffix(3) == [#"c_bucket{le="+Inf"} 4"#, "c_sum 9999.45", "c_count 4"])
        #expect(lines[lines.count - 4] == #"c_bucket{le="1800"} 3"#)
    }

    @Test(arguments: [
        ("127.0.0.1:9464", MetricsPlace.port("127.0.0.1", 9_464), false),
        ("[::1]:0", .port("::1", 0), false), ("0.0.0.0:80", .port("0.0.0.0", 80), true),
        ("[::]:80", .port("::", 80), true), ("unix:/run/x", .path("/run/x"), false),
    ])
    func aPlaceIsRead(text: String, place: MetricsPlace, isOpen: Bool) {
        #expect(MetricsPlace(text) == place)
        #expect(place.isOpen == isOpen)
    }

    @Test(arguments: [
        "", "9464", "localhost:9464", "127.0.0.1", "127.0.0.1:65536", "::1:9464", "[::1:9464",
        "unix:x", "127.1:80",
    ])
    func whatIsNoPlaceIsNone(text: String) { #expect(MetricsPlace(text) == nil) }
}

/// The server, by curl.
@Suite struct MetricsServerTests {
    private let readiness = Readiness()

    private func makeServer(
        at place: MetricsPlace = .port("127.0.0.1", 0), token: String? = nil
    ) throws -> MetricsServer {
        try MetricsServer(
            at: place, token: token,
            MetricsServer.Source {
                [.counter("utter_takes_total", "Takes.", by: "outcome", ["text": 7])]
            } obstacle: { [readiness] in
                readiness.obstacle
            })
    }

    /// The answers to requests that curl makes one after the other, each with its status.
    private func get(_ requests: [String]...) throws -> [String] {
        let words = requests.map { ["-sS", "-m", "20", "-w", "\n%{http_code}\u{1E}"] + $0 }
        let text = try ForeignTool("curl").run(Array(words.joined(separator: ["--next"]))).text
        return text.split(separator: "\u{1E}").map(String.init)
    }

    @Test func whatIsCountedIsTold() throws {
        let server = try makeServer()
        defer { server.shutDown() }
        let base = "http://127.0.0.1:\(server.port)"
        let first = try get(["\(base)/metrics"], ["\(base)/healthz"], ["\(base)/readyz"])
        try #require(first.count == 3)
        #expect(first[0].hasSuffix("\n200"))
        #expect(first[0].contains("\nutter_takes_total{outcome=\"text\"} 7\n"))
        #expect(first[0].contains("\nprocess_resident_memory_bytes "))
        #expect(first[1...] == ["ok\n\n200", "it is starting\n\n503"])
        readiness.obstacle = nil
        let second = try get(
            ["\(base)/readyz"], ["\(base)/other"], ["-X", "POST", "\(base)/metrics"],
            ["-I", "\(base)/metrics"])
        try #require(second.count == 4)
        #expect(second[0] == "ready\n\n200")
        #expect(second[1].hasSuffix("\n404"))
        #expect(second[2].hasSuffix("\n405"))
        #expect(second[3].hasSuffix("\r\n\r\n\n200"))
    }

    @Test func aTokenIsWantedWhereOneIsNamed() throws {
        let server = try makeServer(token: "abc")
        defer { server.shutDown() }
        let base = "http://127.0.0.1:\(server.port)"
        func asked(_ token: String) -> [String] {
            ["-H", "Authorization: Bearer \(token)", "\(base)/metrics"]
        }
        let answers = try get(
            ["\(base)/metrics"], asked("abd"), asked("ab"), asked("abcd"), asked(""),
            ["-H", "authorization: bearer abc", "\(base)/metrics"],
            // A probe has no token.
            ["\(base)/healthz"])
        let statuses = answers.map { $0.suffix(4) }
        #expect(
            statuses == ["\n401", "\n401", "\n401", "\n401", "\n401", "\n200", "\n200"])
    }

    @Test func aSocketWithAPathServesToo() throws {
        let folder = try TemporaryFolder()
        let server = try makeServer(at: .path(folder.path("m")))
        defer { server.shutDown() }
        let page = try get(["--unix-socket", folder.path("m"), "http://x/metrics"])
        #expect(page.first?.contains("utter_takes_total") == true)
    }

    /// More than the server keeps, with two seconds each.
    @Test func clientsThatSayNothingDelayNoOther() throws {
        let server = try makeServer()
        let script = """
            for i in {1..200}; do exec {fd}<>/dev/tcp/127.0.0.1/\(server.port); printf G >&$fd; done
            curl -sS -m 20 http://127.0.0.1:\(server.port)/{healthz,readyz,metrics}
            """
        let text = try ForeignTool("bash").run(["-c", script]).text
        #expect(text.hasPrefix("ok\nit is starting\n# HELP"))
        server.shutDown()
    }

    @Test(.enabled(if: hasPromtool))
    func promtoolTakesTheAlertsOfTheDocuments() throws {
        let bytes = try readFile(SourceTree.path("docs/metrics.md"), limit: 1 << 20)
        let text = String(decoding: bytes, as: UTF8.self)
        let rules = try #require(text.firstMatch(of: /```yaml\n(groups:[^`]*)```/)).1
        let folder = try TemporaryFolder()
        try folder.write(Array(rules.utf8), to: "rules")
        try ForeignTool("promtool").run(["check", "rules", folder.path("rules")])
    }

    private static let hasPromtool = access("/usr/bin/promtool", X_OK) == 0

    /// `make fleet-test` installs it.
    @Test(.enabled(if: hasPromtool))
    func promtoolFindsNothingWrong() throws {
        var histogram = Histogram()
        histogram.note(1)
        let page =
            ([.histogram("utter_answer_seconds", "Time.", histogram)] + ProcessNumbers.families)
            .text
        let folder = try TemporaryFolder()
        try folder.write(Array(page.utf8), to: "page")
        try ForeignTool("bash").run(["-c", "promtool check metrics <'\(folder.path("page"))'"])
    }
}
