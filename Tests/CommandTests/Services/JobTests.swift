// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Services that take a recording by several requests.
@Suite struct JobTests {
    /// A shipped service: what it is asked, and what it answers.
    struct Service: Sendable, CustomTestStringConvertible {
        var name: String
        /// Method and target of each request.
        var requests: [String]
        var answers: [String]
        var token: (field: String, value: String)
        var text = "go forward ten meters"

        var testDescription: String { name }

        static let all = [
            Service(
                name: "assemblyai-batch",
                requests: [
                    "POST /v2/upload", "POST /v2/transcript", "GET /v2/transcript/t-1",
                    "GET /v2/transcript/t-1",
                ],
                answers: [
                    #"{"upload_url":"https://cdn.assemblyai.com/upload/1"}"#,
                    #"{"id":"t-1","status":"queued"}"#, #"{"id":"t-1","status":"processing"}"#,
                    #"{"id":"t-1","status":"completed","text":"go forward ten meters"}"#,
                ], token: ("Authorization", "sesame")),
            Service(
                name: "speechmatics",
                requests: [
                    "POST /v2/jobs", "GET /v2/jobs/a1b2", "GET /v2/jobs/a1b2",
                    "GET /v2/jobs/a1b2/transcript?format=txt",
                ],
                answers: [
                    #"{"id":"a1b2"}"#, #"{"job":{"id":"a1b2","status":"running"}}"#,
                    #"{"job":{"id":"a1b2","status":"done"}}"#, "go forward ten meters\n",
                ], token: ("Authorization", "Bearer sesame")),
            Service(
                name: "revai",
                requests: [
                    "POST /speechtotext/v1/jobs", "GET /speechtotext/v1/jobs/7",
                    "GET /speechtotext/v1/jobs/7/transcript",
                ],
                answers: [
                    #"{"id":7,"status":"in_progress"}"#, #"{"id":7,"status":"transcribed"}"#,
                    "go forward ten meters",
                ], token: ("Authorization", "Bearer sesame")),
            Service(
                name: "gladia",
                requests: [
                    "POST /v2/upload", "POST /v2/pre-recorded", "GET /v2/pre-recorded/g-1",
                ],
                answers: [
                    #"{"audio_url":"https://api.gladia.io/file/1"}"#,
                    #"{"id":"g-1","result_url":"https://api.gladia.io/v2/pre-recorded/g-1"}"#,
                    #"{"status":"done","result":{"transcription":"#
                        + #"{"full_transcript":"go forward ten meters"}}}"#,
                ], token: ("x-gladia-key", "sesame")),
        ]
    }

    private static func answer(_ text: String, _ status: Int = 200) -> [ServerStep] {
        let type = text.hasPrefix("{") ? "application/json" : "text/plain"
        return .answer(
            status: status, headers: [HeaderField("Content-Type", type)], text: text)
    }

    private static func tokenFile(_ bench: Bench) throws -> String {
        try bench.folder.write(Array("sesame\n".utf8), to: "token")
    }

    @Test(arguments: Service.all)
    func aJobIsCarriedThrough(_ service: Service) async throws {
        let server = try RecordingServer(scripts: service.answers.map { Self.answer($0) })
        let bench = try Bench(server: server)
        let result = try await bench.run(
            "send", "-q", "--service", service.name, "--to", server.url(""), "--token-file",
            try Self.tokenFile(bench), Clip.goForward.path)
        #expect(result.outputText == service.text + "\n", "\(result.errorText)")
        #expect(result.errorText == "")
        let requests = server.requests
        #expect(requests.map { "\($0.method) \($0.target)" } == service.requests)
        for request in requests {
            #expect(request[service.token.field] == service.token.value)
            #expect(request.method == "POST" || request.body.isEmpty)
        }
        // What is answered needs nothing to go on with.
        let take = try #require(try bench.onlyTake())
        let manifest = String(decoding: try readFile("\(take.path)/take.json"), as: UTF8.self)
        #expect(manifest.contains("answered"))
        #expect(!manifest.contains("progress"))
    }

