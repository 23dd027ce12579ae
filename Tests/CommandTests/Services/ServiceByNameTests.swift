// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// A service that is called by its name is asked as its profile says.
@Suite struct ServiceByNameTests {
    private static let answer: [ServerStep] = .json(
        #"{"deep":{"words":"heard"},"text":"else"}"#)

    /// A service of one's own; `port` is where it is.
    private func profile(_ server: RecordingServer, more: String = "") -> String {
        """
        title = "My service"
        url = "\(server.url("/v1/{model}/listen"))"
        [query]
        lang = "{language}"
        [words]
        model = "small"
        language = { values = { en = "en-US" } }
        [[formats]]
        codec = "flac"
        content-type = "audio/x-flac;rate={rate}"
        [[formats]]
        codec = "wav"
        query = { format = "wav" }
        [answer]
        text = ["deep.words"]
        \(more)
        """
    }

    @Test func aProfileAndWordsMakeTheRequest() async throws {
        let server = try RecordingServer(otherwise: Self.answer)
        let bench = try Bench.withProfiles(["mine": profile(server)])
        let result = try await bench.run(
            "send", "--service", "mine", "--language", "en", "--set", "model=big one",
            Clip.goForward.path)
        #expect(result.outputText == "heard\n", "\(result.errorText)")
        let request = try #require(server.requests.first)
        #expect(request.requestLine == "POST /v1/big%20one/listen?lang=en-US HTTP/1.1")
        #expect(request["Content-Type"] == "audio/x-flac;rate=16000")
        #expect(request.body.starts(with: Array("fLaC".utf8)))
    }

    /// Not in the folder in which it is called, which may be another person's.
    @Test(arguments: [
        "service = './mine.toml'", "service = 'mine.toml'",
        "service = 'a'\n[services.a]\nprofile = 'mine.toml'",
    ])
    func aPathInTheSettingsBeginsBesideThem(_ settings: String) async throws {
        let (meant, other) = (
            try RecordingServer(otherwise: Self.answer), try RecordingServer(otherwise: Self.answer)
        )
        let bench = try Bench(["UTTER_URL": ""])
        try bench.configure(settings)
        try bench.folder.write(Array(profile(meant).utf8), to: ".config/utter/mine.toml")
        try bench.folder.write(Array(profile(other).utf8), to: "mine.toml")
        let result = try await bench.startShell(
            #"cd "$HOME" && exec "$0" "$@""#, ["send", Clip.goForward.path]
        ).result()
        #expect(result.outputText == "heard\n", "\(result.errorText)")
        #expect(meant.requests.count == 1 && other.connectionCount == 0)
    }

    @Test func aServiceThatWantsToBeAskedFirstIs() async throws {
        let server = try RecordingServer(
            otherwise: [
                .readHead, .sendRaw(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)), .readBodyToEnd,
            ] + Self.answer.dropFirst(2))
        let bench = try Bench.withProfiles([
            "mine": profile(server, more: "[transfer]\nexpect-continue = true")
        ])
        let result = try await bench.run("send", "--service", "mine", Clip.goForward.path)
        #expect(result.outputText == "heard\n", "\(result.errorText)")
        #expect(server.requests.first?["Expect"] == "100-continue")
        #expect(server.requests.first?.isComplete == true)
    }

    @Test func aByteThatCannotBeReadCostsACharacterAndIsSaid() async throws {
        let body = Array("{\"deep\":{\"words\":\"caf".utf8) + [0xE9] + Array(" noir\"}}".utf8)
        let server = try RecordingServer(
            otherwise: [.readHead, .readBodyToEnd, .respond(status: 200, body: body)])
        let bench = try Bench.withProfiles(["mine": profile(server)])
        let result = try await bench.run("send", "--service", "mine", Clip.goForward.path)
        #expect(result.outputText == "caf\u{FFFD} noir\n", "\(result.errorText)")
        #expect(result.errorText.contains("has a character that cannot be read"))
    }

    /// libcurl would make the request again by itself.
    @Test func aServiceThatRefusesToBeAskedFirstIsAskedWithoutThat() async throws {
        let server = try RecordingServer(
            scripts: [[.readHead, .respond(status: 417), .close]], otherwise: Self.answer)
        let bench = try Bench.withProfiles([
            "mine": profile(server, more: "[transfer]\nexpect-continue = true")
        ])
        let result = try await bench.run("send", "--service", "mine", Clip.goForward.path)
        #expect(result.outputText == "heard\n", "\(result.errorText)")
        #expect(server.requests.map { $0["Expect"] } == ["100-continue", nil])
        #expect(server.requests.last?.isComplete == true)
    }

