// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Utter

/// Takes of services that take a recording by several requests.
@Suite struct JobTakeTests {
    /// A service whose answers lead to `url`.
    private static func profile(
        _ server: RecordingServer, exchange: String = "", rest: String = ""
    ) -> String {
        """
        url = "\(server.url("/upload"))"
        auth.variable = "JOB_TOKEN"
        formats = [{ codec = "wav" }]
        answer.text = "text"
        [exchange]
        kind = "job"
        \(exchange)
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
        \(rest)
        """
    }

    private let bench: Bench

    init() throws { bench = try Bench { _ in "sesame" } }

    private static let done = [ServerStep].json(#"{"status":"done","text":"heard"}"#)
    private static let begun = [ServerStep].json(#"{"result_url":"/job"}"#)
    private static let another = [ServerStep].json(#"{"result_url":"/job2"}"#)
    private static let queued = [ServerStep].json(#"{"status":"queued"}"#)

    private static let page = [ServerStep].answer(status: 200, text: "<html>Log in</html>")

    private static func polls(_ count: Int) -> [String] { Array(repeating: "/job", count: count) }

    /// How a job goes, until there is a text.
    struct Course: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var answers: [[ServerStep]]
        /// Lines of the profile, in the table of the exchange and behind its steps.
        var exchange = ""
        var rest = ""
        /// What the first run says, if it has no text.
        var complaint: String?
        var words: [String: String] = [:]
        var targets: [String]
    }

    private static let courses = [
        Course(
            testDescription: "an answer may save the rest",
            answers: [.json(#"{"text":"heard"}"#)], targets: ["/upload"]),
        Course(
            testDescription: "a URL of an answer is followed at the service itself",
            answers: [.json(#"{"result_url":"/job/1?a=b"}"#)], targets: ["/upload", "/job/1?a=b"]),
        Course(
            testDescription: "a job that fails says why and begins anew",
            answers: [begun, .json(#"{"status":"error","why":"too noisy, sesame"}"#), another],
            complaint: "the service reported an error: too noisy, …",
            targets: ["/upload", "/job", "/upload", "/job2"]),
        Course(
            testDescription: "a poll that fails for a moment is made again",
            answers: [
                begun, .answer(status: 500, text: "broken"), [.readHead, .readBodyToEnd, .reset],
                queued, .answer(status: 429, text: "slow down"),
            ], targets: ["/upload"] + polls(5)),
        Course(
            testDescription: "what the profile says passes is asked for again",
            answers: [begun, .answer(status: 404, text: "not yet here")],
            rest: "[retry]\nstatuses = [404]", targets: ["/upload", "/job", "/job"]),
        Course(
            testDescription: "a job that is gone begins anew with the next run",
            answers: [begun, .answer(status: 404, text: "no such job"), another],
            complaint: "404: no such job", targets: ["/upload", "/job", "/upload", "/job2"]),
        Course(
            testDescription: "a job that takes too long is asked for later",
            answers: [begun, queued], exchange: "seconds = 0",
            complaint: "the service has not finished after 0 s; it goes on",
            targets: ["/upload", "/job", "/job"]),
        Course(
            testDescription: "pages in place of answers are asked for no longer, and later again",
            answers: [begun] + Array(repeating: page, count: 9),
            complaint: "the answer is a web page, not a transcript",
            targets: ["/upload"] + polls(10)),
        Course(
            testDescription: "broken answers are asked for no longer, and later again",
            answers: [begun] + Array(repeating: .json(#"{"status":"que"#), count: 9),
            complaint: "the answer was cut off", targets: ["/upload"] + polls(10)),
        Course(
            testDescription: "other words are another job", answers: [begun, queued, begun],
            exchange: "seconds = 0", rest: "[words]\nlanguage = 'en'",
            complaint: "the service has not finished after 0 s; it goes on",
            words: ["language": "de"], targets: ["/upload", "/job", "/upload", "/job"]),
    ]

    @Test(arguments: courses) func aJobLeadsToItsText(_ course: Course) async throws {
        let server = try RecordingServer(scripts: course.answers, otherwise: Self.done)
        let profile = Self.profile(server, exchange: course.exchange, rest: course.rest)
        var outcome = try await bench.send(by: profile, retry: FaultBench.quick)
        if let complaint = course.complaint {
            #expect(outcome.text.contains(complaint), "\(outcome.text)")
            outcome = try await bench.retry(outcome, words: course.words)
        }
        #expect(outcome.text == "heard")
        #expect(server.requests.map(\.target) == course.targets)
        #expect(server.requests.allSatisfy { $0["Authorization"] == "Bearer sesame" })
    }

    @Test(arguments: [
        "http://127.0.0.1:9/job", "http://[::1]/job", "https://127.0.0.1/", "file:///etc/passwd",
        "//127.0.0.1:9/job", "http://a@127.0.0.1/", "gopher://127.0.0.1/", "\\u0000",
        "http://169.254.169.254/latest/meta-data",
    ])
    func aURLThatLeadsElsewhereIsNotFollowed(_ url: String) async throws {
        let server = try RecordingServer(scripts: [.json("{\"result_url\":\"\(url)\"}")])
        let outcome = try await bench.send(by: Self.profile(server), retry: FaultBench.quick)
        let failure = #expect(throws: TakeFailure.self) { try outcome.result.get() }
        #expect(failure?.isForGood == true && !outcome.text.contains("sesame"), "\(outcome.text)")
        #expect(server.requests.count == 1)
        // The take is kept, and begins anew.
        #expect(try await bench.kept(outcome).manifest.get().state == .kept)
    }

    @Test func noSecretGoesToAnOriginThatTheProfileNamesBesideItsOwn() async throws {
        let other = try RecordingServer(otherwise: Self.done)
        let server = try RecordingServer(
            scripts: [.json("{\"result_url\":\"\(other.url("/job"))\"}")])
        let profile = Self.profile(server, exchange: "origins = ['\(other.url(""))']")
        #expect(try await bench.send(by: profile).text == "heard")
        #expect(other.requests.map(\.target) == ["/job"])
        #expect(other.requests.first?["Authorization"] == nil)
    }

    @Test func aRequestWhoseAnswerIsLostIsMadeAgainUnderTheNameOfTheTake() async throws {
        let server = try RecordingServer(
            scripts: [
                .json(#"{"audio":"a1"}"#), [.readHead, .readBodyToEnd, .reset],
                .json(#"{"id":"j1"}"#),
            ], otherwise: Self.done)
        let profile = """
            url = "\(server.url("/upload"))"
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
        let outcome = try await bench.send(by: profile, retry: FaultBench.quick)
        #expect(outcome.text == "heard")
        #expect(server.requests.map(\.target) == ["/upload", "/jobs", "/jobs", "/jobs/j1"])
        let name = outcome.id.text
        let keys = server.requests.map { $0["Idempotency-Key"] }
        #expect(keys[0] == "\"\(name)\"")
        // The same request has the same key, and another one another.
        #expect(keys[1] == keys[2])
        #expect(Set(keys).count == 3)
        for request in server.requests[1...2] {
            #expect(request.body == Array("{\"audio\":\"a1\",\"reference\":\"\(name)\"}".utf8))
        }
        #expect(server.requests.allSatisfy { $0["X-Reference"] == name })
    }
}
