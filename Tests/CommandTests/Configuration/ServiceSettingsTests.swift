// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import TestSupport
import Testing

@testable import SpeechService
@testable import Utter
@testable import UtterCommands

@Suite struct ServiceSettingsTests {
    private let server: RecordingServer
    private let bench: Bench

    init() throws {
        server = try RecordingServer(otherwise: .answer(text: #"{"text":"heard"}"#))
        bench = try Bench(["UTTER_URL": ""])
    }

    private func configure(_ more: String = "") throws {
        try bench.folder.write(Array("sk-file\n".utf8), to: "token")
        try bench.configure(
            """
            service = "mine"
            language = "en"
            [services.mine]
            profile = "openai"
            url = "\(server.url("/v1/audio/transcriptions"))"
            token-file = "~/token"
            model = "table"
            \(more)
            """)
    }

    private func send(_ words: String...) async throws {
        let result = try await bench.start(["send"] + words + [Clip.goForward.path]).result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.outputText == "heard\n")
    }

    /// The value of a field of the last form.
    private func field(_ name: String) -> String? {
        let body = String(decoding: server.requests.last?.body ?? [], as: UTF8.self)
        guard let start = body.firstRange(of: "name=\"\(name)\"\r\n\r\n") else { return nil }
        return String(body[start.upperBound...].prefix { !$0.isNewline })
    }

    /// Where the secrets come from with which a service would be asked.
    private func secrets(
        _ words: String..., variables: [String: String] = [:]
    ) throws -> [SecretSource] {
        try bench.within(variables) {
            try ServiceOptions.parse(words).delivery(format: nil).service.credentials.map(\.source)
        }
    }

    @Test func aServiceIsAskedByTheFieldsOfItsTable() async throws {
        try configure(
            """
            query.version = "2"
            body.fields.tier = "a"
            transfer.framing = "length"
            language = "de"
            format = "flac"
            [services.mine.headers]
            X-Own = "yes"
            """)
        try await send()
        let request = try #require(server.requests.last)
        #expect(request.target == "/v1/audio/transcriptions?version=2")
        #expect(request["Authorization"] == "Bearer sk-file")
        #expect(request["X-Own"] == "yes" && request["Content-Length"] != nil)
        #expect(field("tier") == "a" && field("model") == "table" && field("language") == "de")
        #expect(request.body.contains("fLaC".utf8))
        // What is said now goes before.
        try await send(
            "--model", "option", "--language", "fr", "--format", "wav", "-c", "body.fields.tier=b",
            "-c", "query.c=d")
        #expect(field("tier") == "b" && field("model") == "option" && field("language") == "fr")
        #expect(server.requests.last?.body.contains("RIFF".utf8) == true)
        #expect(server.requests.last?.target == "/v1/audio/transcriptions?version=2&c=d")
        // A query of an option takes the place of the file's, and not of what is said beside it.
        try await send("--to", server.url("/v1/audio/transcriptions?a=b"), "-c", "query.c=d")
        #expect(server.requests.last?.target == "/v1/audio/transcriptions?a=b&c=d")
        let shown = try await bench.here("config", "show", "--explain").outputText
        #expect(shown.contains("services.mine.headers.X-Own = \"yes\""), "\(shown)")
        #expect(shown.contains("services.mine.transfer.framing = \"length\""))
        let profile = try await bench.here("services", "show", "mine").outputText
        let place = "\(bench.configurationPath):10"
        #expect(profile.contains("transfer.framing = \"length\"  # \(place)\n"), "\(profile)")
    }

    @Test func aServiceStandsInTheSettingsAlone() async throws {
        let server = try RecordingServer(otherwise: .answer(text: #"{"said":"heard","text":"no"}"#))
        try bench.folder.write(Array("sk-file\n".utf8), to: "token")
        try bench.configure(
            """
            service = "house"
            [services.house]
            url = "\(server.url("/listen?key={token}"))"
            answer.text = "said"
            token-file = "~/token"
            headers.X-Own = "yes"
            """)
        for words in [[], ["--service", "house"], ["-c", "answer.text=said", "--format", "wav"]] {
            let result = try await bench.start(["send"] + words + [Clip.goForward.path]).result()
            #expect(result.outputText == "heard\n", "\(words): \(result.errorText)")
            let request = try #require(server.requests.last)
            #expect(request.target == "/listen?key=sk-file" && request["X-Own"] == "yes")
        }
        #expect(try await bench.here("config", "check").status == .exited(0))
        #expect(try await bench.here("services").outputText.contains("house"))
        let shown = try await bench.here("services", "show", "house")
        #expect(shown.outputText.contains("answer.text = \"said\""), "\(shown.errorText)")
        // Without a URL there is nothing to ask.
        try bench.configure("service = 'house'\n[services.house]\nanswer.text = 'said'\n")
        let refused = try await bench.here("send", Clip.goForward.path)
        #expect(refused.errorText.contains("there is no service 'house'"))
    }

    @Test func fieldsAreSetAndTakenBackByCommand() async throws {
        for (name, value) in [
            ("profile", "openai"), ("transfer.stall-seconds", "30"), ("retry.never", "true"),
        ] {
            let set = try await bench.here("config", "set", "services.mine.\(name)", value)
            #expect(set.status == .exited(0))
        }
        let unset = try await bench.here("config", "unset", "services.mine.retry.never")
        #expect(unset.status == .exited(0), "\(unset.errorText)")
        #expect(try await bench.here("config", "check").status == .exited(0))
        let text = try readFile(bench.configurationPath)
        #expect(
            String(decoding: text, as: UTF8.self).hasSuffix(
                """

                [services.mine]
                profile = "openai"
                transfer.stall-seconds = 30

                """))
        // One that was written by hand is found, and taken out.
        try bench.configure("[services.mine]\nprofile = 'openai'\ntransfer.framing = 'chunky'\n")
        let check = try await bench.here("config", "check")
        #expect(check.status == .exited(78))
        #expect(check.errorText.contains("\(bench.configurationPath):3"), "\(check.errorText)")
        let mended = try await bench.here("config", "unset", "services.mine.transfer.framing")
        #expect(mended.status == .exited(0), "\(mended.errorText)")
        #expect(try await bench.here("config", "check").status == .exited(0))
    }

    @Test func aServiceThatThereIsNotIsNotSet() async throws {
        let wrong = try await bench.here("config", "set", "service", "opneai")
        #expect(wrong.status == .exited(64))
        #expect(
            wrong.errorText.contains("there is no service 'opneai'; did you mean 'openai'?"))
        try bench.configure("[services.mine]\nprofile = 'openai'\n")
        #expect(try await bench.here("config", "set", "service", "mine").status == .exited(0))
        #expect(try await bench.here("config", "get", "service").outputText == "mine\n")
    }

    @Test func theTokenOfTheEnvironmentGoesBeforeThatOfTheFileWhereItsURLLeads() throws {
        try configure()
        let own = SecretSource.file(bench.folder.path("token"))
        let token = ["UTTER_TOKEN": "sk-variable"]
        let both = token.merging(["UTTER_URL": server.url("/v1/audio/transcriptions")]) { $1 }
        #expect(try secrets(variables: both) == [.variable("UTTER_TOKEN")])
        #expect(try secrets("--token-file", "/other", variables: both) == [.file("/other")])
        // Alone it says not whose it is.
        #expect(try secrets(variables: token) == [own])
        // None goes to another origin.
        #expect(try secrets() == [own])
        #expect(try secrets("--to", "http://127.0.0.1:9/elsewhere") == [])
    }

    @Test func flushNeedsNothingButTheFile() async throws {
        let down = try RecordingServer(
            scripts: [[.readHead, .readBodyToEnd, .respond(status: 503, text: "")]],
            otherwise: .answer(text: #"{"text":"heard"}"#))
        func configure(_ token: String) throws {
            try bench.configure(
                """
                [services.speaches]
                url = "\(down.url("/v1/audio/transcriptions"))"
                \(token)
                """)
        }
        try configure("token-variable = 'MY_TOKEN'")
        let kept = try await bench.start(
            ["send", "-c", "retry.never=true", "--service", "speaches", Clip.goForward.path],
            variables: ["MY_TOKEN": "sk-lost"]
        ).result()
        #expect(kept.status == .exited(75), "\(kept.errorText)")
        // The variable is the shell's, and there is none in a unit.
        let without = try await bench.run("flush")
        #expect(without.status == .exited(75))
        #expect(without.errorText.contains("MY_TOKEN is not set"))
        try configure("token-command = 'echo sk-command'")
        let flushed = try await bench.run("flush")
        #expect(flushed.status == .exited(0) && flushed.outputText == "heard\n")
        #expect(
            down.requests.map { $0["Authorization"] } == ["Bearer sk-lost", "Bearer sk-command"])
    }

    @Test func aSecretInTheURLIsRefused() async throws {
        try bench.configure(
            "service = 'openai'\nservices.openai.url = 'https://a.example/x?api_key=sk-1'\n")
        let result = try await bench.here("send", Clip.goForward.path)
        #expect(result.status == .exited(78))
        #expect(
            result.errorText.contains(
                "services.openai.url: query parameter 'api_key' holds a secret\n"))
        #expect(!result.errorText.contains("sk-1"))
    }

    @Test func secretsAreShownByTheirSourcesAlone() async throws {
        try configure("words = { region = \"eu\" }")
        let shown = try await bench.here("config", "show", "--explain").outputText
        #expect(shown.contains("services.mine.token-file = \"~/token\""))
        #expect(shown.contains("services.mine.words.region = \"eu\""))
        #expect(shown.contains("\(bench.configurationPath):6"))
        #expect(!shown.contains("sk-file"))
        let format = shown.split(separator: "\n").first { $0.hasPrefix("format = ") }
        #expect(format?.hasSuffix("  # profile openai") == true, "\(shown)")
    }
}