    @Test func anOriginAloneMovesTheService() async throws {
        let (meant, server) = (try RecordingServer(), try RecordingServer(otherwise: Self.answer))
        let bench = try Bench.withProfiles(["mine": profile(meant)], ["UTTER_URL": meant.url()])
        let result = try await bench.run(
            "send", "--service", "mine", "--language", "en", "--to", server.url(""),
            Clip.goForward.path)
        #expect(result.outputText == "heard\n", "\(result.errorText)")
        #expect(server.requests.first?.target == "/v1/small/listen?lang=en-US")
        #expect(meant.connectionCount == 0)
    }

    @Test func aTokenThatWasNotSentElsewhereIsSaidWhenOneIsWanted() async throws {
        let (meant, other) = (
            try RecordingServer(),
            try RecordingServer(otherwise: [.readHead, .readBodyToEnd, .respond(status: 401)])
        )
        let bench = try Bench.withProfiles(
            ["mine": profile(meant, more: "[auth]\nvariable = \"MINE_TOKEN\"")],
            ["MINE_TOKEN": "sesame", "UTTER_URL": ""])
        let send = ["send", "--service", "mine", "--to", other.url(""), Clip.goForward.path]
        let result = try await bench.start(send).result()
        #expect(result.status == .exited(77))
        #expect(
            result.errorText.contains(
                "wants a token: 401; none was sent, since the profile's belongs to \(meant.url(""))\n"
            ), "\(result.errorText)")
        #expect(result.errorText.contains("UTTER_TOKEN beside --to"))
        // With one of its own nothing is said of the other.
        let own = try await bench.start(send, variables: ["UTTER_TOKEN": "other"]).result()
        #expect(other.requests.last?["Authorization"] == "Bearer other")
        #expect(!own.errorText.contains("none was sent"), "\(own.errorText)")
    }

    /// Nothing is recorded when the service cannot be asked so.
    @Test(arguments: [
        (["--service", "mine", "--prompt", "x"], 64, "My service has no prompt"),
        (["--service", "mine", "--format", "pcm"], 64, "My service does not read pcm"),
        (["--service", "mine", "--set", "tenant="], 64, "My service needs a tenant"),
        (["--service", "mime"], 64, "there is no service 'mime'; did you mean 'mine'?"),
        (["--service", "./none.toml"], 66, "there is no file './none.toml'"),
        (["--language", "en"], 64, "--language: no service is named"),
        (["--service", "mine", "--set", "Region"], 64, "--set: 'Region' is not WORD=VALUE"),
        (["--service", "bad"], 78, "/bad.toml:2:1: 'urll' is not known; did you mean 'url'?"),
    ])
    func whatCannotBeIsSaidBeforeRecording(
        arguments: [String], status: Int32, message: String
    ) async throws {
        let server = try RecordingServer()
        let bench = try Bench.withProfiles(
            [
                "mine": profile(server, more: "[words.tenant]\nrequired = true\ndefault = \"a\""),
                "bad": "url = \"http://127.0.0.1/\"\nurll = 1",
            ])
        let result = try await bench.start(["send"] + arguments + [Clip.goForward.path]).result()
        #expect(result.status == .exited(status))
        #expect(result.errorText.contains(message), "\(result.errorText)")
        #expect(try bench.takes().isEmpty)
        #expect(server.connectionCount == 0)
    }

    @Test(arguments: ["retry last", "flush"])
    func aTakeRemembersItsProfileByValue(_ command: String) async throws {
        let server = try RecordingServer(
            scripts: [.answer(status: 503, text: "")], otherwise: Self.answer)
        let bench = try Bench.withProfiles([
            "base": profile(server), "mine": "extends = \"base\"\n[query]\nx = \"1\"",
        ])
        let first = try await bench.run(
            "send", "-c", "retry.never=true", "--service", "mine", "--language", "en", "-H",
            "X-A: b",
            Clip.goForward.path)
        #expect(first.status == .exited(75), "\(first.errorText)")
        // One is gone, the other is something else.
        unlink(bench.profilePath("base"))
        try bench.writeProfile("url = \"http://127.0.0.1:9/\"", to: "mine")
        let again = try await bench.start(
            command.split(separator: " ").map(String.init),
            variables: ["UTTER_SERVICE": "mine"]
        ).result()
        #expect(again.outputText == "heard\n", "\(again.errorText)")
        let (one, two) = (server.requests[0], server.requests[1])
        #expect(one.target == "/v1/small/listen?lang=en-US&x=1")
        #expect(two.target == one.target)
        #expect(two["X-A"] == "b")
        #expect(two.body == one.body)
    }

    @Test func aTakeKeepsTheProfileAndNoSecret() async throws {
        let server = try RecordingServer(otherwise: .answer(status: 503, text: ""))
        let bench = try Bench.withProfiles(
            ["mine": profile(server, more: "[auth]\nvariable = \"MINE_KEY\"")],
            ["MINE_KEY": "sesame-4711"])
        _ = try await bench.run(
            "send", "-c", "retry.never=true", "--service", "mine", Clip.goForward.path)
        let take = try #require(try bench.onlyTake())
        let text = try take.manifestText
        #expect(text.contains("MINE_KEY") && text.contains("My service"))
        #expect(!text.contains("sesame"))
        #expect(try take.manifest["version"] == .number(2))
        // The token is fetched again; without it nothing is sent.
        let without = try await bench.start(["retry", "last"], variables: ["MINE_KEY": ""]).result()
        #expect(without.status == .exited(78))
        #expect(without.errorText.contains("MINE_KEY is not set"), "\(without.errorText)")
        _ = try await bench.run("retry", "last", "-c", "retry.never=true")
        #expect(
            server.requests.map { $0["Authorization"] }
                == ["Bearer sesame-4711", "Bearer sesame-4711"])
    }

    @Test func aKeptTakeMayBeSaidOtherwiseOrGoElsewhere() async throws {
        let server = try RecordingServer(
            scripts: Array(repeating: .answer(status: 503, text: ""), count: 3),
            otherwise: Self.answer)
        let bench = try Bench.withProfiles([
            "mine": profile(server),
            "other": "url = \"\(server.url("/other"))\"\n[answer]\ntext = [\"text\"]",
        ])
        let first = try await bench.run(
            "send", "-c", "retry.never=true", "--service", "mine", "-c", "method=PUT",
            Clip.goForward.path)
        #expect(first.status == .exited(75), "\(first.errorText)")
        _ = try await bench.run("retry", "last", "-c", "retry.never=true", "--language", "en")
        _ = try await bench.run("retry", "last", "-c", "retry.never=true", "--format", "wav")
        let last = try await bench.run("retry", "last", "--service", "other")
        #expect(last.outputText == "else\n", "\(last.errorText)")
        #expect(
            server.requests.map(\.requestLine) == [
                "PUT /v1/small/listen HTTP/1.1", "PUT /v1/small/listen?lang=en-US HTTP/1.1",
                "PUT /v1/small/listen?lang=en-US&format=wav HTTP/1.1", "POST /other HTTP/1.1",
            ])
        #expect(server.requests[2]["Content-Type"] == "audio/wav")
        #expect(server.requests[3].body.starts(with: Array("fLaC".utf8)))
    }

    @Test func wordsNeedATakeThatHasAProfile() async throws {
        let server = try RecordingServer(otherwise: .answer(status: 503, text: ""))
        let bench = try Bench(server: server)
        _ = try await bench.run("send", "-c", "retry.never=true", Clip.goForward.path)
        let result = try await bench.run("retry", "last", "--model", "x")
        #expect(result.status == .exited(64))
        #expect(result.errorText.contains("was for no service by its name"), "\(result.errorText)")
    }

    @Test func aRefusedTokenIsLookedForWhereItCameFrom() async throws {
        let server = try RecordingServer(otherwise: .answer(status: 401, text: "no"))
        let text = "url = \"\(server.url())\"\nauth.variable = \"MINE_TOKEN\""
        let bench = try Bench.withProfiles(
            ["mine": text], server: server, ["MINE_TOKEN": "sesame"])
        let result = try await bench.run("send", "--service", "mine", Clip.digits.path)
        #expect(result.status == .exited(77))
        #expect(result.errorText.contains("hint: check the token in MINE_TOKEN\n"))
        let other = try await bench.run(
            "send", "--service", "mine", "--token-command", "echo sesame", Clip.digits.path)
        #expect(other.errorText.contains("hint: check the token: UTTER_TOKEN, --token-file"))
    }
}
