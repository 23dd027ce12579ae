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
        .json("{\"access_token\":\"\(text)\",\"expires_in\":\(seconds)}")
    }

    /// Sends files by one process, one after the other.
    private func send(_ clips: Clip..., on bench: Bench) async throws {
        let paths = clips.map(\.path)
        let result = try await bench.start(["send", "--service", "mine"] + paths).result()
        let texts = clips.count == 1 ? ["heard\n"] : paths.map { "\($0): heard\n" }
        #expect(result.outputText == texts.joined(), "\(result.errorText)")
    }

    private func targets(_ server: RecordingServer) -> [String] { server.requests.map(\.target) }

    @Test func aTokenIsFetchedOnceForAllTakesOfAProcess() async throws {
        let server = try RecordingServer(
            scripts: [Self.token("fetched-1")], otherwise: .answer(text: "heard"))
        let bench = try bench(server, exchange: Self.usual)
        try await send(.digits, .goForward, on: bench)
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

    /// How a service refuses a token that it has taken before.
    struct Refusal: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var answers: [[ServerStep]]
        var heard = "heard"
        /// Lines of the profile.
        var rules = ""
        var isOfTwoTakes = true
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
            ], isOfTwoTakes: false),
        Refusal(
            testDescription: "by its code in a good answer",
            answers: [
                .answer(text: #"{"err_no":0,"text":"heard"}"#),
                .answer(text: #"{"err_no":3302,"err_msg":"authentication failed."}"#),
            ], heard: #"{"err_no":0,"text":"heard"}"#,
            rules: """

                [answer]
                framing = "json"
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
        let bench = try bench(server, exchange: Self.usual + refusal.rules)
        if refusal.isOfTwoTakes {
            try await send(.digits, .goForward, on: bench)
        } else {
            try await send(.digits, on: bench)
        }
        #expect(targets(server) == ["/token", "/listen", "/listen", "/token", "/listen"])
        #expect(server.requests.last?["Authorization"] == "Bearer new")
        if let attempt = refusal.attempt {
            #expect(server.requests.last?["Utter-Attempt"] == attempt)
        }
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
        let manifest = try #require(try bench.onlyTake()).manifestText
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
        try await send(.digits, on: bench)
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

/// A command that prints a token, while the voice is recorded.
@Suite struct TokenCommandTests {
    /// What may hang while the voice is recorded: each reads the pipe.
    @Test(
        arguments: [
            (
                ["-H", "@PIPE"], "X-Key: sesame\nX-Model: large\n",
                ["X-Key": "sesame", "X-Model": "large"]
            ),
            (
                ["-c", "connection.proxy-login-file=PIPE", "-c", "connection.proxy=PROXY"],
                "name:s3cret\n", [:]
            ),
            (
                ["--token-command", "read -r token <'PIPE'; echo $token"], "sesame\n",
                ["Authorization": "Bearer sesame"]
            ),
        ] as [([String], String, [String: String])])
    func theVoiceIsRecordedWhileASecretTakesItsTime(
        _ options: [String], _ text: String, _ fields: [String: String]
    ) async throws {
        let bench = try Bench(server: .hearing("open"), microphone: VirtualMicrophone())
        let proxy = try await ProxyServer(login: "name s3cret")
        let pipe = bench.folder.path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        let words = options.map {
            $0.replacing("PIPE", with: pipe).replacing("PROXY", with: proxy.url)
        }
        let run = try bench.start(["--for", "500ms", "--events"] + words)
        #expect(await run.wait(for: "\"captured\"", in: .output))
        #expect(bench.requests.isEmpty)
        await onOwnThread {
            let writing = open(pipe, O_WRONLY | O_CLOEXEC)
            _ = write(writing, text, text.utf8.count)
            close(writing)
        }
        let result = try await run.result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        let request = try #require(await bench.server?.finishedRequest())
        for (name, value) in fields { #expect(request[name] == value) }
        #expect(request.body.count == 16_000)
    }

    @Test(
        arguments: [
            ("--token-command", "Bearer horse battery staple", "audio.wav"),
            ("--encrypt-key-command", nil, "audio.wav.encrypted"),
        ] as [(String, String?, String)])
    func theCommandAsksThePersonWhoSpeaks(
        _ option: String, _ token: String?, _ audio: String
    ) async throws {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("open"))
        let bench = try Bench(server: server, microphone: card)
        let terminal = try PseudoTerminal()
        let run = try bench.start(
            [
                "--keep-audio", "1d", option,
                "printf 'the secret? ' >/dev/tty; read -r secret </dev/tty; echo $secret",
            ], input: .terminal, terminal: terminal)
        // From here on the command has the terminal to itself.
        #expect(await run.wait(for: "the recording goes on while the command asks", in: .screen))
        // Space and Enter would end the recording if they were ours.
        try terminal.type("horse battery staple\n")
        _ = try #require(await server.wait(untilBytes: 8_000))
        #expect(await run.wait(for: "press Space or Enter to stop", in: .screen))
        try terminal.type("\n")
        let result = try await run.result()
        #expect(result.status == .exited(0), "\(result.screenText)")
        #expect(result.outputText == "open\n")
        #expect(server.requests.map { $0["Authorization"] } == [token])
        #expect(try bench.onlyTake()?.names == [audio, "take.json"])
    }

    @Test func theCommandIsRunOnceMoreWhenItsTokenIsRefused() async throws {
        let server = try RecordingServer(
            scripts: [.answer(status: 401, text: "old")],
            otherwise: .answer(text: "new"))
        let bench = try Bench(server: server)
        let result = try await bench.run(
            "send", "--token-command", "echo key$UTTER_TOKEN_REFUSED", Clip.digits.path)
        #expect(result.outputText == "new\n", "\(result.errorText)")
        #expect(
            server.requests.map { $0["Authorization"] ?? "" } == ["Bearer key", "Bearer key1"])
    }

    @Test func aTakeWhoseCommandFailsIsKeptAndGoesOutLater() async throws {
        let bench = try Bench(server: .hearing("late"))
        let flag = bench.folder.path("unlocked")
        let command = "test -e '\(flag)' && echo sesame"
        let result = try await bench.run(
            "send", "--token-command", command, Clip.digits.path)
        #expect(result.status == .exited(78))
        #expect(
            result.errorText.contains(
                "utter: error: the recording was not sent: the token: the command ended with "
                    + "status 1\n"), "\(result.errorText)")
        #expect(bench.requests.isEmpty)
        _ = try bench.folder.write([], to: "unlocked")
        let again = try await bench.run("retry", "last", "--token-command", command)
        #expect(again.outputText == "late\n", "\(again.errorText)")
        #expect(bench.requests.map { $0["Authorization"] ?? "" } == ["Bearer sesame"])
    }
}
