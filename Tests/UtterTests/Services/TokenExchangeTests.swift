// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Utter

/// Services that want a token which is fetched for a secret.
@Suite struct TokenExchangeTests {
    private static let usual = """
        headers = { Authorization = "Basic {base64}", RqUID = "{uuid}" }
        body = "scope=a&id={user}"
        token = "access_token"
        expires = "expires_in"
        """

    private static func profile(
        _ server: RecordingServer, exchange: String = usual, auth: String = ""
    ) -> String {
        """
        url = "\(server.url("/listen"))"
        formats = [{ codec = "wav" }]
        [auth]
        variable = "CLIENT"
        \(auth)
        [auth.exchange]
        url = "\(server.url("/token"))"
        \(exchange)
        """
    }

    private static func token(_ text: String, _ seconds: Int = 600) -> [ServerStep] {
        .json("{\"access_token\":\"\(text)\",\"expires_in\":\(seconds)}")
    }

    private let bench: Bench

    init() throws { bench = try Bench { _ in "client:sesame" } }

    @Test func aTokenIsFetchedOnceForAllTakesOfAProcess() async throws {
        let server = try RecordingServer(
            scripts: [Self.token("fetched-1")], otherwise: .answer(text: "heard"))
        for clip in [Clip.digits, .goForward] {
            let outcome = try await bench.send(clip, by: Self.profile(server))
            #expect(outcome.text == "heard")
            // It is nowhere on the disk.
            #expect(!(try await bench.manifestText(outcome).contains("fetched-1")))
        }
        #expect(!(try bench.folder.names(in: "state").contains("tokens")))
        #expect(server.requests.map(\.target) == ["/token", "/listen", "/listen"])
        let (fetch, listen) = (server.requests[0], server.requests[1])
        #expect(fetch["Authorization"] == "Basic Y2xpZW50OnNlc2FtZQ==")
        #expect(fetch["Content-Type"] == "application/x-www-form-urlencoded")
        #expect(fetch["RqUID"]?.count == 36)
        #expect(fetch["Idempotency-Key"] == nil)
        #expect(fetch.body == Array("scope=a&id=client".utf8))
        #expect(listen["Authorization"] == "Bearer fetched-1")
        #expect(listen["Utter-Attempt"] == "1")
    }

