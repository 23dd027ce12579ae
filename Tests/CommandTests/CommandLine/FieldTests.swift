// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Glibc
import TestSupport
import Testing
import UtterSettings

@testable import Utter
@testable import UtterCommands

/// `-c`: fields over the profile of a service, for one take.
@Suite struct FieldTests {
    private func plan(_ words: String...) throws -> DeliveryPlan {
        try ServiceOptions.parse(words).delivery(format: nil)
    }

    /// How a kept take is sent with more fields.
    private func plan(_ words: String..., of kept: TakeManifest) throws -> DeliveryPlan {
        try ServiceOptions.parse(words).delivery(of: kept, isAsked: true)
    }

    private func manifest(_ plan: DeliveryPlan) throws -> TakeManifest {
        TakeManifest(
            id: try #require(TakeID("20261121-060000-abcdefghjkmn")), created: Date(),
            audio: "audio.wav", format: plan.format.name, source: "default",
            url: plan.service.url.description, delivery: plan.record)
    }

    @Test func fieldsCountOverTheProfile() throws {
        let plan = try plan(
            "--service", "openai", "--token-command", "echo", "-c", "transfer.framing=length", "-c",
            "connection.http=2", "-c", "transfer.stall-seconds=1m30s", "-c", "retry.never=true",
            "-c", "retry.unknown=keep", "-c", "body.fields.model=mine", "-c",
            "transfer.catch-up=4x")
        #expect(plan.framing == .length)
        #expect(plan.service.connection.http == .two)
        #expect(plan.deadlines.stall == .seconds(90))
        #expect(plan.retry.pausesWhileSpeaking.isEmpty)
        #expect(plan.retry.unknownOutcome == .keep)
        #expect(plan.catchUpRate == .times(4))
        #expect(plan.profile?.profile.name == "openai")
        guard case .form(let form) = plan.service.body else {
            Issue.record("no form")
            return
        }
        #expect(form.fields.first { $0.name == "model" }?.value == "mine")
    }

    @Test func aURLAloneHasFieldsToo() throws {
        let raw = try plan("--to", "http://127.0.0.1:9/x", "-c", "transfer.id-header=X-Id")
        #expect(raw.format == .pcm)
        #expect(raw.idHeader == "X-Id")
        #expect(raw.service.url.description == "http://127.0.0.1:9/x")
        let query = try plan("--to", "http://127.0.0.1:9/x?a=b", "-c", "query.c=d")
        #expect(query.service.url.text == "http://127.0.0.1:9/x?a=b&c=d")
        let form = try plan("-c", "url=http://127.0.0.1:9/x?a=b", "-c", "body.fields.a=b")
        #expect(form.format == .wav)
        #expect(form.service.url.origin.description == "http://127.0.0.1:9")
        #expect(try plan("--to", "http://127.0.0.1:9/").profile == nil)
        // An origin alone keeps the path of the profile.
        let moved = try plan(
            "--service", "deepgram", "--language", "en", "--to", "https://other.example")
        let target = "/v1/listen?model=nova-3&language=en&smart_format=true"
        #expect(moved.service.url.text == "https://other.example\(target)")
    }

