// SPDX-License-Identifier: Apache-2.0

import Cassettes
import FoundationEssentials
import RecognitionEndpoint
import TestSupport
import Testing

@testable import SpeechService
@testable import Utter

/// Each shipped profile against all cassettes of its service.
@Suite struct ServiceCassetteTests {
    /// What a service is asked with beside its name.
    struct Setting {
        /// What is said for the words that it needs.
        var words: [String: String] = [:]
        /// Lines of a profile that extends the shipped one; `{server}` is where cassettes are
        /// played.
        var profile: [String] = []
        /// The client's secret, where "sesame" is none.
        var variables: [String: String] = [:]
    }

    /// The services that need more than a secret.
    private static let settings = [
        "aliyun": Setting(words: ["appkey": "w"]),
        "azure": Setting(words: ["region": "westeurope"]),
        "azure-fast": Setting(words: ["region": "westeurope"]),
        "baidu": Setting(
            profile: [
                "auth.exchange.url = '{server}/oauth/2.0/token?grant_type=client_credentials"
                    + "&client_id={user}&client_secret={key}'"
            ], variables: ["BAIDU_KEY_AND_SECRET": "key:sesame"]),
        "cloudflare": Setting(words: ["account": "w"]),
        "home-assistant": Setting(words: ["instance": "{server}", "provider": "w"]),
        "lex-v1": Setting(words: ["bot": "b", "alias": "a"]),
        "lex-v2": Setting(words: ["bot": "b", "alias": "a"]),
        "s3": Setting(words: ["bucket": "voices", "key": "k"]),
        "sber": Setting(profile: ["auth.exchange.url = '{server}/api/v2/oauth'"]),
        "vllm": Setting(words: ["model": "small"]),
        "volcengine": Setting(words: ["app": "w"]),
        "watson": Setting(words: ["instance": "{server}"]),
    ]

    /// The cassettes of a service: each case, and the files with its requests in their order.
    private func cases(of service: String) throws -> [(name: String, files: [String])] {
        let folder = SourceTree.path("Tests/Cassettes/\(service)")
        var cases: [(name: String, files: [String])] = []
        for file in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() {
            let name = file.dropLast(".json".count).prefix { !$0.isNumber }
            let label = String(name.hasSuffix("-") ? name.dropLast() : name)
            if cases.last?.name != label { cases.append((label, [])) }
            cases[cases.count - 1].files.append("\(folder)/\(file)")
        }
        return cases
    }

    @Test(arguments: ShippedProfiles.uploading)
    func aServiceIsAskedAsItIsDocumentedAndUnderstood(_ service: String) async throws {
        let setting = Self.settings[service] ?? Setting()
        let shipped = try Profiles.shipped.profile(service)
        let cases = try cases(of: service)
        // One server plays all of them: what one of them leaves over confuses the next.
        let answered = Observed(0)
        let server = CassetteServer.make(
            try cases.flatMap(\.files).flatMap { try Cassette.load($0) }
        ) { served in
            if served.differences.isEmpty { answered.update { $0 += 1 } }
        }
        let (ports, ready) = AsyncStream.makeStream(of: Int.self)
        let running = Task {
            defer { ready.finish() }
            try await server.run { ready.yield($0) }
        }
        defer { server.shutdown() }
        let port = try #require(await ports.first { _ in true })
        let origin = "http://127.0.0.1:\(port)"
        let text = shipped.extended(at: origin, by: setting.profile)
        let plan = try Bench.plan(
            by: [ProfileText(name: "here", text: text)] + shipped.texts,
            words: setting.words.mapValues { $0.replacing("{server}", with: origin) })
        for (name, _) in cases {
            // Nothing of one case is remembered in the next, such as a token.
            let bench = try Bench(secrets: Bench.sesame(beside: setting.variables))
            let outcome = try await bench.send(.goForward, by: plan)
            let said: Comment = "\(service) \(name): \(outcome.text)"
            #expect(!outcome.text.contains("is not the cassette's"), said)
            var isUnreadable = false
            if case .failure(.answerUnusable) = outcome.result { isUnreadable = true }
            let words = try? outcome.result.get().text  // A failure has none.
            switch name.prefix(while: { $0 != "-" }) {
            case "success", "partials":
                let text = words?.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                #expect(text == "go forward ten meters", said)
            case "stored", "silence": #expect(words == "", said)
            case "refusal": #expect(words == nil && !isUnreadable, said)
            case "in": #expect(words == nil, said)
            default: Issue.record("\(service) \(name) is not a case")
            }
        }
        // Each request was made once: nothing was sent again. It is counted behind its answer.
        let count = cases.map(\.files.count).reduce(0, +)
        _ = await answered.wait(within: .patience) { $0 >= count ? true : nil }
        server.shutdown()
        try await running.value
        #expect(answered.value == count, "\(service)")
    }

    // MARK: - Which kinds there are

    @Test func noServiceHasCassettesThatDoesNotShip() throws {
        let folder = SourceTree.path("Tests/Cassettes")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(names == ShippedProfiles.uploading.sorted())
    }

    /// Services that answer once, when the recording has come: there is nothing partial.
    private static let answersOnce: Set = [
        "aliyun", "assemblyai", "assemblyai-batch", "assemblyai-dictation", "azure", "azure-fast",
        "baidu", "cloudflare", "deepgram", "elevenlabs", "gladia", "google", "groq",
        "home-assistant", "hugging-face", "kaldi-gstreamer", "lex-v1", "lex-v2", "nvidia-nim",
        "ovos", "revai", "rhasspy", "sber", "soniox", "speechmatics", "tus", "volcengine", "vosk",
        "watson", "whisper-asr-webservice", "whisper-cpp", "wyoming-http",
        "yandex",
    ]

    /// Services whose documentation knows failures with a refusing status alone.
    private static let failsByStatus: Set = [
        "assemblyai-dictation", "azure-fast", "deepgram", "google", "hugging-face", "lex-v1",
        "lex-v2", "ovos", "rhasspy", "tus", "vosk", "whisper-asr-webservice",
        "wyoming-http",
    ]

    @Test(arguments: ShippedProfiles.uploading)
    func eachServiceHasTheKindsOfAnswersThatItGives(_ service: String) throws {
        let kinds = Set(
            try cases(of: service).map { item in
                item.name.hasPrefix("in-band")
                    ? "in-band" : String(item.name.prefix { $0 != "-" })
            })
        guard !["s3", "webdav"].contains(service) else {
            return #expect(kinds == ["stored", "refusal"])
        }
        var wanted: Set = ["success", "refusal"]
        if !Self.answersOnce.contains(service) { wanted.insert("partials") }
        if !Self.failsByStatus.contains(service) { wanted.insert("in-band") }
        #expect(kinds.subtracting(["silence"]) == wanted)
    }
}
