// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Services that take a recording by several requests.
@Suite struct JobTests {
    /// A shipped service: what it is asked, and what it answers.
    struct Service: Sendable {
        var name: String
        /// Method and target of each request, and its answer.
        var talk: [(request: String, answer: String)]

        static let all = [
            Service(
                name: "assemblyai-batch",
                talk: [
                    ("POST /v2/upload", #"{"upload_url":"https://cdn.assemblyai.com/upload/1"}"#),
                    ("POST /v2/transcript", #"{"id":"t-1","status":"queued"}"#),
                    ("GET /v2/transcript/t-1", #"{"id":"t-1","status":"processing"}"#),
                    ("GET /v2/transcript/t-1", #"{"status":"completed","text":"go forward"}"#),
                ]),
            Service(
                name: "speechmatics",
                talk: [
                    ("POST /v2/jobs", #"{"id":"a1b2"}"#),
                    ("GET /v2/jobs/a1b2", #"{"job":{"id":"a1b2","status":"running"}}"#),
                    ("GET /v2/jobs/a1b2", #"{"job":{"id":"a1b2","status":"done"}}"#),
                    ("GET /v2/jobs/a1b2/transcript?format=txt", "go forward\n"),
                ]),
            Service(
                name: "revai",
                talk: [
                    ("POST /speechtotext/v1/jobs", #"{"id":7,"status":"in_progress"}"#),
                    ("GET /speechtotext/v1/jobs/7", #"{"id":7,"status":"transcribed"}"#),
                    ("GET /speechtotext/v1/jobs/7/transcript", "go forward"),
                ]),
            Service(
                name: "gladia",
                talk: [
                    ("POST /v2/upload", #"{"audio_url":"https://api.gladia.io/file/1"}"#),
                    (
                        "POST /v2/pre-recorded",
                        #"{"id":"g-1","result_url":"https://api.gladia.io/v2/pre-recorded/g-1"}"#
                    ),
                    (
                        "GET /v2/pre-recorded/g-1",
                        #"{"status":"done","result":{"transcription":"#
                            + #"{"full_transcript":"go forward"}}}"#
                    ),
                ]),
        ]
    }

    private static func answer(_ text: String, _ status: Int = 200) -> [ServerStep] {
        let type = text.hasPrefix("{") ? "application/json" : "text/plain"
        return .answer(
            status: status, headers: [HeaderField("Content-Type", type)], text: text)
    }

    /// Where a program is killed: when the service has so many requests.
    struct Kill: Sendable, CustomTestStringConvertible {
        var service: Service
        var requests: Int

        static let all = Service.all.flatMap { service in
            service.talk.indices.map { Kill(service: service, requests: $0 + 1) }
        }

        var testDescription: String { "\(service.name), at request \(requests)" }
    }

    @Test(arguments: Kill.all)
    func aKillBetweenAnyTwoRequestsSendsTheRecordingOnce(_ kill: Kill) async throws {
        let (service, last) = (kill.service, kill.requests - 1)
        let reached = Gate()
        var scripts = service.talk[..<last].map { Self.answer($0.answer) }
        scripts.append([.readHead, .readBodyToEnd, .open(reached), .readOn])
        scripts += service.talk[last...].map { Self.answer($0.answer) }
        let server = try RecordingServer(scripts: scripts)
        let bench = try Bench(server: server)
        let token = try bench.folder.write(Array("sesame\n".utf8), to: "token")
        let run = try bench.start([
            "send", "--service", service.name, "--to", server.url(""), "--token-file", token,
            Clip.goForward.path,
        ])
        #expect(await reached.wait())
        run.signal(SIGKILL)
        #expect(try await run.result().status == .signalled(SIGKILL))
        let result = try await bench.run("retry", "last", "--json")
        let report = try JSONText(result.output)
        #expect(report["text"] == .string("go forward"), "\(result.errorText)")
        // The request that was not answered is made again, and none before it.
        let expected = (service.talk[...last] + service.talk[last...]).map(\.request)
        #expect(server.requests.map { "\($0.method) \($0.target)" } == expected)
        let isDeed = service.talk[last].request.hasPrefix("POST")
        #expect(report["mayBeDoubled"] == .bool(isDeed), "\(result.outputText)")
        // What is answered needs nothing to go on with.
        let manifest = try #require(try bench.onlyTake()).manifestText
        #expect(manifest.contains("answered"))
        #expect(!manifest.contains("progress"))
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

    private func bench(_ server: RecordingServer, more: String = "", rest: String = "") throws
        -> Bench
    {
        try Bench.withProfiles(
            ["job": Self.profile(server, more: more) + rest], server: server,
            ["JOB_TOKEN": "sesame"])
    }

    private static let done = #"{"status":"done","text":"heard"}"#
    private static let begun = answer(#"{"result_url":"/job"}"#)
    private static let queued = answer(#"{"status":"queued"}"#)

    /// How a job goes, until there is a text.
    struct Course: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var answers: [[ServerStep]]
        /// Lines of the profile, in the table of the exchange and behind its steps.
        var exchange = ""
        var rest = ""
        /// What the first run says, if it has no text.
        var complaint: String?
        var again = ["retry", "last"]
        var targets: [String]
    }

    private static let courses = [
        Course(
            testDescription: "an answer may save the rest",
            answers: [answer(#"{"text":"heard"}"#)], targets: ["/upload"]),
        Course(
            testDescription: "a URL of an answer is followed at the service itself",
            answers: [answer(#"{"result_url":"/job/1?a=b"}"#)],
            targets: ["/upload", "/job/1?a=b"]),
        Course(
            testDescription: "a job that fails says why and begins anew",
            answers: [
                begun, answer(#"{"status":"error","why":"too noisy, sesame"}"#),
                answer(#"{"result_url":"/job2"}"#),
            ], complaint: "the service reported an error: too noisy, …",
            targets: ["/upload", "/job", "/upload", "/job2"]),
        Course(
            testDescription: "a poll that fails for a moment is made again",
            answers: [
                begun, answer("broken", 500), [.readHead, .readBodyToEnd, .reset], queued,
                .answer(
                    status: 429, headers: [HeaderField("Retry-After", "1")], text: "slow down"),
            ], targets: ["/upload"] + Array(repeating: "/job", count: 5)),
        Course(
            testDescription: "what the profile says passes is asked for again",
            answers: [begun, answer("not yet here", 404)], rest: "\n[retry]\nstatuses = [404]",
            targets: ["/upload", "/job", "/job"]),
        Course(
            testDescription: "a job that is gone begins anew with the next run",
            answers: [begun, answer("no such job", 404), answer(#"{"result_url":"/job2"}"#)],
            complaint: "404: no such job", targets: ["/upload", "/job", "/upload", "/job2"]),
        Course(
            testDescription: "a job that takes too long is asked for later",
            answers: [begun, queued], exchange: "seconds = 0",
            complaint: "the service has not finished after 0 s; it goes on",
            targets: ["/upload", "/job", "/job"]),
        Course(
            testDescription: "other words are another job", answers: [begun, queued, begun],
            exchange: "seconds = 0", rest: "\n[words]\nlanguage = 'en'",
            complaint: "the service has not finished after 0 s; it goes on",
            again: ["retry", "last", "--language", "de"],
            targets: ["/upload", "/job", "/upload", "/job"]),
    ]

    @Test(arguments: courses)
    func aJobLeadsToItsText(_ course: Course) async throws {
        let server = try RecordingServer(
            scripts: course.answers, otherwise: Self.answer(Self.done))
        let bench = try bench(server, more: course.exchange, rest: course.rest)
        var result = try await bench.run("send", "-q", "--service", "job", Clip.digits.path)
        if let complaint = course.complaint {
            #expect(result.status != .exited(0))
            #expect(result.errorText.contains(complaint), "\(result.errorText)")
            result = try await bench.start(course.again).result()
        }
        #expect(result.outputText == "heard\n", "\(result.errorText)")
        #expect(server.requests.map(\.target) == course.targets)
        #expect(server.requests.allSatisfy { $0["Authorization"] == "Bearer sesame" })
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
}
