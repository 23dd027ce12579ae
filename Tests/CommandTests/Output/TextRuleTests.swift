// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Rules for texts as a person has them: a list, a filter, and where the texts go.
struct TextRuleTests {
    /// Services that take a prompt are told the words, unless the person gives another one.
    @Test func aServiceIsToldToExpectTheWords() async throws {
        let bench = try Bench(server: .hearing(#"{"text": "the queue"}"#))
        bench.makeConfigurationFolder()
        try bench.folder.write(
            Array("cue = \"queue\"\n\"cube control\" = \"kubectl\"\n[de]\na = \"Würfel\"\n".utf8),
            to: ".config/utter/words.toml")
        let url = try #require(bench.environment["UTTER_URL"])
        for options in [[], ["--prompt", "my own"], ["--language", "de"]] {
            let sent = try await bench.start(
                ["send", "--service", "whisper-cpp", "--to", url] + options
                    + [try bench.fresh(.goForward)]
            ).result()
            #expect(sent.status == .exited(0), "\(sent.errorText)")
        }
        let bodies = (bench.server?.requests ?? []).map(\.body)
        let prompts = [["queue, kubectl"], ["my own"], ["queue, kubectl, Würfel"]]
        for (body, prompt) in zip(bodies, prompts) {
            let field = "name=\"prompt\"\r\n\r\n\(prompt[0])\r\n"
            #expect(!body.ranges(of: Array(field.utf8)).isEmpty, "\(prompt)")
        }
    }

    /// A list that is too long for a prompt gives the service the words that the last texts use.
    @Test func theWordsOfALongListThatAreUsedReachTheService() async throws {
        let bench = try Bench(server: .hearing(#"{"text": "word-78, word-79"}"#))
        bench.makeConfigurationFolder()
        let lines = (10..<80).map { "\"word \($0)\" = \"word-\($0)\"\n" }.joined()
        try bench.folder.write(Array(lines.utf8), to: ".config/utter/words.toml")
        let url = try #require(bench.environment["UTTER_URL"])
        for _ in 0..<2 {
            let sent = try await bench.start(
                [
                    "send", "--service", "whisper-cpp", "--to", url, try bench.fresh(.goForward),
                ]
            ).result()
            #expect(sent.status == .exited(0), "\(sent.errorText)")
        }
        let bodies = (bench.server?.requests ?? []).map(\.body)
        for (body, first) in zip(bodies, ["word-10, word-11, ", "word-78, word-79, word-10, "]) {
            let field = "name=\"prompt\"\r\n\r\n\(first)"
            #expect(!body.ranges(of: Array(field.utf8)).isEmpty, "\(first)")
        }
        #expect(bodies.count == 2)
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
        bench.makeConfigurationFolder()
        try bench.folder.write(
            Array("\(setting)[text]\nfillers = true\n".utf8), to: ".config/utter/config.toml")
        let sent = try await bench.run("send", Clip.goForward.path)
        #expect(sent.status == .exited(0), "\(sent.errorText)")
        #expect(sent.outputText == text)
    }

    /// A list that cannot be read costs the rules, and no voice.
    @Test func aBrokenListIsToldAndTheTextComes() async throws {
        let bench = try Bench(server: .hearing(#"{"text": "as it was"}"#))
        bench.makeConfigurationFolder()
        try bench.folder.write(Array("as = 3\n".utf8), to: ".config/utter/words.toml")
        let sent = try await bench.start(
            ["send", "-c", "output.filter=sed s/as/As/", Clip.goForward.path]
        ).result()
        #expect(sent.status == .exited(0))
        #expect(sent.outputText == "As it was\n")
        #expect(sent.errorText.contains("warning: "))
        #expect(sent.errorText.contains("words.toml:1:6: 'as' must be a string"))
    }
}
