// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import AudioCodecs
@testable import SpeechService
@testable import TakeStore
@testable import Upload
@testable import Utter

/// A take remembers texts: the plan that they describe is the plan that it was sent by.
@Suite struct DeliveryRecordTests {
    /// A member of a plan that a program may set, and two values that are not the usual ones.
    struct Change: CustomTestStringConvertible, Sendable {
        let member: String
        let makes: [Make]
        var testDescription: String { member }

        init(_ member: String, _ one: @escaping Make, _ two: @escaping Make) {
            (self.member, makes) = (member, [one, two])
        }

        typealias Make = @Sendable (inout DeliveryPlan) throws -> Void
    }

    /// Members that no take remembers: secrets, observers, rules of the person for texts, and values that
    /// each attempt makes anew.
    private static let ownOfARun: Set<String> = [
        "credentials", "reportsProgress", "idSuffix", "bodyMark", "hasOwnName", "isTraced",
        "observing", "isUnset", "rules", "filter", "replacesWhole",
    ]
    /// Members that only a profile sets, and the profile itself.
    private static let ofProfiles: Set<String> = [
        "retry", "expectsContinue", "limits", "exchange", "words", "authentication", "use",
        "ownQuery", "stretches", "socket",
    ]

    static let changes: [Change] = [
        Change(
            "service.url",
            { $0.service.url = try ServiceURL("https://b.example/x?a=1&a=2&b=%7Btake%7D") },
            { $0.service.url = try ServiceURL("http://127.0.0.1:9/") }),
        Change(
            "service.method", { $0.service.method = .put }, { $0.service.method = .post }),
        Change(
            "service.headers",
            {
                $0.service.headers = try [
                    HeaderField(name: "X-A", value: "{language} {\"{take}"),
                    HeaderField(name: "X-A", value: ""), HeaderField(name: "x.b", value: ""),
                ]
            }, { $0.service.headers = [] }),
        Change(
            "service.contentType", { $0.service.contentType = "audio/{rate}" },
            { $0.service.contentType = nil }),
        Change(
            "service.body",
            {
                let fields = try [
                    AudioForm.Field(name: "a", value: "{model}\n\u{7F}\""),
                    AudioForm.Field(name: "a", value: "", contentType: "text/csv"),
                    AudioForm.Field(name: "model", value: ""),
                ]
                $0.service.body = .form(try AudioForm(fields: fields, fileField: "f"))
            },
            {
                let text = #"{ "language": 1.0,  "x": "{audio}" }"#
                $0.service.body = .json(try JSONTemplate(text))
            }),
        Change("raw service.body", { $0.service.body = .raw }, { $0.service.body = .raw }),
        Change(
            "service.bodyKey",
            {
                $0.service.bodyKey = Credential(
                    askedOf: .variable("KEY"), place: .body, form: .plain)
            },
            { $0.service.bodyKey = nil }),
        Change(
            "service.answer", { $0.service.answer = try AnswerRule("json:a[0].\"b\"") },
            { $0.service.answer = try Service("deepgram").delivery.service.answer }),
        Change(
            "usual service.answer", { $0.service.answer = .automatic },
            { $0.service.answer = try AnswerRule("events") }),
        Change(
            "service.detectsEnd", { $0.service.detectsEnd = true },
            { $0.service.detectsEnd = false }),
        Change(
            "service.connection",
            {
                var settings = ConnectionSettings()
                (settings.http, settings.minimumTLS) = (.two, .three)
                (settings.proxy, settings.proxyExceptions) = (try Proxy("http://p:1"), [])
                settings.proxyLogin = Credential(
                    askedOf: .file("/login"), place: .proxy, form: .plain)
                (settings.certificateFile, settings.clientCertificate) = ("/ca", "/own")
                (settings.clientKey, settings.addresses) = ("/key", .six)
                let key = "sha256//" + String(repeating: "A", count: 43) + "="
                settings.pinnedKeys = [try PinnedKey(key)]
                settings.resolutions = [try HostResolution("a.example:80:127.0.0.1")]
                $0.service.connection = settings
            }, { $0.service.connection = ConnectionSettings() }),
        Change(
            "service.connection.proxy", { $0.service.connection.proxy = Proxy.none },
            {
                $0.service.connection.proxyExceptions = ["a", "b"]
                $0.service.connection.proxyLogin = Credential(
                    askedOf: .variable("LOGIN"), place: .proxy, form: .plain)
            }),
        Change("format", { $0.format = .flac }, { $0.format = .pcm }),
        Change(
            "deadlines",
            {
                $0.deadlines = TransferDeadlines(
                    connect: .milliseconds(1_234), stall: .seconds(7), answer: .seconds(3_600),
                    refusal: .milliseconds(1), whole: .seconds(86_400))
            },
            {
                $0.deadlines = TransferDeadlines(
                    connect: .seconds(0.1), stall: .seconds(2.4), whole: .seconds(1))
            }),
        Change(
            "redirectOrigins",
            {
                $0.redirectOrigins = [try Origin("https://c.example:8443"), try Origin("http://d")]
            },
            { $0.redirectOrigins = [] }),
        Change("framing", { $0.framing = .length }, { $0.framing = .chunked }),
        Change("usual framing", { $0.framing = .auto }, { $0.framing = .auto }),
        Change(
            "allowsSecretsInClear", { $0.allowsSecretsInClear = true },
            { $0.allowsSecretsInClear = false }),
        Change(
            "retry",
            {
                $0.retry = RetryPolicy(
                    pausesWhileSpeaking: [.milliseconds(5), .seconds(90)],
                    pausesAfterRelease: [.zero], longestRetryAfter: .seconds(1),
                    unknownOutcome: .ask)
            }, { $0.retry = .never }),
        Change("usual retry", { $0.retry = .standard }, { $0.retry.unknownOutcome = .keep }),
        Change("catchUpRate", { $0.catchUpRate = .times(2.5) }, { $0.catchUpRate = nil }),
        Change(
            "bytes of catchUpRate", { $0.catchUpRate = .bytes(perSecond: 64_001) },
            { $0.catchUpRate = .bytes(perSecond: 1) }),
        Change("idHeader", { $0.idHeader = "X-Id" }, { $0.idHeader = "Idempotency-Key" }),
    ]

