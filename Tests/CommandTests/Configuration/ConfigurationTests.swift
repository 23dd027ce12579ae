// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// What the file of settings changes, and what goes before it.
@Suite struct ConfigurationTests {
    private func lines(_ result: CommandResult, _ name: String) -> [Substring] {
        result.outputText.split(separator: "\n").filter { $0.hasPrefix(name) }
    }

    @Test func anOptionGoesBeforeAVariableAndThatBeforeTheFile() async throws {
        let bench = try Bench(server: .hearing("heard"), ["UTTER_KEEP_AUDIO": ""])
        func keepsAudio(_ words: [String], _ variables: [String: String]) async throws -> Bool {
            let result = try await bench.start(
                ["send"] + words + [Clip.goForward.path], variables: variables
            ).result()
            #expect(result.status == .exited(0), "\(result.errorText)")
            return try bench.takes().last?.names.contains("audio.wav") == true
        }
        // Usually it stays for a day.
        #expect(try await keepsAudio([], [:]))
        try bench.configure("[keep]\naudio = '0'\n")
        #expect(try await !keepsAudio([], [:]))
        #expect(try await keepsAudio([], ["UTTER_KEEP_AUDIO": "1d"]))
        #expect(try await !keepsAudio(["--keep-audio", "0"], ["UTTER_KEEP_AUDIO": "1d"]))
        try bench.configure("[keep]\naudio = '1d'\n")
        #expect(try await !keepsAudio([], ["UTTER_KEEP_AUDIO": "0"]))
        #expect(try await keepsAudio(["--keep-audio", "1d"], ["UTTER_KEEP_AUDIO": "0"]))
    }