    /// Nothing is recorded when the service cannot be asked so.
    @Test(
        arguments: [
            (["--service", "MINE", "--prompt", "x"], nil, 64, "My service has no word 'prompt'"),
            (["--service", "MINE"], .pcm, 64, "My service does not read pcm"),
            (["--service", "MINE", "--set", "tenant="], nil, 64, "My service needs a tenant"),
            (["--service", "MINE.toml"], nil, 66, "there is no file 'MINE.toml'"),
            (
                ["--service", "BAD"], nil, 78,
                "'urll' is not known; did you mean 'url'?"
            ),
            (
                ["--service", "deepgran"], nil, 64,
                "there is no service 'deepgran'; did you mean 'deepgram'?"
            ),
            (["--language", "en"], nil, 64, "--language: no service is named"),
            (["-c", "transfer.id-header=a b"], nil, 64, "-c transfer.id-header: header 'a b'"),
            (["-c", "transfer.catch-up=0"], nil, 64, "-c transfer.catch-up must be "),
            (["-c", "transfer.catch-up=fast"], nil, 64, "-c transfer.catch-up must be "),
            (["-c", "retry.unknown=perhaps"], nil, 64, "-c retry.unknown must be "),
        ] as [([String], AudioCodec?, Int32, String)])
    func whatCannotBeIsSaidBeforeRecording(
        _ words: [String], _ format: AudioCodec?, _ status: Int32, _ message: String
    ) throws {
        let folder = try TemporaryFolder()
        let mine = """
            title = "My service"
            url = "http://127.0.0.1/"
            formats = [{ codec = "flac" }]
            words.tenant = { required = true, default = "a" }
            """
        let bad = "url = 'http://127.0.0.1/'\nurll = 1"
        let files = [
            "MINE": try folder.write(Array(mine.utf8), to: "mine.toml"),
            "BAD": try folder.write(Array(bad.utf8), to: "bad.toml"),
        ]
        func named(_ text: String) -> String {
            files.reduce(text) { $0.replacing($1.key, with: $1.value) }
        }
        let error = #expect(throws: CommandFailure.self) {
            try ServiceOptions.parse(words.map(named)).delivery(format: format)
        }
        #expect(error?.status.rawValue == status)
        #expect(error?.message.contains(named(message)) == true, "\(error?.message ?? "")")
    }

    /// Like `-c`, they are said over the profile, and the plan is made of the texts; secrets stay out.
    @Test func aURLAndHeaderFieldsAreTextsOverTheProfile() throws {
        let plan = try plan(
            "--service", "openai", "--to", "http://127.0.0.1:9/x?key=sesame", "-H",
            "X-A: {take} {a}", "-H", "x-a: c", "-H", "X-Api-Key: sesame", "-c", "headers.x-A=d",
            "-c", "transfer.redirect-to=https://c.example")
        let texts = plan.profile?.profile.texts ?? []
        let places = ["--header", "-c transfer.redirect-to", "-c headers.x-A", "the take"]
        #expect(texts.map(\.place).prefix(4) == places[...])
        #expect(!texts.contains { $0.text.contains("sesame") })
        #expect(plan.service.url.text == "http://127.0.0.1:9/x?key=")
        #expect(plan.service.headers.map(\.value) == ["{take} {a}", "c"])
        #expect(plan.service.credentials.count == 2 && plan.redirectOrigins.count == 1)
        let kept = try manifest(plan)
        let again = try DeliveryPlan(#require(kept.delivery))
        #expect(again.service.headers == plan.service.headers)
        #expect(again.service.url == plan.service.url)
    }

    @Test func whatIsSaidOfTheQueryStaysBesideANewOne() throws {
        let plan = try plan(
            "--service", "speaches", "--to", "http://127.0.0.1:9/x?a=b", "-c", "query.c d=e")
        #expect(plan.service.url.text == "http://127.0.0.1:9/x?a=b&c%20d=e")
        let kept = try manifest(plan)
        let again = try self.plan("--to", "http://127.0.0.1:9/y?f=g", of: kept)
        #expect(again.service.url.text == "http://127.0.0.1:9/y?f=g")
    }

    @Test func aTakeRemembersItsFieldsAndLaterOnesCountMore() throws {
        let first = try plan(
            "--service", "speaches", "--to", "http://127.0.0.1:9/v1", "-c",
            "transfer.framing=length", "-c", "connection.ip=4", "-H", "X-A: b")
        let kept = try manifest(first)
        let same = try plan(of: kept)
        #expect(same.framing == .length)
        #expect(same.service.url == first.service.url)
        #expect(same.record == first.record)
        let other = try plan(
            "-c", "transfer.framing=chunked", "-c", "connection.http=2", of: kept)
        #expect(other.framing == .chunked)
        #expect(other.service.connection.http == .two)
        #expect(other.service.connection.addresses == .four)
        #expect(other.service.url == first.service.url)
        #expect(other.service.headers == first.service.headers)
        let moved = try plan("--to", "http://127.0.0.1:9/v2", "-H", "x-a: c", of: kept)
        #expect(moved.service.url.description == "http://127.0.0.1:9/v2")
        #expect(moved.service.headers.map(\.value) == ["c"] && moved.framing == .length)
        let third = try plan("-c", "transfer.framing=chunked", of: manifest(other))
        // What was said already is not remembered twice.
        #expect(third.record.texts.count == other.record.texts.count)
    }

    /// Whatever becomes of the files that have described the service.
    @Test func aTakeRemembersItsProfileByValue() throws {
        let base = """
            url = "http://127.0.0.1:9/v1/{model}/listen"
            query.lang = "{language}"
            [words]
            model = "small"
            language = { values = { en = "en-US" } }
            """
        let mine = "extends = \"base\"\n[query]\nx = \"1\""
        let bench = try Bench.withProfiles(["base": base, "mine": mine])
        let kept = try bench.within {
            try manifest(
                plan(
                    "--service", "mine", "--language", "en", "--set", "model=big one", "-H",
                    "X-A: b"))
        }
        unlink(bench.profilePath("base"))
        try bench.writeProfile("url = \"http://127.0.0.1:9/\"", to: "mine")
        let again = try bench.within(["UTTER_SERVICE": "mine"]) { try plan(of: kept) }
        #expect(again.service.url.text == "http://127.0.0.1:9/v1/big%20one/listen?lang=en-US&x=1")
        #expect(again.service.headers.map(\.value) == ["b"])
    }

    @Test func aTakeWithoutAProfileTakesFields() throws {
        var plan = DeliveryPlan(
            service: try RecognitionService(url: ServiceURL("http://127.0.0.1:9/x")), format: .wav)
        (plan.idHeader, plan.service.method) = ("X-Own", .put)
        let kept = try manifest(plan)
        let new = try self.plan("-c", "method=POST", "-c", "transfer.framing=length", of: kept)
        #expect(new.framing == .length)
        #expect(new.idHeader == "X-Own")
        #expect(new.service.url.description == "http://127.0.0.1:9/x")
        #expect(new.format == .wav)
        let error = #expect(throws: CommandFailure.self) {
            try self.plan("--model", "x", of: kept)
        }
        #expect(error?.status == .usage)
        #expect(error?.message.contains("was for no service by its name") == true)
    }

    /// Where a form or another format is sent, no such service would know the type of the samples.
    @Test func theTypeOfTheSamplesIsNotThatOfAnotherForm() throws {
        let url = "http://127.0.0.1:9/x"
        let own = try manifest(plan("--to", url, "-H", "Content-Type: audio/x-own"))
        let form = try plan("-c", "body.fields.model=m", of: own)
        #expect(form.format == .wav && form.service.headers.isEmpty)
        let odd = try manifest(plan("--to", url, "-c", "body.content-type=audio/odd"))
        let flac = try ServiceOptions.parse([]).delivery(of: odd, format: .flac, isAsked: true)
        #expect(flac.service.contentType == nil)
    }

    // MARK: - Secrets

    @Test func aTokenOfAFieldIsOneThatIsGiven() throws {
        let plan = try plan(
            "--to", "https://speech.example/", "-c", "auth.command=echo x", "-c",
            "auth.kind=header", "-c", "auth.header=xi-api-key")
        #expect(plan.service.credentials.map(\.source) == [.command("echo x")])
        #expect(plan.service.credentials.map(\.place) == [.header("xi-api-key")])
        #expect(!plan.record.texts.contains { $0.text.contains("echo x") })
    }

    /// None of these would stay out of the take's file.
    @Test(arguments: [
        "words.token=sesame", "words.api-key=sesame", "headers.X-Api-Key=sesame",
        #"headers.X-J={json='{"api_key":"sesame"}'}"#,
        #"body.fields.c={json='[{"a":{"token":"sesame"}}]'}"#,
    ])
    func aLiteralSecretIsRefusedAndNotRepeated(_ field: String) {
        let error = #expect(throws: CommandFailure.self) {
            try plan("--to", "http://127.0.0.1:9/x", "-c", field)
        }
        #expect(error?.status == .usage)
        #expect(error?.message.contains("sesame") == false, "\(error?.message ?? "")")
        #expect(error?.hint?.contains("auth.file=FILE") == true, "\(error?.hint ?? "")")
    }

    /// A URL that is said anew gets no secret of the profile's origin.
    @Test(arguments: [("--to", "https://other.example/"), ("-c", "url=https://other.example/")])
    func aNewURLInheritsNoSecret(_ option: String, _ value: String) throws {
        let plan = try plan("--service", "openai", option, value)
        #expect(plan.service.credentials.isEmpty)
        #expect(plan.service.url.origin.description == "https://other.example")
    }

    @Test func whatIsAllowedForOneServiceIsNotForAnother() throws {
        let plan = try plan(
            "--to", "http://a.example/", "-c", "transfer.insecure-token=true", "-c",
            "transfer.redirect-to=http://c.example", "--token-command", "echo")
        #expect(plan.allowsSecretsInClear)
        let kept = try manifest(plan)
        let same = try self.plan("--to", "http://a.example/y", "--token-command", "echo", of: kept)
        #expect(same.redirectOrigins.count == 1)
        let given = try self.plan("--token-command", "echo x", of: kept)
        #expect(given.redirectOrigins.count == 1)
        #expect(given.service.credentials.map(\.source) == [.command("echo x")])
        let secure = try self.plan(
            "--to", "https://b.example/", "--token-command", "echo", of: kept)
        #expect(!secure.allowsSecretsInClear && secure.redirectOrigins.isEmpty)
        let error = #expect(throws: CommandFailure.self) {
            try self.plan("--to", "http://b.example/", "--token-command", "echo", of: kept)
        }
        let reason = "holds a secret, and would travel in the clear to http://b.example"
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(error?.hint == "use https, or allow it with -c transfer.insecure-token=true")
        let allowed = try self.plan(
            "--to", "http://b.example/", "--token-command", "echo", "-c",
            "transfer.insecure-token=true", of: kept)
        #expect(allowed.allowsSecretsInClear)
        #expect(allowed.redirectOrigins.isEmpty)
    }

    @Test(arguments: [
        ("--endpointing", "did you mean '-c transfer.endpointing=VALUE'?"),
        ("--method", "did you mean '-c method=VALUE'?"),
        ("--period", "did you mean '-c recording.period=VALUE'?"),
        ("--ca-file", "name it with -c connection.ca-file=FILE"),
        ("--headers", "did you mean '--header'?"),
    ])
    func anOptionThatIsAFieldLeadsToTheField(_ option: String, _ hint: String) {
        let mistake = CommandLineMistake(
            "Unknown option '\(option)'",
            help: "See 'utter record --help' for more information.", typed: [option],
            of: CommandNames(UtterCommand.self))
        #expect(mistake.hints.first == hint)
    }

    @Test func fewOptionsHaveNamesOfTheirOwn() {
        let common: Set = ["--version", "--help", "--help-hidden"]
        let names = Set(CommandNames(UtterCommand.self).options("record")).subtracting(common)
        #expect(names.count { $0.hasPrefix("--") } <= 36, "\(names.sorted())")
        let shown = RecordCommand.helpMessage(columns: 400).split(separator: "\n")
            .count { $0.hasPrefix("  -") }
        #expect(shown <= 24)
    }
}