    /// A service over a WebSocket, whose URL and messages belong together.
    private func socketPlan() throws -> DeliveryPlan {
        let text = "url = 'wss://a.example/listen'\nsocket.finish = 'end'"
        let profile = try ServiceProfile(texts: [ProfileText(name: "socket", text: text)])
        return try DeliveryPlan(ProfileUse(profile, words: [:], codec: .pcm))
    }

    /// Not each change of an upload goes with a service that has messages alone.
    private static let uploading = Result { try plans(to: ShippedProfiles.uploading) }

    /// The plans of shipped profiles, and of a service that is known by its URL alone.
    private static func plans(
        to names: [String]
    ) throws -> [(name: String, plan: DeliveryPlan)] {
        let plain = try DeliveryPlan(
            service: RecognitionService(url: ServiceURL("https://a.example/recognize?x=1")))
        var plans = [(name: "plain", plan: plain)]
        for name in names {
            let profile = try Profiles.shipped.profile(name)
            var words: [String: String] = [:]
            for word in profile.words where word.isRequired || word.name == "language" {
                let isURL = profile.url.text.hasPrefix("{\(word.name)}")
                words[word.name] = isURL ? "https://a.example" : word.choices.first ?? "a"
            }
            let use = try ProfileUse(profile, words: words, codec: nil)
            plans.append((name, try DeliveryPlan(use)))
        }
        return plans
    }