    /// Where a program is killed: when the service has so many requests.
    struct Kill: Sendable, CustomTestStringConvertible {
        var service: Service
        var requests: Int

        static let all = Service.all.flatMap { service in
            service.requests.indices.map { Kill(service: service, requests: $0 + 1) }
        }

        var testDescription: String { "\(service.name), at request \(requests)" }
    }

    @Test(arguments: Kill.all)
    func aKillBetweenAnyTwoRequestsSendsTheRecordingOnce(_ kill: Kill) async throws {
        let (service, last) = (kill.service, kill.requests - 1)
        let reached = Gate()
        var scripts = service.answers[..<last].map { Self.answer($0) }
        scripts.append([.readHead, .readBodyToEnd, .open(reached), .readOn])
        scripts += service.answers[last...].map { Self.answer($0) }
        let server = try RecordingServer(scripts: scripts)
        let bench = try Bench(server: server)
        let run = try bench.start([
            "send", "--service", service.name, "--to", server.url(""), "--token-file",
            try Self.tokenFile(bench), Clip.goForward.path,
        ])
        #expect(await reached.wait())
        run.signal(SIGKILL)
        #expect(try await run.result().status == .signalled(SIGKILL))
        let result = try await bench.run("retry", "last", "--json")
        let report = try JSONText(result.output)
        #expect(report["text"] == .string(service.text), "\(result.errorText)")
        // The request that was not answered is made again, and none before it.
        let expected = service.requests[...last] + service.requests[last...]
        #expect(server.requests.map { "\($0.method) \($0.target)" } == Array(expected))
        let isDeed = service.requests[last].hasPrefix("POST")
        #expect(report["mayBeDoubled"] == .bool(isDeed), "\(result.outputText)")
    }

    /// A service whose answers lead to `url`.
    private static func profile(_ server: RecordingServer, more: String = "") -> String {
        """
        url = "\(server.url("/upload"))"
        auth.variable = "JOB_TOKEN"
        formats = [{ codec = "wav" }]
        answer.text = "text"
        [exchange]
        kind = "job"
        \(more)
        [[exchange.steps]]
        name = "upload"
        body = "recording"
        capture = { result_url = "result_url" }
        answers = { path = "text", exists = true }
        [[exchange.steps]]
        name = "poll"
        url = "{result_url}"
        until = { path = "status", equals = "done" }
        failed = { path = "status", equals = "error" }
        message = "why"
        seconds = 0.01
        """
    }

    private func bench(
        _ server: RecordingServer, more: String = ""
    ) throws -> Bench {
        try Bench.withProfiles(
            ["job": Self.profile(server, more: more)], server: server, ["JOB_TOKEN": "sesame"])
    }

    private static let done = #"{"status":"done","text":"heard"}"#

