// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

/// OpenAI's own client against the endpoint, and a recogniser behind Wyoming's own server; `make peers` has
/// both.
@Suite(.enabled(if: Peer.folder != nil), .timeLimit(.minutes(5)))
struct RealtimePeerTests {
    private struct Utterance: Decodable {
        var text, deltas: String
    }

    @Test func theClientOfOpenAIGetsItsTexts() async throws {
        let home = try TemporaryFolder()
        var environment = CommandRun.cleanEnvironment
        environment["HOME"] = home.path
        let serve = try CommandRun.product(
            "utter-endpoint",
            ["serve", "--port", "0", "--grammar", SourceTree.path("samples/grammar/demo.gram")],
            environment: environment)
        let isReady = await comesTrue {
            String(decoding: serve.error, as: UTF8.self).contains("try it with")
        }
        try #require(isReady)
        let said = String(decoding: serve.error, as: UTF8.self)
        let match = try #require(said.firstMatch(of: /listening on (http:\/\/127\.0\.0\.1:\d+)/))
        let folder = try #require(Peer.folder)
        let client = try await CommandRun.run(
            "\(folder)/bin/python3",
            [
                SourceTree.path("scripts/peer-openai.py"), "\(match.1)/v1",
                SourceTree.path("samples/go-forward.wav"), "3",
            ], environment: environment)
        #expect(client.status == .exited(0), "\(client.errorText)")
        let utterances = try client.outputText.split(separator: "\n").map {
            try JSONDecoder().decode(Utterance.self, from: Data($0.utf8))
        }
        #expect(utterances.map(\.text) == Array(repeating: "go forward ten meters", count: 3))
        #expect(utterances.allSatisfy { $0.deltas == $0.text })
        serve.signal(15)
        _ = try await serve.result()
    }

    struct WyomingCase: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var model: String?
        var fails = false
    }

    @Test(arguments: [
        WyomingCase(testDescription: "a text at the end"),
        WyomingCase(testDescription: "pieces, and the text", model: "streaming"),
        WyomingCase(testDescription: "pieces alone", model: "streaming-alone"),
        WyomingCase(testDescription: "a model that is not there", model: "none", fails: true),
    ]) func aRecogniserBehindWyomingIsHeard(_ setting: WyomingCase) async throws {
        let folder = try #require(Peer.folder)
        let ear = try #require(BuiltProducts.path(of: "utter-ear"))
        let server = try CommandRun(
            "\(folder)/bin/python3",
            [
                SourceTree.path("scripts/peer-wyoming.py"), ear, "-jsgf",
                SourceTree.path("samples/grammar/demo.gram"),
            ], input: .pipe)
        try #require(await comesTrue { server.output.contains(UInt8(ascii: "\n")) })
        let port = String(decoding: server.output, as: UTF8.self).prefix { $0.isNumber }
        let home = try TemporaryFolder()
        var environment = CommandRun.cleanEnvironment
        environment["HOME"] = home.path
        let sent = try await CommandRun.product(
            "utter",
            ["send", "--json", "--service", "wyoming", "--to", "tcp://127.0.0.1:\(port)"]
                + (setting.model.map { ["--set", "model=\($0)"] } ?? [])
                + [SourceTree.path("samples/go-forward.wav")], environment: environment
        ).result()
        if setting.fails {
            #expect(sent.status == .exited(76), "\(sent.errorText)")
            #expect(sent.errorText.contains("there is no such model (unknown-model)"))
        } else {
            #expect(sent.status == .exited(0), "\(sent.errorText)")
            #expect(sent.outputText.contains(#""text":"go forward ten meters""#))
        }
    }
}
