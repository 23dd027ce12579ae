// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Settings
@testable import UtterCommands
@testable import UtterSettings

/// What is said of a file of settings that cannot be used, and that nothing was recorded.
@Suite struct ConfigurationErrorTests {
    /// Spoils the file of settings, and sends a recording, which must not happen.
    ///
    /// - Returns: what is said, with `FILE` for the path of the file of settings.
    private func refusal(_ spoil: (String) -> Int32) async throws -> String {
        let bench = try Bench(server: .hearing("heard"))
        let path = try bench.configure("device = 'x'\n")
        try #require(spoil(path) == 0)
        let result = try await bench.here("send", Clip.goForward.path)
        #expect(result.status == .exited(78))
        #expect(result.output.isEmpty && bench.requests.isEmpty)
        #expect(try bench.takes().isEmpty)
        return result.errorText.split(separator: path).joined(separator: "FILE")
    }

    /// What is wrong about how a recording is made and shown, and which lines count all the same.
    @Test(arguments: [
        ("device = 3", ["'device' must be a string, not a whole number"]),
        ("silence = '2s'", ["'silence' is not known; did you mean 'recording.silence'?"]),
        ("format = 'mp3'", ["'format' is 'mp3', but must be pcm, wav, ogg-opus or flac"]),
        (
            "lang = 'de'\n[recording]\nmax = '0'\ntial = '1s'",
            [
                "'recording.max' is '0', but must be a time above zero, such as 30m or 90s",
                "'lang' is not known; did you mean 'language'?",
                "'recording.tial' is not known; did you mean 'recording.tail'?",
            ]
        ),
        (
            "[output]\ndetail = 'loud'\ncue = 1",
            [
                "'output.detail' is 'loud', but must be one of quiet, normal, verbose",
                "'output.cue' must be true or false, not a whole number",
            ]
        ),
        // A name that is like no other.
        ("[recording]\nfoo = 1", ["'recording.foo' is not known"]),
        ("[terminal]\nzzz = 'x'", ["'terminal.zzz' is not known"]),
        ("[output]\nfoo = true", ["'output.foo' is not known"]),
    ])
    func aRecordingCanDoWithoutALineAboutHowItIsMade(_ text: String, _ reasons: [String]) throws {
        let table = try SettingsDocument.parse("service = 'openai'\n" + text)
        let configuration = try Configuration(table, KnownSettings.catalogue)
        #expect(configuration["service"]?.text == "openai")
        #expect(configuration.problems.map(\.reason) == reasons)
    }

    /// Where a guess would send a voice elsewhere, or delete what is to stay.
    @Test(arguments: [
        "serivce = 'mine'", "service = 3", "url = 'https://speech.example'", "token = 'secret'",
        "colour = 'red'", "copy = true", "[output]\nto = 'nowhere'", "[output]\nrnu = 'x'",
        "[keep]\naudio = '3 days'", "[keep]\naudi = '1d'", "[limits]\ntakes = 0",
        "[encryption]\nkey-flie = 'a'", "[services.mine]\nurll = 'x'", "[openai]\nmodel = 'x'",
        "tail = '1s'\nto = 'https://speech.example'", "[keep]\nfoo = 1", "[limits]\nzzz = 1",
        "[archive]\nfoo = 1", "zzz = 1",
    ])
    func noRecordingIsMadeWithoutALineThatSaysWhereItGoesOrStays(_ text: String) throws {
        let table = try SettingsDocument.parse(text)
        #expect(throws: SettingsError.self) { try Configuration(table, KnownSettings.catalogue) }
    }

    @Test func aRecordingWarnsOfALineAndGoesOnWithTheRest() async throws {
        let bench = try Bench(server: .hearing("heard"), microphone: VirtualMicrophone())
        try bench.configure("silence = '2s'\n[recording]\ntail = '0s'\n")
        let result = try await bench.run("--for", "300ms")
        #expect(result.status == .exited(0) && result.outputText == "heard\n")
        #expect(
            result.errorText.hasPrefix(
                "utter: warning: left out: \(bench.configurationPath):1:1: 'silence' is not known; "
                    + "did you mean 'recording.silence'?\n"), "\(result.errorText)")
        #expect(bench.requests.map(\.body.count) == [9_600])
        // What can be repeated is refused, and so is the file itself.
        for words in [["send", Clip.goForward.path], ["config", "check"]] {
            #expect(try await bench.here(words).status == .exited(78))
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
    func whatBelongsToAnotherUserIsRefused() async throws {
        let said = try await refusal { chown($0, 65_534, 65_534) }
        #expect(said == "utter: error: FILE: it belongs to another user\n")
    }

    @Test(.enabled(if: geteuid() != 0, "root reads everything"))
    func whatCannotBeReadIsRefused() async throws {
        let said = try await refusal { chmod($0, 0) }
        #expect(said == "utter: error: FILE: it cannot be read: Permission denied\n")
    }

    @Test func aFileThatBreaksMeanwhileCostsNoRecording() async throws {
        let bench = try Bench(server: .hearing("heard"))
        try bench.configure("keep.audio = '0'\n")
        let run = try bench.start(["send", "-"], input: .pipe, variables: ["UTTER_KEEP_AUDIO": ""])
        run.write(Array(try Clip.goForward.samples.prefix(32_000)))
        #expect(await bench.wait(untilSamples: 32_000))
        try bench.configure("colour = ")
        run.closeInput()
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(result.outputText == "heard\n")
        #expect(bench.requests.map(\.body.count) == [32_000])
        // What the file said at the beginning still counts.
        #expect(try bench.onlyTake()?.names == ["take.json"])
    }
}