    /// Values of fields that take not any text.
    private static let values: [String: [String]] = [
        "url": ["https://c.example/", "http://127.0.0.1:9/a?b=c"],
        "formats": [#"[{codec = "wav"}]"#, #"[{codec = "flac"}, {codec = "wav"}]"#],
        "transfer.redirect-to": [#"["https://c.example"]"#, "[]"],
        "transfer.catch-up": ["2x", "64k"],
        "socket.greeting": [#"{ path = "a" }"#, #"{ path = "b", equals = 1 }"#],
        "socket.path": ["/v2", "/a?b=c"],
        "socket.audio": [#"{"a":"{audio}"}"#, #"{"b":"{audio}","c":"{rate}"}"#],
        "connection.proxy": ["none", "http://p:1"],
        "retry.pauses-while-speaking": ["[1]", "[]"], "retry.pauses-after-release": ["[1]", "[]"],
        "retry.close-codes": ["[1011]", "[]"], "retry.statuses": ["[404]", "[]"],
        "retry.token-refused": ["[404]", "[]"],
        "auth": ["false"], "limits": ["false"], "body.template": [#"{"a":"{audio}"}"#],
        "connection.pinned-key": [#"["sha256//\#(String(repeating: "A", count: 43))="]"#],
        "connection.resolve": [#"["a:80:127.0.0.1"]"#], "exchange.origins": [#"["https://c"]"#],
        "answer.success": [#"{path = "a"}"#], "answer.no-speech": [#"{path = "a"}"#],
        "answer.header": [#"{name = "x"}"#], "answer.select": [#"[{path = "a", is = "final"}]"#],
    ]

    private static func values(of key: ProfileKey) -> [String] {
        switch key.form {
        case .text, .path, .table: ["one", "two"]
        case .words(let words): Array(words.suffix(2))
        case .number, .seconds: ["2", "3"]
        case .flag: ["true", "false"]
        case .list: ["[\"a\"]", "[\"b\"]"]
        }
    }

    private static func plan(
        _ texts: [ProfileText], by plan: DeliveryPlan
    ) throws -> DeliveryPlan {
        let profile = try ServiceProfile(texts: texts)
        return try DeliveryPlan(
            ProfileUse(profile, words: plan.profile?.words ?? [:], codec: plan.format))
    }

    /// As it is written and read.
    private func read(_ record: DeliveryManifest) throws -> DeliveryManifest {
        try JSONDecoder().decode(DeliveryManifest.self, from: JSONEncoder().encode(record))
    }

    /// Each part of a plan by its name, but for the service.
    private func parts(_ plan: DeliveryPlan) -> [String: Any] {
        var parts: [String: Any] = [:]
        for case (let label?, let value) in Mirror(reflecting: plan).children {
            if label != "_serviceBox", !Self.ownOfARun.contains(label) { parts[label] = value }
        }
        return parts
    }

    /// As values, or else, where there is a difference to show or no equality, by what they print.
    private func expectSame(_ one: Any, _ other: Any?, _ name: String) {
        func isEqual<Value: Equatable>(_ one: Value) -> Bool { other as? Value == one }
        if let one = one as? any Equatable, isEqual(one) { return }
        #expect(String(reflecting: other ?? "nothing") == String(reflecting: one), "\(name)")
    }

    private func expectSame(
        _ one: DeliveryPlan, _ other: DeliveryPlan, _ name: String
    ) throws {
        let (before, after) = (parts(one), parts(other))
        for (part, value) in before { expectSame(value, after[part], "\(name): \(part)") }
        func bare(_ plan: DeliveryPlan) throws -> RecognitionService {
            var service = plan.service
            (service.credentials, service.use, service.ownQuery) = ([], nil, [])
            // A word counts where something asks for it; fields of other names have any order.
            service.words = [:]
            if case .form(let form) = service.body {
                let fields = form.fields.enumerated().sorted {
                    ($0.element.name, $0.offset) < ($1.element.name, $1.offset)
                }
                service.body = .form(
                    try AudioForm(
                        fields: fields.map(\.element), fileField: form.fileField,
                        fileName: form.fileName))
            }
            return service
        }
        let (own, read) = (try bare(one), try bare(other))
        guard own != read else { return }
        let texts = { (service: RecognitionService) in
            Mirror(reflecting: service).children.map { "\($0.label ?? ""): \($0.value)" }
                + [service.url.text, "\(service.body)", "\(service.connection)"]
        }
        let differences = zip(texts(own), texts(read)).filter { $0 != $1 }
        Issue.record("\(name): \(differences)")
    }

    @Test func eachProfileIsRemembered() throws {
        for (name, plan) in try Self.plans(to: Profiles.shipped.names) {
            let record = try read(plan.record)
            #expect(record.texts.count == (plan.profile?.profile.texts.count ?? 1), "\(name)")
            try expectSame(plan, try DeliveryPlan(record), name)
        }
    }

    @Test(arguments: changes) func eachMemberThatAProgramSetsIsRemembered(_ change: Change) throws {
        for (name, plan) in try Self.uploading.get() {
            for (index, make) in change.makes.enumerated() {
                var plan = plan
                try make(&plan)
                // Parts are of the audio alone, whatever a program says.
                if case .parts = plan.service.exchange { plan.service.body = .raw }
                let record = try read(plan.record)
                let again = try DeliveryPlan(record)
                try expectSame(plan, again, "\(name), \(change.member) \(index)")
                // A plan that was read is written back unchanged.
                #expect(again.record.texts == record.texts, "\(name), \(change.member) \(index)")
            }
        }
    }

    /// A member that is new needs a change above, or a reason to be forgotten.
    @Test func noMemberIsLeftOut() throws {
        func labels(_ value: Any) -> [String] {
            Mirror(reflecting: value).children.compactMap(\.label).map { label in
                let name = label.hasPrefix("_") ? String(label.dropFirst()) : label
                return name.hasSuffix("Box") ? String(name.dropLast(3)) : name
            }
        }
        let plan = try Self.uploading.get()[0].plan
        let said = Set(Self.changes.map { String($0.member.split(separator: " ").last ?? "") })
        for label in labels(plan) where label != "service" {
            #expect(said.contains(label) || Self.ownOfARun.contains(label), "\(label)")
        }
        for label in labels(plan.service) where !Self.ofProfiles.contains(label) {
            #expect(
                said.contains("service.\(label)") || Self.ownOfARun.contains(label), "\(label)")
        }
        #expect(labels(plan.service.connection).count == 11)
        #expect(labels(plan.deadlines).count == 5 && labels(plan.retry).count == 4)
    }

    @Test(arguments: ProfileKey.all.map(\.path)) func eachFieldOfAProfileIsRemembered(
        _ path: String
    ) throws {
        let key = try #require(ProfileKey.named(path.replacing("NAME", with: "x-own")))
        let values = Self.values[path] ?? Self.values(of: key)
        var count = 0
        // Each service has one of the values, by turns.
        for (turn, named) in try (Self.uploading.get() + [("socket", socketPlan())]).enumerated() {
            let texts = named.plan.profile?.profile.texts ?? [ProfileText(plainFor: "https://a/")]
            let value = values[turn % values.count]
            let line = key.line(for: path.replacing("NAME", with: "x-own"), value: value)
            let own = ProfileText(overriding: line, place: "-c")
            // Not each value goes with each service.
            guard let plan = try? Self.plan([own] + texts, by: named.plan) else { continue }
            count += 1
            try expectSame(plan, try DeliveryPlan(read(plan.record)), "\(named.name), \(line)")
        }
        // No service takes a key without its certificate (`changes` has both).
        #expect((count == 0) == (path == "connection.client-key"), "\(path): \(count)")
    }

    @Test func noTextHoldsASecret() throws {
        for (name, plan) in try Self.uploading.get() {
            var plan = plan
            plan.service.url = try ServiceURL("https://b.example/?a=1&api_key=sesame")
            plan.service.headers.append(try HeaderField(name: "X-Api-Key", value: "sesame"))
            plan.service.add(try Credential(secret: "sesame"))
            let record = plan.record
            #expect(!record.texts.contains { $0.text.contains("sesame") }, "\(name)")
            let places = record.secrets?.map(\.place) ?? []
            #expect(places.contains(.query("api_key")) && places.contains(.header("X-Api-Key")))
            #expect(try DeliveryPlan(record).service.url.parameter("api_key") == "", "\(name)")
        }
    }

    /// What is said now counts more than what the take remembers, and words go on counting.
    @Test func whatIsSaidOfAKeptTakeCounts() throws {
        var plan = try Service("openai", words: ["language": "en"]).delivery
        plan.service.url = try ServiceURL("http://127.0.0.1:9/v1")
        plan.framing = .length
        let said = ProfileText(overriding: "transfer.framing = \"chunked\"", place: "-c")
        let again = try DeliveryPlan(
            read(plan.record), overriding: [said], words: ["language": "de"], codec: .flac)
        #expect(again.framing == .chunked && again.format == .flac)
        #expect(again.service.url == plan.service.url)
        guard case .form(let form) = again.service.body else { throw CancellationError() }
        #expect(form.fields.first { $0.name == "language" }?.value == "de")
        // The token of the profile belongs to its own origin.
        #expect(again.service.authentication.origin == (try Origin("https://api.openai.com")))
    }

    // MARK: - Version 1

    private func takeOfVersion1(_ name: String) throws -> TakeManifest {
        let path = SourceTree.path("Tests/UtterTests/Fixtures/take-1-\(name).json")
        return try JSONDecoder().decode(TakeManifest.self, from: Data(readFile(path)))
    }

    @Test func aTakeOfVersion1WithAProfileIsSentAsItWas() throws {
        let record = try #require(takeOfVersion1("profile").delivery)
        let plan = try DeliveryPlan(record)
        #expect(plan.service.url.text == "http://127.0.0.1:9/v1/audio")
        #expect(plan.service.headers.map(\.value) == ["{test}"])
        #expect(plan.framing == .length && plan.retry.pausesAfterRelease.isEmpty)
        #expect(plan.retry.unknownOutcome == .keep)
        #expect(plan.service.connection.addresses == .four && plan.allowsSecretsInClear)
        #expect(plan.format == .oggOpus && record.profileName == "openai")
        #expect(record.secrets?.map(\.source) == [.file("tok")])
        guard case .form(let form) = plan.service.body else { throw CancellationError() }
        #expect(form.fields.map(\.value) == ["gpt-4o-mini-transcribe", "en", "json"])
        try expectSame(plan, try DeliveryPlan(read(plan.record)), "as it is written now")
    }

    @Test func aTakeOfVersion1WithoutAProfileIsSentAsItWas() throws {
        let manifest = try takeOfVersion1("plain")
        let record = try #require(manifest.delivery)
        let plan = try DeliveryPlan(record)
        #expect(plan.service.url.text == "http://127.0.0.1:9/v1?language=en&key=")
        #expect(plan.service.headers.map(\.name) == ["X-Model"])
        #expect(plan.format == .flac && record.profileName == nil)
        // Until it is sent otherwise, it is written as it was read.
        let again = try JSONDecoder().decode(TakeManifest.self, from: Data(manifest.encoded()))
        #expect(again == manifest && again.delivery?.former != nil)
    }
}