    @Test func theMicrophoneTheFormatAndTheDetailAreTheFilesUnlessTheyAreGiven() async throws {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("spoken"))
        let bench = try Bench(server: server, microphone: card)
        try bench.configure(
            """
            \u{FEFF}device = "attic"\r
            format = "ogg-opus"\r
            output.detail = "quiet"\r

            """)
        let lost = try await bench.run("--for", "300ms")
        #expect(lost.status == .exited(66))
        #expect(lost.errorText.contains("'attic'"))
        let quiet = try await bench.run("--for", "300ms", "--device", "default")
        #expect(quiet.status == .exited(0) && quiet.error.isEmpty)
        let verbose = try await bench.run(
            "--for", "300ms", "--device", "default", "--format", "pcm", "-v")
        #expect(verbose.status == .exited(0) && !verbose.error.isEmpty)
        // Without a microphone a request may have begun, and is empty.
        let beginnings = server.requests.filter { !$0.body.isEmpty }.map {
            String(decoding: $0.body.prefix(4), as: UTF8.self)
        }
        #expect(beginnings.map { $0 == "OggS" } == [true, false])
    }

    @Test(arguments: [("1", true), ("yes", true), ("On", true), ("0", false), ("no", false)])
    func aFlagIsWhatPeopleWrite(_ typed: String, _ meant: Bool) async throws {
        let bench = try Bench()
        let variable = try await bench.start(
            ["config", "show", "output.cue"], variables: ["UTTER_CUE": typed]
        ).result()
        #expect(variable.outputText == "\(meant)\n", "\(variable.errorText)")
        #expect(try await bench.run("config", "set", "output.cue", typed).status == .exited(0))
        #expect(try await bench.run("config", "get", "output.cue").outputText == "\(meant)\n")
        let wrong = try await bench.start(["list"], variables: ["UTTER_CUE": "loud"]).result()
        #expect(wrong.status == .exited(0))
    }

    @Test func theLongestRecordingIsTheFilesUnlessItIsGiven() async throws {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("spoken"))
        let bench = try Bench(server: server, microphone: card)
        try bench.configure("recording = { max = '300ms', tail = '0s' }\n")
        for words in [[], ["--for", "600ms"]] {
            #expect(try await bench.start(words).result().status == .exited(0))
        }
        #expect(server.requests.map(\.body.count) == [9_600, 19_200])
    }

    @Test func theKeyOfTakesIsTheFilesAndItsPathBeginsBesideTheFile() async throws {
        let bench = try Bench(server: .hearing("heard"), ["UTTER_KEEP_AUDIO": "1d"])
        try bench.configure("[encryption]\nkey-file = 'disk key'\n")
        let key = bench.folder.path(".config/utter/disk key")
        #expect(try await bench.run("key", "new", key).status == .exited(0))
        #expect(try await bench.run("send", Clip.goForward.path).status == .exited(0))
        let take = try #require(try bench.onlyTake())
        #expect(take.names.contains("audio.wav.encrypted"))
        #expect(try await bench.run("last").outputText == "heard\n")
        try bench.configure("")
        #expect(try await bench.run("last").status == .exited(78))
    }

    @Test func theLimitsAreTheFiles() async throws {
        let bench = try Bench()
        try bench.configure("[limits]\ntakes = 1\n")
        var counts: [Int] = []
        for words in [[], [], ["-c", "limits.takes=9"]] {
            _ = try await bench.start(
                ["send", "-q", "-c", "retry.never=true"] + words + [bench.fresh(.goForward)]
            ).result()
            counts.append(try bench.takes().count)
        }
        #expect(counts == [1, 1, 2])
    }

    @Test func whatCountsIsShownWithWhereItStands() async throws {
        let bench = try Bench(["UTTER_MAX_TAKES": "7"])
        try bench.configure("device = \"a \\\"b\\\"\"\n\n[limits]\ntakes = 3\nbytes = 1024\n")
        let plain = try await bench.run("config", "show")
        #expect(plain.status == .exited(0))
        #expect(lines(plain, "device") == [#"device = "a \"b\"""#])
        #expect(lines(plain, "limits.takes") == ["limits.takes = 7"])
        let explained = try await bench.run("config", "show", "--explain")
        func origin(_ name: String) -> Substring? {
            lines(explained, name + " ").first?.split(separator: "  # ").last
        }
        #expect(origin("device") == "\(bench.configurationPath):1")
        #expect(origin("limits.takes") == "UTTER_MAX_TAKES")
        #expect(origin("limits.bytes") == "\(bench.configurationPath):5")
        #expect(origin("limits.free") == "default")
        // What is shown is what a file may say.
        try bench.configure(explained.outputText)
        #expect(try await bench.run("config", "check").status == .exited(0))
        #expect(try await bench.run("config", "show").outputText == plain.outputText)
    }

    @Test func checkSaysWhetherTheFileCanBeUsed() async throws {
        let bench = try Bench()
        let none = try await bench.run("config", "check")
        #expect(none.status == .exited(0))
        #expect(
            none.errorText
                == "utter: there is no \(bench.configurationPath): variables and defaults count\n")
        try bench.configure("device = 'hw:0'\n")
        let right = try await bench.run("config", "check")
        #expect(right.status == .exited(0) && right.output.isEmpty)
        #expect(right.errorText == "utter: \(bench.configurationPath) can be used\n")
        try bench.configure("device = 0\n")
        #expect(try await bench.run("config", "check").status == .exited(78))
        #expect(try await bench.run("config", "check", "--explain").status == .exited(64))
        #expect(try await bench.run("config", "path").outputText == bench.configurationPath + "\n")
    }

    @Test func aRelativeFolderOfSettingsIsIgnored() async throws {
        let bench = try Bench(["XDG_CONFIG_HOME": "relative"])
        #expect(try await bench.run("config", "path").outputText == bench.configurationPath + "\n")
        let own = try Bench(["XDG_CONFIG_HOME": "/own"])
        #expect(try await own.run("config", "path").outputText == "/own/utter/config.toml\n")
    }

    @Test(arguments: ["device = 'typed'", "device = 3"])
    func theEditorGetsTheFileAndThenItIsChecked(_ line: String) async throws {
        let bench = try Bench()
        let editor = try bench.folder.writeProgram(
            "#!/bin/sh\ncp \"$2\" \"$2.seen\"; echo \"$NEW\" >\"$2\"\n", to: "editor")
        let variables = ["VISUAL": "\(editor) -x", "EDITOR": "false", "NEW": line]
        let result = try await bench.start(["config", "edit"], variables: variables).result()
        let isRight = line.hasSuffix("'")
        #expect(result.status == .exited(isRight ? 0 : 78))
        #expect(result.errorText.contains(isRight ? "can be used" : "config.toml:1:10: "))
        #expect(try bench.folder.read(".config/utter/config.toml") == Array((line + "\n").utf8))
        // The first time there is a file that says nothing, and what it could say, for its owner.
        let seen = String(
            decoding: try bench.folder.read(".config/utter/config.toml.seen"), as: UTF8.self)
        #expect(seen.contains("# device = \"default\"\n") && seen.contains("\n[limits]\n"))
        var status = stat()
        #expect(stat(bench.configurationPath, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(stat(bench.folder.path(".config"), &status) == 0 && status.st_mode & 0o777 == 0o700)
        try bench.configure(seen)
        #expect(try await bench.run("config", "check").status == .exited(0))
    }

    @Test func anEditorThatFailsIsNotFollowedByACheck() async throws {
        let bench = try Bench(["VISUAL": "false"])
        try bench.configure("device = 3\n")
        let result = try await bench.run("config", "edit")
        #expect(result.status == .exited(78))
        #expect(
            result.errorText == """
                utter: error: the editor 'false' has failed
                utter: hint: name another one with EDITOR, or change \(bench.configurationPath) \
                otherwise

                """)
    }

    @Test func withoutATerminalAnEditorMustBeNamed() async throws {
        let bench = try Bench(["VISUAL": "", "EDITOR": ""])
        let result = try await bench.run("config", "edit")
        #expect(result.status == .exited(78))
        #expect(result.errorText.hasPrefix("utter: error: there is no terminal for vi\n"))
        #expect(try bench.folder.names(in: "").contains(".config") == false)
    }
}

