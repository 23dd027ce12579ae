// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import TestSupport
import Testing

@testable import Utter
@testable import UtterCommands

/// Rules for texts as a person has them: a list, a filter, and where the texts go.
struct TextRuleTests {
    /// A bench whose service answers with this text, and the person's list of words.
    private func bench(hearing text: String, words: String) throws -> Bench {
        let bench = try Bench(server: .hearing(#"{"text": "\#(text)"}"#))
        bench.makeConfigurationFolder()
        try bench.folder.write(Array(words.utf8), to: ".config/utter/words.toml")
        return bench
    }

    /// The prompt by which a service would be asked that takes one.
    private func prompt(on bench: Bench, _ words: String...) throws -> String? {
        let plan = try bench.within {
            try ServiceOptions.parse(["--service", "whisper-cpp"] + words).delivery(format: nil)
        }
        guard case .form(let form) = plan.service.body else { return nil }
        return form.fields.first { $0.name == "prompt" }?.value
    }

    /// Services that take a prompt are told the words, unless the person gives another one.
    @Test func aServiceIsToldToExpectTheWords() throws {
        let bench = try bench(
            hearing: "the queue",
            words: "cue = \"queue\"\n\"cube control\" = \"kubectl\"\n[de]\na = \"Würfel\"\n")
        #expect(try prompt(on: bench) == "queue, kubectl")
        #expect(try prompt(on: bench, "--prompt", "my own") == "my own")
        #expect(try prompt(on: bench, "--language", "de") == "queue, kubectl, Würfel")
    }

    /// A list that is too long for a prompt gives the service the words that the last texts use.
    @Test func theWordsOfALongListThatAreUsedReachTheService() async throws {
        let lines = (10..<80).map { "\"word \($0)\" = \"word-\($0)\"\n" }.joined()
        let bench = try bench(hearing: "word-78, word-79", words: lines)
        let server = try #require(bench.server)
        let sent = try await bench.run(
            "send", "--service", "whisper-cpp", "--to", server.url(), Clip.goForward.path)
        #expect(sent.status == .exited(0), "\(sent.errorText)")
        let field = Array("name=\"prompt\"\r\n\r\nword-10, word-11, ".utf8)
        #expect(server.requests.first?.body.ranges(of: field).count == 1)
        let next = try #require(try prompt(on: bench))
        #expect(next.hasPrefix("word-78, word-79, word-10, "), "\(next)")
    }

    /// A filter has no secret, and its text goes wherever one goes.
    @Test func aFilterHasNoSecretAndItsTextGoesEverywhere() async throws {
        let server = try RecordingServer.hearing(#"{"text": "teh text"}"#)
        let bench = try Bench(server: server)
        let (seen, file) = (bench.folder.path("seen"), bench.folder.path("text"))
        let result = try await bench.start(
            [
                "send", "--json", "-o", file, "--run", "cat > \(file).run", "-c",
                "output.filter=env > \(seen); sed s/teh/the/", Clip.goForward.path,
            ], variables: ["UTTER_TOKEN": "a-secret-token"]
        ).result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.output.isEmpty)
        let object = try ParsedJSON(readFile(file))
        #expect(object["text"] == .string("the text"))
        #expect(object["raw"] == .string("teh text"))
        #expect(String(decoding: try readFile(file + ".run"), as: UTF8.self) == "the text\n")
        let variables = String(decoding: try readFile(seen), as: UTF8.self)
        #expect(variables.contains("PATH=") && !variables.contains("a-secret-token"))
        #expect(try await bench.run("last").outputText == "the text\n")
    }

    /// A service at a URL takes no language: that of the settings counts for the rules.
    @Test(arguments: [
        ("language = \"en\"\n", "hello there\n"), ("", "um hello uh there\n"),
    ])
    func soundsAreLeftOutWhereTheLanguageIsKnown(_ setting: String, _ text: String) async throws {
        let bench = try Bench(server: .hearing(#"{"text": "um hello uh there"}"#))
        try bench.configure("\(setting)[text]\nfillers = true\n")
        let sent = try await bench.run("send", Clip.goForward.path)
        #expect(sent.status == .exited(0), "\(sent.errorText)")
        #expect(sent.outputText == text)
    }

    /// A list that cannot be read costs the rules, and no voice.
    @Test func aBrokenListIsToldAndTheTextComes() async throws {
        let sent = try await bench(hearing: "as it was", words: "as = 3\n").run(
            "send", "-c", "output.filter=sed s/as/As/", Clip.goForward.path)
        #expect(sent.status == .exited(0))
        #expect(sent.outputText == "As it was\n")
        #expect(sent.errorText.contains("warning: "))
        #expect(sent.errorText.contains("words.toml:1:6: 'as' must be a string"))
    }
}