    @Test func anAnswerMaySaveTheRest() async throws {
        let server = try RecordingServer(otherwise: Self.answer(#"{"text":"at once"}"#))
        let result = try await bench(server).run("send", "--service", "job", Clip.digits.path)
        #expect(result.outputText == "at once\n", "\(result.errorText)")
        #expect(server.requests.count == 1)
    }

    @Test func aURLOfAnAnswerIsFollowedAtTheServiceItself() async throws {
        let server = try RecordingServer(
            scripts: [Self.answer(#"{"result_url":"/job/1?a=b"}"#)],
            otherwise: Self.answer(Self.done))
        let result = try await bench(server).run("send", "--service", "job", Clip.digits.path)
        #expect(result.outputText == "heard\n", "\(result.errorText)")
        #expect(server.requests.last?.target == "/job/1?a=b")
        #expect(server.requests.last?["Authorization"] == "Bearer sesame")
    }

    @Test(arguments: [
        "http://127.0.0.1:9/job", "http://[::1]/job", "https://127.0.0.1/", "file:///etc/passwd",
        "//127.0.0.1:9/job", "http://a@127.0.0.1/", "gopher://127.0.0.1/", "\\u0000",
        "http://169.254.169.254/latest/meta-data",
    ])
    func aURLThatLeadsElsewhereIsNotFollowed(_ url: String) async throws {
        let server = try RecordingServer(
            scripts: [Self.answer("{\"result_url\":\"\(url)\"}")])
        let bench = try bench(server)
        let result = try await bench.run("send", "--service", "job", Clip.digits.path)
        #expect(
            [.exited(69), .exited(65), .exited(76)].contains(result.status), "\(result.status)")
        #expect(result.outputText == "")
        #expect(!result.errorText.contains("sesame"))
        #expect(server.requests.count == 1)
        // The take is kept, and begins anew.
        #expect(try bench.onlyTake() != nil)
    }

    @Test func noSecretGoesToAnOriginThatTheProfileNamesBesideItsOwn() async throws {
        let other = try RecordingServer(otherwise: Self.answer(Self.done))
        let server = try RecordingServer(
            scripts: [Self.answer("{\"result_url\":\"\(other.url("/job"))\"}")])
        let result = try await bench(server, more: "origins = ['\(other.url(""))']")
            .run("send", "--service", "job", Clip.digits.path)
        #expect(result.outputText == "heard\n", "\(result.errorText)")
        let request = try #require(other.requests.first)
        #expect(request["Authorization"] == nil)
        #expect(request.target == "/job")
    }

    @Test func aJobThatFailsSaysWhyAndBeginsAnew() async throws {
        let server = try RecordingServer(
            scripts: [
                Self.answer(#"{"result_url":"/job"}"#),
                Self.answer(#"{"status":"error","why":"too noisy, sesame"}"#),
                Self.answer(#"{"result_url":"/job2"}"#),
            ], otherwise: Self.answer(Self.done))
        let bench = try bench(server)
        let result = try await bench.run("send", "--service", "job", Clip.digits.path)
        #expect(result.status != .exited(0))
        #expect(result.errorText.contains("the service reported an error: too noisy, …"))
        let again = try await bench.run("retry", "last")
        #expect(again.outputText == "heard\n", "\(again.errorText)")
        #expect(
            server.requests.map(\.target) == ["/upload", "/job", "/upload", "/job2"])
    }

    @Test func aPollThatFailsForAMomentIsMadeAgain() async throws {
        let retryAfter = [HeaderField("Retry-After", "1")]
        let server = try RecordingServer(
            scripts: [
                Self.answer(#"{"result_url":"/job"}"#), Self.answer("broken", 500),
                [.readHead, .readBodyToEnd, .reset], Self.answer(#"{"status":"queued"}"#),
                .answer(status: 429, headers: retryAfter, text: "slow down"),
            ], otherwise: Self.answer(Self.done))
        let result = try await bench(server).run("send", "--service", "job", Clip.digits.path)
        #expect(result.outputText == "heard\n", "\(result.errorText)")
        #expect(server.requests.map(\.target) == ["/upload"] + Array(repeating: "/job", count: 5))
    }

    @Test func whatTheProfileSaysPassesIsAskedForAgain() async throws {
        let server = try RecordingServer(
            scripts: [Self.answer(#"{"result_url":"/job"}"#), Self.answer("not yet here", 404)],
            otherwise: Self.answer(Self.done))
        let text = Self.profile(server) + "\n[retry]\nstatuses = [404]"
        let bench = try Bench.withProfiles(["job": text], server: server, ["JOB_TOKEN": "a"])
        let result = try await bench.run("send", "--service", "job", Clip.digits.path)
        #expect(result.outputText == "heard\n", "\(result.errorText)")
        #expect(server.requests.map(\.target) == ["/upload", "/job", "/job"])
    }

    @Test func aRequestWhoseAnswerIsLostIsMadeAgainUnderTheNameOfTheTake() async throws {
        let server = try RecordingServer(
            scripts: [
                Self.answer(#"{"audio":"a1"}"#), [.readHead, .readBodyToEnd, .reset],
                Self.answer(#"{"id":"j1"}"#),
            ], otherwise: Self.answer(#"{"status":"done","text":"heard"}"#))
        let text = """
            url = "\(server.url("/upload"))"
            auth.variable = "JOB_TOKEN"
            formats = [{ codec = "wav" }]
            headers.X-Reference = "{take}"
            exchange.kind = "job"
            exchange.steps = [
              { name = "upload", body = "recording", capture = { audio = "audio" } },
              { name = "create", url = "/jobs", json = '{"audio":"{audio}","reference":"{take}"}', \
            capture = { id = "id" } },
              { name = "poll", url = "/jobs/{id}", until = { path = "status", equals = "done" } },
            ]
            answer.text = "text"
            """
        let bench = try Bench.withProfiles(["job": text], server: server, ["JOB_TOKEN": "a"])
        let result = try await bench.run("send", "--service", "job", Clip.digits.path)
        #expect(result.outputText == "heard\n", "\(result.errorText)")
        #expect(server.requests.map(\.target) == ["/upload", "/jobs", "/jobs", "/jobs/j1"])
        let name = try #require(try bench.onlyTake()?.id)
        let keys = server.requests.map { $0["Idempotency-Key"] }
        #expect(keys[0] == "\"\(name)\"")
        // The same request has the same key, and another one another.
        #expect(keys[1] == keys[2])
        #expect(Set(keys).count == 3)
        for request in server.requests[1...2] {
            #expect(
                String(decoding: request.body, as: UTF8.self)
                    == "{\"audio\":\"a1\",\"reference\":\"\(name)\"}")
        }
        #expect(server.requests.allSatisfy { $0["X-Reference"] == name })
    }

    @Test func aJobThatIsGoneBeginsAnewWithTheNextRun() async throws {
        let server = try RecordingServer(
            scripts: [
                Self.answer(#"{"result_url":"/job"}"#), Self.answer("no such job", 404),
                Self.answer(#"{"result_url":"/job2"}"#),
            ], otherwise: Self.answer(Self.done))
        let bench = try bench(server)
        let result = try await bench.run("send", "--service", "job", Clip.digits.path)
        #expect(result.errorText.contains("404: no such job"), "\(result.errorText)")
        let again = try await bench.run("retry", "last")
        #expect(again.outputText == "heard\n", "\(again.errorText)")
        #expect(server.requests.map(\.target) == ["/upload", "/job", "/upload", "/job2"])
    }

    @Test func aJobThatTakesTooLongIsAskedForLater() async throws {
        let server = try RecordingServer(
            scripts: [
                Self.answer(#"{"result_url":"/job"}"#), Self.answer(#"{"status":"queued"}"#),
            ], otherwise: Self.answer(Self.done))
        let bench = try bench(server, more: "seconds = 0")
        let result = try await bench.run("send", "--service", "job", Clip.digits.path)
        #expect(
            result.errorText.contains("the service has not finished after 0 s; it goes on"),
            "\(result.errorText)")
        let again = try await bench.run("retry", "last")
        #expect(again.outputText == "heard\n", "\(again.errorText)")
        #expect(server.requests.map(\.target) == ["/upload", "/job", "/job"])
    }

    @Test func otherWordsAreAnotherJob() async throws {
        let server = try RecordingServer(
            scripts: [
                Self.answer(#"{"result_url":"/job"}"#), Self.answer(#"{"status":"queued"}"#),
                Self.answer(#"{"result_url":"/job"}"#),
            ], otherwise: Self.answer(Self.done))
        let text = Self.profile(server, more: "seconds = 0") + "\n[words]\nlanguage = 'en'"
        let bench = try Bench.withProfiles(["job": text], server: server, ["JOB_TOKEN": "a"])
        _ = try await bench.run("send", "--service", "job", Clip.digits.path)
        let again = try await bench.run("retry", "last", "--language", "de")
        #expect(again.outputText == "heard\n", "\(again.errorText)")
        #expect(server.requests.map(\.target) == ["/upload", "/job", "/upload", "/job"])
    }
}