/// `utter config get`, `set` and `unset`.
@Suite struct ConfigurationChangeTests {
    private let bench: Bench

    init() throws { bench = try Bench() }

    private func config(_ words: String...) async throws -> CommandResult {
        try await bench.start(["config"] + words).result()
    }

    @Test func aSettingIsWrittenReadAndTakenOutAgain() async throws {
        bench.makeConfigurationFolder()
        // The file of a person who keeps it elsewhere.
        let file = try bench.folder.write(
            Array("# mine\nlanguage = \"en\" # so far\n".utf8), to: "mine")
        try #require(symlink(file, bench.configurationPath) == 0)
        #expect(try await config("set", "language", "de").status == .exited(0))
        #expect(try await config("set", "limits.takes", "7").status == .exited(0))
        #expect(
            String(decoding: try readFile(file), as: UTF8.self)
                == "# mine\nlanguage = \"de\" # so far\n\n[limits]\ntakes = 7\n")
        #expect(try await config("get", "language").outputText == "de\n")
        #expect(try await config("get", "keep.cancelled").outputText == "7d\n")
        #expect(try await config("get", "device").outputText == "default\n")
        #expect(try await config("get", "model").status == .exited(1))
        #expect(try await config("unset", "language").status == .exited(0))
        #expect(
            String(decoding: try readFile(file), as: UTF8.self)
                == "# mine\n\n[limits]\ntakes = 7\n")
    }

    @Test func changesAtTheSameTimeAreAllWritten() async throws {
        let words = ["language", "model", "prompt", "device"]
        let runs = try words.map { try bench.start(["config", "set", $0, "x"]) }
        for run in runs { #expect(try await run.result().status == .exited(0)) }
        for word in words {
            #expect(try await config("get", word).outputText == "x\n")
        }
    }

    @Test func aServiceIsDescribedLineByLine() async throws {
        #expect(try await config("set", "services.mine.profile", "openai").status == .exited(0))
        #expect(try await config("set", "services.mine.token-file", "key").status == .exited(0))
        let path = try await config("get", "services.mine.token-file").outputText
        #expect(path.hasPrefix("/") && path.hasSuffix("/key\n"))
        let wrong = try await config("set", "services.mine.words.tone", "soft")
        #expect(wrong.status == .exited(0) && wrong.errorText.contains("warning: "))
        #expect(wrong.errorText.contains("tone"), "\(wrong.errorText)")
        // A secret does not belong into the file.
        let secret = try await config("set", "services.mine.token", "sesame-4711")
        #expect(secret.status == .exited(78))
        #expect(
            !String(decoding: try readFile(bench.configurationPath), as: UTF8.self)
                .contains("sesame"))
    }

    @Test(arguments: [
        (["set", "silence", "2s"], 64, "did you mean 'recording.silence'?"),
        (["set", "keep.audio", "long"], 64, "'long' is not an age with its unit"),
        (["set", "language"], 64, "utter config set NAME VALUE"),
        (["get", "a\nb"], 64, "is not a setting"), (["unset", "language"], 78, "is not in"),
        (["check", "language"], 64, "'check' takes no name"),
    ])
    func whatIsWrongIsSaidAndNothingIsWritten(
        _ words: [String], _ status: Int32, _ reason: String
    ) async throws {
        let result = try await bench.start(["config"] + words).result()
        #expect(result.status == .exited(status), "\(result.errorText)")
        #expect(result.errorText.contains(reason), "\(result.errorText)")
        #expect(throws: (any Error).self) { try readFile(bench.configurationPath) }
    }

    @Test func aVariableThatCountsBeforeTheFileIsNamed() async throws {
        let bench = try Bench(["UTTER_KEEP_AUDIO": "2d"])
        let result = try await bench.run("config", "set", "keep.audio", "1d")
        #expect(result.errorText.contains("UTTER_KEEP_AUDIO is set, and counts before the file"))
    }
}

extension Bench {
    /// Where the settings are that a run on this bench reads.
    var configurationPath: String { folder.path(".config/utter/config.toml") }

    func makeConfigurationFolder() {
        for path in [folder.path(".config"), folder.path(".config/utter")] { mkdir(path, 0o700) }
    }

    @discardableResult
    func configure(_ text: String) throws -> String {
        try configure(bytes: Array(text.utf8))
    }

    @discardableResult
    func configure(bytes: [UInt8]) throws -> String {
        makeConfigurationFolder()
        return try folder.write(bytes, to: ".config/utter/config.toml")
    }
}
