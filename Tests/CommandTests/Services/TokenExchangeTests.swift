// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Services that want a token which is fetched for a secret.
@Suite struct TokenExchangeTests {
    private static let secret = "client:sesame"

    private func bench(
        _ server: RecordingServer, exchange: String, auth: String = ""
    ) throws -> Bench {
        try Bench.withProfiles(
            [
                "mine": """
                url = "\(server.url("/listen"))"
                formats = [{ codec = "wav" }]
                [auth]
                variable = "CLIENT"
                \(auth)
                [auth.exchange]
                url = "\(server.url("/token"))"
                \(exchange)
                """
            ], server: server, ["CLIENT": Self.secret])
    }

    private static let usual = """
        headers = { Authorization = "Basic {base64}", RqUID = "{uuid}" }
        body = "scope=a&id={user}"
        token = "access_token"
        expires = "expires_in"
        """

    private static func token(_ text: String, _ seconds: Int = 600) -> [ServerStep] {
        .answer(
            headers: [HeaderField("Content-Type", "application/json")],
            text: "{\"access_token\":\"\(text)\",\"expires_in\":\(seconds)}")
    }

    /// Sends two files by one process, one after the other.
    private func sendTwo(_ bench: Bench) async throws {
        let result = try await bench.run(
            "send", "--service", "mine", Clip.digits.path, Clip.goForward.path)
        #expect(
            result.outputText
                == "\(Clip.digits.path): heard\n\(Clip.goForward.path): heard\n",
            "\(result.errorText)")
    }

    private func targets(_ server: RecordingServer) -> [String] { server.requests.map(\.target) }

    @Test func aTokenIsFetchedOnceForAllTakesOfAProcess() async throws {
        let server = try RecordingServer(
            scripts: [Self.token("fetched-1")], otherwise: .answer(text: "heard"))
        let bench = try bench(server, exchange: Self.usual)
        try await sendTwo(bench)
        #expect(targets(server) == ["/token", "/listen", "/listen"])
        let (fetch, listen) = (server.requests[0], server.requests[1])
        #expect(fetch["Authorization"] == "Basic Y2xpZW50OnNlc2FtZQ==")
        #expect(fetch["Content-Type"] == "application/x-www-form-urlencoded")
        #expect(fetch["RqUID"]?.count == 36)
        #expect(fetch["Idempotency-Key"] == nil)
        #expect(String(decoding: fetch.body, as: UTF8.self) == "scope=a&id=client")
        #expect(listen["Authorization"] == "Bearer fetched-1")
        #expect(listen["Utter-Attempt"] == "1")
        // It is nowhere on the disk.
        #expect(access(bench.folder.path("state/utter/tokens"), F_OK) != 0)
    }

    @Test func aTokenThatIsRefusedIsFetchedOnceMore() async throws {
        let server = try RecordingServer(
            scripts: [
                Self.token("old"), .answer(text: "heard"), .answer(status: 401, text: "too old"),
                Self.token("new"),
            ], otherwise: .answer(text: "heard"))
        let bench = try bench(server, exchange: Self.usual)
        try await sendTwo(bench)
        #expect(targets(server) == ["/token", "/listen", "/listen", "/token", "/listen"])
        #expect(server.requests.last?["Authorization"] == "Bearer new")
        #expect(server.requests.last?["Utter-Attempt"] == "2")
    }

    /// A token of an hour is too old when a take of ten hours is sent again.
    @Test func aTokenThatWasGoodInThisRunIsFetchedOnceMoreWhenItIsRefused() async throws {
        let server = try RecordingServer(
            scripts: [
                Self.token("old"), .answer(status: 503, text: "later"),
                .answer(status: 401, text: "too old"), Self.token("new"),
            ], otherwise: .answer(text: "heard"))
        let bench = try bench(server, exchange: Self.usual)
        let result = try await bench.run("send", "--service", "mine", Clip.digits.path)
        #expect(result.outputText == "heard\n", "\(result.errorText)")
        #expect(targets(server) == ["/token", "/listen", "/listen", "/token", "/listen"])
        #expect(server.requests.last?["Authorization"] == "Bearer new")
    }

    @Test func aTokenThatAGoodStatusRefusesByItsCodeIsFetchedOnceMore() async throws {
        let heard = #"{"err_no":0,"text":"heard"}"#
        let refused = #"{"err_no":3302,"err_msg":"authentication failed."}"#
        let server = try RecordingServer(
            scripts: [
                Self.token("old"), .answer(text: heard), .answer(text: refused), Self.token("new"),
            ], otherwise: .answer(text: heard))
        let rules = """
            [answer]
            framing = "json"
            success = { path = "err_no", equals = 0 }
            [retry]
            token-codes = [3302]
            """
        let bench = try bench(server, exchange: Self.usual + "\n" + rules)
        try await sendTwo(bench)
        #expect(targets(server) == ["/token", "/listen", "/listen", "/token", "/listen"])
        #expect(server.requests.last?["Authorization"] == "Bearer new")
    }

    @Test func aTokenThatWasJustFetchedAndIsRefusedIsNotFetchedAgain() async throws {
        let server = try RecordingServer(
            scripts: [Self.token("fetched-1")],
            otherwise: .answer(status: 401, text: "not fetched-1"))
        let bench = try bench(server, exchange: Self.usual)
        let result = try await bench.run("send", "--service", "mine", Clip.digits.path)
        #expect(result.status == .exited(77))
        #expect(result.errorText.contains("not …"), "\(result.errorText)")
        #expect(!result.errorText.contains("fetched-1"))
        #expect(targets(server) == ["/token", "/listen"])
        let take = try #require(try bench.onlyTake())
        let manifest = String(decoding: try readFile("\(take.path)/take.json"), as: UTF8.self)
        #expect(!manifest.contains("fetched-1"))
        #expect(!manifest.contains("sesame"))
        #expect(manifest.contains("CLIENT"))
    }

    @Test(arguments: [
        (401, "who is sesame?"), (400, "bad request of client:sesame"), (200, "{}"),
    ])
    func aTokenThatCannotBeHadSaysSo(_ status: Int, _ text: String) async throws {
        let server = try RecordingServer(
            scripts: [.answer(status: status, text: text)], otherwise: .answer(text: "heard"))
        let bench = try bench(server, exchange: Self.usual)
        let result = try await bench.run("send", "--service", "mine", Clip.digits.path)
        #expect(result.status != .exited(0))
        #expect(!result.errorText.contains("sesame"), "\(result.errorText)")
        #expect(targets(server) == ["/token"])
        // The take waits, and counts no attempt.
        let again = try await bench.start(
            ["retry", "last"], variables: ["CLIENT": "other:one"]
        ).result()
        #expect(again.status != .exited(0))
        #expect(server.requests.count == 2)
        #expect(server.requests.last?["Authorization"] == "Basic b3RoZXI6b25l")
    }

    @Test(arguments: [
        ("http://token.example/", "would travel in the clear to http://token.example"),
        ("ftp://token.example/", "must begin with http:// or https://"),
    ])
    func aSecretIsNotSentForATokenInTheClear(_ url: String, _ reason: String) async throws {
        let server = try RecordingServer()
        let text = """
            url = "\(server.url())"
            auth = { variable = "CLIENT", exchange = { url = "\(url)" } }
            """
        let bench = try Bench.withProfiles(["mine": text], server: server, ["CLIENT": "a:b"])
        let result = try await bench.run("send", "--service", "mine", Clip.digits.path)
        #expect(result.status == .exited(78) || result.status == .exited(64))
        #expect(result.errorText.contains(reason), "\(result.errorText)")
        #expect(server.connectionCount == 0)
        #expect(try bench.takes().isEmpty)
    }

    @Test func aTokenMayBeTextAndStandInAQuery() async throws {
        let server = try RecordingServer(
            scripts: [.answer(text: "plain/1\n")], otherwise: .answer(text: "heard"))
        let bench = try bench(
            server, exchange: "method = 'GET'", auth: "kind = 'query'\nparameter = 'token'")
        let result = try await bench.run("send", "--service", "mine", Clip.digits.path)
        #expect(result.outputText == "heard\n", "\(result.errorText)")
        #expect(server.requests.map(\.method) == ["GET", "POST"])
        #expect(targets(server) == ["/token", "/listen?token=plain%2F1"])
    }

    @Test func aVoiceIsRecordedWhileItsTokenIsFetched() async throws {
        let card = try VirtualMicrophone()
        let server = try RecordingServer(
            scripts: [Self.token("fetched-1", 0)], otherwise: .answer(text: "heard"))
        let bench = try Bench.withProfiles(
            [
                "mine": """
                url = "\(server.url("/listen"))"
                formats = [{ codec = "pcm" }]
                auth.exchange = { url = "\(server.url("/token"))", token = "access_token" }
                auth.variable = "CLIENT"
                """
            ], server: server, card.environment.merging(["CLIENT": "a"]) { $1 })
        let result = try await bench.run("--service", "mine", "--for", "500ms")
        #expect(result.outputText == "heard\n", "\(result.errorText)")
        #expect(server.requests.last?.body == RecordTests.samples(8_000))
        _ = card
    }
}
