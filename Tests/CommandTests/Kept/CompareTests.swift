// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// `utter retry` with several services: one recording, what each of them hears.
@Suite struct CompareTests {
    private let bench: Bench
    private let servers: [RecordingServer]

    init() throws {
        bench = try Bench(["UTTER_URL": ""])
        servers = [
            try RecordingServer(otherwise: .answer(text: #"{"text":"go forward ten meters"}"#)),
            try RecordingServer(otherwise: .answer(text: #"{"text":"go for ten metres"}"#)),
            try RecordingServer(otherwise: .answer(status: 401, text: "no such token")),
        ]
        var text = ""
        for (name, server) in zip(["one", "second", "three"], servers) {
            text += """
                [services.\(name)]
                profile = "speaches"
                url = "\(server.url("/v1/audio/transcriptions"))"
                token-command = "echo sk-\(name)"

                """
        }
        try bench.configure(text)
    }

    @Test func theTextsStandUnderEachOtherAndTheTakeStaysAsItIs() async throws {
        let take = try await bench.keep()
        let before = try readFile(take.path + "/take.json")
        let result = try await bench.run("retry", "last", "--service", "one,second,three")
        #expect(result.status == .exited(77))
        let lines = result.outputText.split(separator: "\n")
        try #require(lines.count == 3, "\(result.outputText)\(result.errorText)")
        #expect(lines[0].hasPrefix("one ") && lines[0].hasSuffix(" s  go forward ten meters"))
        #expect(lines[1].hasPrefix("second ") && lines[1].hasSuffix(" s  go for ten metres"))
        #expect(lines[2].hasPrefix("three ") && lines[2].contains(" s  error: "))
        #expect(lines[2].contains("no such token"))
        // The texts begin at the same column.
        let columns = ["go f", "go f", "error:"].enumerated().map { index, text in
            lines[index].firstRange(of: text).map {
                lines[index].distance(from: lines[index].startIndex, to: $0.lowerBound)
            }
        }
        #expect(Set(columns).count == 1)
        #expect(
            servers.map { $0.requests.map { $0["Authorization"] } }
                == [["Bearer sk-one"], ["Bearer sk-second"], ["Bearer sk-three"]])
        let bodies = servers.map { $0.requests[0].body.count }
        #expect(bodies[0] > 80_000 && Set(bodies).count == 1)
        #expect(try bench.onlyTake()?.id == take.id)
        #expect(try readFile(take.path + "/take.json") == before)

        // Programs get an array.
        let array = try await bench.run("retry", "--json", "--service", "one,three")
        #expect(array.status == .exited(77))
        let rows = try ParsedJSON(array.output)
        #expect(rows[0]?["service"] == .string("one"))
        #expect(rows[0]?["text"] == .string("go forward ten meters"))
        #expect(rows[0]?["exit"] == .number(0) && rows[0]?["error"] == .null)
        #expect(rows[1]?["text"] == .null && rows[1]?["exit"] == .number(77))
        #expect(rows[0]?["milliseconds"]?.number != nil)
    }

    @Test func itsOwnServiceAnswersTheTake() async throws {
        let down = try RecordingServer(
            scripts: [[.readHead, .readBodyToEnd, .respond(status: 503, text: "")]],
            otherwise: .answer(text: #"{"text":"its own"}"#))
        try bench.configure(
            """
            [services.speaches]
            url = "\(down.url("/v1/audio/transcriptions"))"
            [services.one]
            profile = "speaches"
            url = "\(servers[0].url("/v1/audio/transcriptions"))"
            """)
        let kept = try await bench.run(
            "send", "-q", "-c", "retry.never=true", "--service", "speaches", Clip.goForward.path)
        #expect(kept.status == .exited(75))
        let result = try await bench.run("retry", "last", "--service", "one,speaches")
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.outputText.split(separator: "\n").last?.hasSuffix("  its own") == true)
        #expect(try await bench.here("last").outputText == "its own\n")
        #expect(down.requests.count == 2 && servers[0].requests.count == 1)
    }

    @Test func aMistakeAsksNoService() async throws {
        _ = try await bench.keep()
        for (words, reason) in [
            (["last", "--service", "one,nowhere"], "there is no service 'nowhere'"),
            (["all", "--service", "one,second"], "one recording is compared at a time"),
            (
                ["last", "--service", "one,second", "--to", "http://127.0.0.1:9/"],
                "a token and a URL belong to one service, and several are named"
            ),
        ] {
            let result = try await bench.start(["retry"] + words).result()
            #expect(result.status == .exited(64))
            #expect(result.errorText.contains(reason), "\(result.errorText)")
        }
        #expect(servers.allSatisfy { $0.requests.isEmpty })
    }
}