    /// How a service refuses a token that it has taken before.
    struct Refusal: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var answers: [[ServerStep]]
        var heard = "heard"
        /// Lines of the profile.
        var rules = ""
        var takes = 2
        var attempt: String?
    }

    private static let refusals = [
        Refusal(
            testDescription: "by a status",
            answers: [.answer(text: "heard"), .answer(status: 401, text: "too old")],
            attempt: "2"),
        // A token of an hour is too old when a take of ten hours is sent again.
        Refusal(
            testDescription: "within a take",
            answers: [
                .answer(status: 503, text: "later"), .answer(status: 401, text: "too old"),
            ], takes: 1),
        Refusal(
            testDescription: "by its code in a good answer",
            answers: [
                .json(#"{"err_no":0,"text":"heard"}"#),
                .json(#"{"err_no":3302,"err_msg":"authentication failed."}"#),
            ], heard: #"{"err_no":0,"text":"heard"}"#,
            rules: """

                [answer]
                text = "text"
                success = { path = "err_no", equals = 0 }
                [retry]
                token-codes = [3302]
                """),
    ]

    @Test(arguments: refusals)
    func aTokenThatIsRefusedIsFetchedOnceMore(_ refusal: Refusal) async throws {
        let server = try RecordingServer(
            scripts: [Self.token("old")] + refusal.answers + [Self.token("new")],
            otherwise: .answer(text: refusal.heard))
        let profile = Self.profile(server, exchange: Self.usual + refusal.rules)
        for _ in 0..<refusal.takes {
            let outcome = try await bench.send(by: profile, retry: FaultBench.quick)
            #expect(outcome.text == "heard")
        }
        let targets = ["/token", "/listen", "/listen", "/token", "/listen"]
        #expect(server.requests.map(\.target) == targets)
        #expect(server.requests.last?["Authorization"] == "Bearer new")
        if let attempt = refusal.attempt {
            #expect(server.requests.last?["Utter-Attempt"] == attempt)
        }
    }

    @Test func aTokenThatWasJustFetchedAndIsRefusedIsNotFetchedAgain() async throws {
        let server = try RecordingServer(
            scripts: [Self.token("fetched-1")],
            otherwise: .answer(status: 401, text: "not fetched-1"))
        let outcome = try await bench.send(by: Self.profile(server), retry: FaultBench.quick)
        #expect(outcome.result == .failure(.tokenRefused(status: 401, message: "not …")))
        #expect(server.requests.map(\.target) == ["/token", "/listen"])
        let manifest = try await bench.manifestText(outcome)
        #expect(!manifest.contains("fetched-1") && !manifest.contains("sesame"))
        #expect(manifest.contains("CLIENT"))
    }

    @Test(arguments: [
        (401, "who is sesame?"), (400, "bad request of client:sesame"), (200, "{}"),
    ])
    func aTokenThatCannotBeHadSaysSo(_ status: Int, _ text: String) async throws {
        let server = try RecordingServer(
            scripts: [.answer(status: status, text: text)], otherwise: .answer(text: "heard"))
        let outcome = try await bench.send(by: Self.profile(server), retry: FaultBench.quick)
        #expect(throws: TakeFailure.self) { try outcome.result.get() }
        #expect(!outcome.text.contains("sesame"), "\(outcome.text)")
        #expect(server.requests.map(\.target) == ["/token"])
        // The take waits, and counts no attempt.
        #expect(try await bench.kept(outcome).manifest.get().attempts == 0)
        bench.pipeline.shutDown()
        let other = try Bench(stateFolder: bench.folder.path("state")) { _ in "other:one" }
        _ = try await other.retry(outcome)
        #expect(server.requests.map(\.target) == ["/token", "/token"])
        #expect(server.requests.last?["Authorization"] == "Basic b3RoZXI6b25l")
    }

    /// A process that finds a recording half answered fetches a token for the rest.
    @Test func aRecordingInStretchesGoesOnWithATokenOfAnotherProcess() async throws {
        let server = try RecordingServer(
            scripts: [Self.token("one"), .answer(text: "a"), .answer(status: 503, text: "later")]
                + [Self.token("two")], otherwise: .answer(text: "b"))
        let profile = "limits = { seconds = 1 }\nexchange.parallel = 1\n" + Self.profile(server)
        let outcome = try await bench.send(by: profile)
        #expect(server.requests.map(\.target) == ["/token", "/listen", "/listen"])
        bench.pipeline.shutDown()
        let other = try Bench(stateFolder: bench.folder.path("state")) { _ in "other:one" }
        let again = try await other.retry(outcome)
        let rest = again.stretches.count - 1
        #expect(again.text.hasPrefix("a ") && again.text.hasSuffix("b") && rest > 0)
        let targets = server.requests.dropFirst(3).map(\.target)
        #expect(targets == ["/token"] + Array(repeating: "/listen", count: rest))
        #expect(server.requests.last?["Authorization"] == "Bearer two")
        other.pipeline.shutDown()
    }

    @Test(arguments: [
        ("http://token.example/", "would travel in the clear to http://token.example"),
        ("ftp://token.example/", "must begin with http:// or https://"),
    ])
    func aSecretIsNotSentForATokenInTheClear(_ url: String, _ reason: String) async throws {
        let server = try RecordingServer()
        let outcome = try await bench.send(
            by: """
                url = "\(server.url())"
                auth = { variable = "CLIENT", exchange = { url = "\(url)" } }
                """)
        #expect(outcome.text.contains(reason), "\(outcome.text)")
        #expect(server.connectionCount == 0)
    }

    @Test func aTokenMayBeTextAndStandInAQuery() async throws {
        let server = try RecordingServer(
            scripts: [.answer(text: "plain/1\n")], otherwise: .answer(text: "heard"))
        let profile = Self.profile(
            server, exchange: "method = 'GET'", auth: "kind = 'query'\nparameter = 'token'")
        #expect(try await bench.send(by: profile).text == "heard")
        #expect(server.requests.map(\.method) == ["GET", "POST"])
        #expect(server.requests.map(\.target) == ["/token", "/listen?token=plain%2F1"])
    }

    @Test func aVoiceIsRecordedWhileItsTokenIsFetched() async throws {
        let mayAnswer = Gate()
        let token = Self.token("fetched-1", 0)
        let server = try RecordingServer(
            scripts: [[.readHead, .readBodyToEnd, .stallUntil(mayAnswer)] + token.suffix(1)],
            otherwise: .answer(text: "heard"))
        let plan = try Bench.plan(by: Self.profile(server), over: "formats = [{ codec = 'pcm' }]")
        let (speaker, take, log) = try bench.speak(to: server.url()) { $0.delivery = plan }
        let period = TestSignal.voice(frames: 320, sampleRate: 16_000)
        speaker.say(period)
        #expect(await server.waitForRequest() != nil)
        speaker.say(period)
        speaker.fallSilent()
        #expect(await log.wait { $0.isCaptured })
        #expect(server.requests.count == 1)
        mayAnswer.open()
        #expect(try await take.end().text == "heard")
        #expect(server.requests.last?.body == WAVBytes.pcm(period + period))
    }
}
