// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Cassettes
@testable import SpeechService

@Suite struct CassetteCommandTests {
    @Test func whatIsRecordedIsReplayed() async throws {
        let server = try RecordingServer(
            otherwise: .json(#"{"text":"go forward","note":"sesame-token"}"#))
        let bench = try Bench(server: server, ["UTTER_TOKEN": "sesame-token"])
        let tape = bench.folder.path("tape")
        let sent = try await bench.run(
            "send", "--to", server.url("/v1/asr?lang=en"), "--cassette", tape, Clip.goForward.path)
        #expect(sent.outputText == "go forward\n", "\(sent.errorText)")
        let cassette = try #require(try Cassette.load(tape).first)
        #expect(cassette.request.headers.value(of: "Authorization") == "Bearer …")
        #expect(!String(decoding: cassette.json, as: UTF8.self).contains("sesame"))
        let (replay, origin) = try await bench.replay([tape])
        let again = try await bench.run(
            "send", "--to", origin + "/v1/asr?lang=en", "--token-command", "echo other",
            Clip.goForward.path)
        #expect(again.outputText == "go forward\n", "\(again.errorText)")
        let wrong = try await bench.run("send", "--to", origin + "/v2", Clip.goForward.path)
        #expect(wrong.status == .exited(69))
        #expect(wrong.errorText.contains("the path is /v2, not /v1/asr"), "\(wrong.errorText)")
        replay.signal(SIGTERM)
        let said = try await replay.result()
        #expect(said.errorText.contains("the path is /v2, not /v1/asr"))
        #expect(said.errorText.contains("POST /v1/asr?lang=en: answered"))
    }

    @Test func whatIsWrongWithACassetteIsSaid() async throws {
        let bench = try Bench()
        let bad = try bench.folder.write(Array("{\"version\": 1}".utf8), to: "bad.json")
        let result = try await bench.run("serve", "--cassette", bad)
        #expect(result.status == .exited(78))
        #expect(result.errorText.contains("bad.json' is not a cassette: 'request' is missing"))
        let absent = try await bench.run("serve", "--cassette", "nothere")
        #expect(absent.errorText.hasSuffix("check the name, and that its folder is there\n"))
        let both = try await bench.run("serve", "--cassette", bad, "--grammar", "x")
        #expect(both.status == .exited(64))
        let speed = try await bench.run("serve", "--cassette", bad, "--speed", "0")
        #expect(speed.status == .exited(64))
        let folder = try await bench.run("send", "--cassette", bad, Clip.goForward.path)
        #expect(folder.status == .exited(78))
    }

    @Test func aCassetteThatCannotBeWrittenIsSaidAndCostsNoText() async throws {
        let gate = Gate()
        let server = try RecordingServer(otherwise: [
            .readHead, .readBodyToEnd, .stallUntil(gate), .respond(status: 200, text: "whole"),
        ])
        let bench = try Bench(server: server)
        let place = bench.folder.path("cassettes")
        let run = try bench.start(["send", "--cassette", place, Clip.goForward.path])
        _ = try #require(await server.wait(untilBytes: Clip.goForward.samples.count))
        #expect(rmdir(place) == 0)
        gate.open()
        let result = try await run.result()
        #expect(result.outputText == "whole\n")
        #expect(result.status == .exited(0))
        #expect(result.errorText.contains("utter: warning: a cassette is missing: "))
    }
}

extension Bench {
    /// Starts to play cassettes.
    ///
    /// - Returns: the running program and its origin.
    func replay(_ paths: [String]) async throws -> (BenchRun, String) {
        let options = paths.flatMap { ["--cassette", $0] }
        let run = try start(["serve", "-v", "--port", "0"] + options)
        try #require(await run.wait(for: "listening on http://127.0.0.1:", in: .error))
        try #require(await run.wait(in: .error) { $0.last == 0x0A })
        let text = String(decoding: run.error, as: UTF8.self)
        let match = try #require(text.firstMatch(of: /listening on (http:\/\/127\.0\.0\.1:\d+)/))
        return (run, String(match.1))
    }
}

/// Each shipped profile against all cassettes of its service, from the program's start to its exit
/// status.
@Suite struct ServiceCassetteTests {
    /// What a service is asked with beside its name.
    struct Setting {
        /// What is said for the words that it needs.
        var words: [String] = []
        /// Lines of a profile that extends the shipped one; `{server}` is where cassettes are
        /// played.
        var profile: [String] = []
        /// The client's secret, where "sesame" is none.
        var variables: [String: String] = [:]
    }

    /// The services that need more than a secret.
    private static let settings = [
        "aliyun": Setting(words: ["appkey=w"]),
        "azure": Setting(words: ["region=westeurope"]),
        "azure-fast": Setting(words: ["region=westeurope"]),
        "baidu": Setting(
            profile: [
                "auth.exchange.url = '{server}/oauth/2.0/token?grant_type=client_credentials"
                    + "&client_id={user}&client_secret={key}'"
            ], variables: ["BAIDU_KEY_AND_SECRET": "key:sesame"]),
        "cloudflare": Setting(words: ["account=w"]),
        "home-assistant": Setting(words: ["instance={server}", "provider=w"]),
        "lex-v1": Setting(words: ["bot=b", "alias=a"]),
        "lex-v2": Setting(words: ["bot=b", "alias=a"]),
        "s3": Setting(words: ["bucket=voices", "key=k"]),
        "sber": Setting(profile: ["auth.exchange.url = '{server}/api/v2/oauth'"]),
        "vllm": Setting(words: ["model=small"]),
        "volcengine": Setting(words: ["app=w"]),
        "watson": Setting(words: ["instance={server}"]),
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

    @Test(arguments: ShippedProfiles.names)
    func aServiceIsAskedAsItIsDocumentedAndUnderstood(_ service: String) async throws {
        let setting = Self.settings[service] ?? Setting()
        let profile = try Profiles.shipped.profile(service)
        let bench = try Bench(
            profile.secrets(beside: setting.variables).merging(["UTTER_URL": ""]) { $1 })
        let cases = try cases(of: service)
        // One server plays all of them: what one of them leaves over confuses the next.
        let (replay, origin) = try await bench.replay(cases.flatMap(\.files))
        try bench.writeProfile(profile.extended(at: origin, by: setting.profile), to: "here")
        for (name, _) in cases {
            let words = setting.words.flatMap { ["--set", $0.replacing("{server}", with: origin)] }
            let result = try await bench.start(
                ["send", "-c", "retry.never=true", "--service", "here"] + words + [
                    Clip.goForward.path
                ],
                // Nothing of one case is remembered in the next, such as a token.
                variables: ["XDG_STATE_HOME": bench.folder.path(name)]
            ).result()
            let text = result.outputText.split(whereSeparator: \.isWhitespace)
                .joined(separator: " ")
            let said: Comment = "\(service) \(name): \(result.errorText)"
            #expect(!result.errorText.contains("is not the cassette's"), said)
            switch name.prefix(while: { $0 != "-" }) {
            case "success", "partials":
                #expect(text == "go forward ten meters", said)
                #expect(result.status == .exited(0), said)
            case "stored":
                #expect(text.isEmpty, said)
                #expect(result.status == .exited(0), said)
            case "silence":
                #expect(text.isEmpty, said)
                #expect(result.status == .exited(1), said)
            case "refusal":
                #expect(text.isEmpty, said)
                #expect([69, 75, 77].map { .exited($0) }.contains(result.status), said)
            case "in":
                #expect([75, 76, 77].map { .exited($0) }.contains(result.status), said)
            default: Issue.record("\(service) \(name) is not a case")
            }
        }
        // Each request was made once: nothing was sent again. A line follows what it tells of.
        let count = cases.map(\.files.count).reduce(0, +)
        let answered = Array(": answered".utf8)
        _ = await replay.wait(in: .error) { $0.ranges(of: answered).count >= count }
        replay.signal(SIGTERM)
        let served = try await replay.result().errorText
        #expect(served.ranges(of: ": answered").count == count, "\(served)")
    }

    // MARK: - Which kinds there are

    /// Services that answer once, when the recording has come: there is nothing partial.
    private static let answersOnce: Set = [
        "aliyun", "assemblyai", "assemblyai-batch", "assemblyai-dictation", "azure", "azure-fast",
        "baidu", "cloudflare", "deepgram", "elevenlabs", "gladia", "google", "groq",
        "home-assistant", "hugging-face", "kaldi-gstreamer", "lex-v1", "lex-v2", "nvidia-nim",
        "ovos", "revai", "rhasspy", "sber", "soniox", "speechmatics", "tus", "volcengine", "vosk",
        "watson", "whisper-asr-webservice", "whisper-cpp", "wyoming", "yandex",
    ]

    /// Services whose documentation knows failures with a refusing status alone.
    private static let failsByStatus: Set = [
        "assemblyai-dictation", "azure-fast", "deepgram", "google", "hugging-face", "lex-v1",
        "lex-v2", "ovos", "rhasspy", "tus", "vosk", "whisper-asr-webservice", "wyoming",
    ]

    @Test(arguments: ShippedProfiles.names)
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
