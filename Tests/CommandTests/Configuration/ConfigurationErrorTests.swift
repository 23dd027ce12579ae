// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Settings
@testable import UtterCommands
@testable import UtterSettings

/// What is said of a file of settings that cannot be used, and that nothing was recorded.
@Suite struct ConfigurationErrorTests {
    private let bench: Bench

    init() throws { bench = try Bench(server: .hearing("heard")) }

    /// Sends a file, which the settings must not let happen.
    ///
    /// - Returns: what is said, with `FILE` for the path of the file of settings.
    private func refusal() async throws -> String {
        let result = try await bench.run("send", Clip.goForward.path)
        #expect(result.status == .exited(78))
        #expect(result.output.isEmpty && bench.requests.isEmpty)
        #expect(try bench.takes().isEmpty)
        return result.errorText.split(separator: bench.configurationPath).joined(separator: "FILE")
            .split(separator: bench.folder.path).joined(separator: "HOME")
    }

    private static let move = "utter: hint: move it away\n"
    private static let cure = "utter: hint: correct it with: utter config edit\n"

    /// What a file says, and what is wrong about it.
    private static let mistakes: [(String, String)] = [
        ("device = 3", "1:10: 'device' must be a string, not a whole number"),
        ("\ndevise = 'hw:0'", "2:1: 'devise' is not known; did you mean 'device'?"),
        ("colour = 'red'", "1:1: 'colour' is not known"),
        ("[limits]\ntakes = '9'", "2:9: 'limits.takes' must be a whole number, not a string"),
        ("limits.takes = 0", "1:16: 'limits.takes' is '0', but must be a number above zero"),
        (
            "[keep]\n  audio = '3 days'",
            "2:11: 'keep.audio' is '3 days', but must be an age with its unit, such as 30d or "
                + "12h, forever, or 0"
        ),
        ("[keep]\naudi = '1d'", "2:1: 'keep.audi' is not known; did you mean 'keep.audio'?"),
        ("max = '5m'", "1:1: 'max' is not known; did you mean 'recording.max'?"),
        (
            "[recording]\nTail_ = 1",
            "2:1: 'recording.Tail_' is not known; did you mean 'recording.tail'?"
        ),
        ("lang = 'de'", "1:1: 'lang' is not known; did you mean 'language'?"),
        ("log_level = 'x'", "1:1: 'log_level' is not known; did you mean 'output.detail'?"),
        ("url = 'x'", "1:1: 'url' is not known; did you mean 'services.NAME.url'?"),
        ("[output]\ndevice = 'x'", "2:1: 'output.device' is not known; did you mean 'device'?"),
        ("[openai]\nmodel = 'x'", "1:2: 'openai' is not known; did you mean 'services.openai'?"),
        (
            "token = 's3cret'",
            "1:9: 'token' would hold the secret itself; say where it is with "
                + "services.NAME.token-file, token-command or token-variable"
        ),
        ("keep = '1d'", "1:8: 'keep' must be a table, not a string"),
        ("format = 'mp3'", "1:10: 'format' is 'mp3', but must be pcm, wav, ogg-opus or flac"),
        ("device = ''", "1:10: 'device' is '', but must be a text"),
        (
            "[output]\ndetail = 'loud'",
            "2:10: 'output.detail' is 'loud', but must be one of quiet, normal, verbose"
        ),
        (
            "[services.mine]\ntoken = 'sk-1'",
            "2:9: 'services.mine.token' would hold the secret itself; say where it is with "
                + "token-file, token-command or token-variable"
        ),
        (
            "[services.mine]\ntoken-file = 'a'\ntoken-command = 'b'",
            "3:17: 'services.mine.token-command' and 'token-file' exclude each other"
        ),
        (
            "[services.mine]\ntoken-fiel = 'a'",
            "2:1: 'services.mine.token-fiel' is not known; did you mean 'services.mine.token-file'?"
        ),
        (
            "[services.mine]\nformat = 'mp3'",
            "2:10: 'services.mine.format' is 'mp3', but must be pcm, wav, ogg-opus or flac"
        ),
        ("[services.mine]\nurl = ''", "2:7: 'services.mine.url' is empty"),
        (
            "[services.mine]\nwords = 'eu'",
            "2:9: 'services.mine.words' must be a table, not a string"
        ),
        (
            "[service.openai]\nmodel = 'x'",
            "1:1: 'service' is the name of one; tables are 'services.NAME'"
        ),
    ]

    @Test(arguments: mistakes)
    func whatIsWrongIsSaidWithItsPlace(_ text: String, _ reason: String) async throws {
        try bench.configure(text)
        #expect(try await refusal() == "utter: error: FILE:\(reason)\n" + Self.cure)
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
            ["'output.detail' is 'loud'", "'output.cue' must be"]
        ),
    ])
    func aRecordingCanDoWithoutALineAboutHowItIsMade(_ text: String, _ reasons: [String]) throws {
        let table = try SettingsDocument.parse("service = 'openai'\n" + text)
        let configuration = try Configuration(table, KnownSettings.catalogue)
        #expect(configuration["service"]?.text == "openai")
        #expect(configuration.problems.count == reasons.count)
        for (problem, reason) in zip(configuration.problems, reasons) {
            #expect(problem.reason.hasPrefix(reason), "\(problem.reason)")
        }
    }

    /// Where a guess would send a voice elsewhere, or delete what is to stay.
    @Test(arguments: [
        "serivce = 'mine'", "service = 3", "url = 'https://speech.example'", "token = 'secret'",
        "colour = 'red'", "copy = true", "[output]\nto = 'nowhere'", "[output]\nrnu = 'x'",
        "[keep]\naudio = '3 days'", "[keep]\naudi = '1d'", "[limits]\ntakes = 0",
        "[encryption]\nkey-flie = 'a'", "[services.mine]\nurll = 'x'", "[openai]\nmodel = 'x'",
        "tail = '1s'\nto = 'https://speech.example'",
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
            #expect(try await bench.start(words).result().status == .exited(78))
        }
    }

    /// What is said of a service is wrong at the place that is named, by the check and when it counts.
    @Test(
        arguments: [
            ("service = 'opneai'", "1:11: there is no service 'opneai'; did you mean 'openai'?"),
            (
                "service = 'mine'\n[services.mine]\nprofile = 'nothing'",
                "3:11: there is no service 'nothing'"
            ),
            (
                "service = 'openai'\n[services.openai]\nwords = { mood = 'good' }",
                "3:18: OpenAI has no mood"
            ),
            (
                "service = 'vosk'\n[services.vosk]\nurl = 'foo bar'",
                "3: services.vosk.url: 'foo bar' is not a usable URL: it must begin with http:// or "
                    + "https://"
            ),
            (
                "[encryption]\nkey-file = 'a'\nkey-command = 'b'",
                "3:15: 'encryption.key-file' and 'encryption.key-command' exclude each other"
            ),
        ])
    func whatIsSaidOfAServiceIsCheckedToo(_ text: String, _ reason: String) async throws {
        try bench.configure(text)
        let found = try await bench.start(["config", "check"], variables: ["UTTER_URL": ""])
            .result()
        #expect(found.status == .exited(78))
        let line = "utter: error: \(bench.configurationPath):\(reason)\n"
        #expect(found.errorText.hasPrefix(line), "\(found.errorText)")
        let sent = try await bench.start(
            ["send", Clip.goForward.path], variables: ["UTTER_URL": ""]
        ).result()
        #expect(sent.errorText.hasPrefix(line), "\(sent.errorText)")
        #expect(sent.status != .exited(0) && bench.requests.isEmpty)
    }

    @Test func whatIsNoTextOfSettingsIsSaidWithItsPlace() async throws {
        try bench.configure("device = 'x'\nformat\n")
        let text = try await refusal()
        #expect(text.hasPrefix("utter: error: FILE:2:7: it is not valid TOML: "), "\(text)")
        try bench.configure(bytes: Array("device = 'x'\n# caf".utf8) + [0xE9, 0x0A])
        #expect(try await refusal() == "utter: error: FILE:2:6: it is not UTF-8\n" + Self.cure)
        // A file without end is not read.
        try bench.configure(bytes: [UInt8](repeating: 0x23, count: 10 << 20))
        #expect(try await refusal() == "utter: error: FILE: it is longer than 1 MiB\n" + Self.move)
    }

    @Test(arguments: [(0o602, "it"), (0o620, "it"), (0o777, "its folder")])
    func whatOthersMayWriteIsRefused(_ mode: Int, _ name: String) async throws {
        let path = try bench.configure("device = 'x'\n")
        let isFile = name == "it"
        chmod(isFile ? path : bench.folder.path(".config/utter"), mode_t(mode))
        let cured = isFile ? "FILE" : "HOME/.config/utter"
        #expect(
            try await refusal() == """
                utter: error: FILE: \(name) can be written by others
                utter: hint: change that with: chmod go-w \(cured)

                """)
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
    func whatBelongsToAnotherUserIsRefused() async throws {
        let path = try bench.configure("device = 'x'\n")
        try #require(chown(path, 65_534, 65_534) == 0)
        #expect(try await refusal() == "utter: error: FILE: it belongs to another user\n")
    }

    @Test(.enabled(if: geteuid() != 0, "root reads everything"))
    func whatCannotBeReadIsRefused() async throws {
        let path = try bench.configure("device = 'x'\n")
        chmod(path, 0)
        #expect(
            try await refusal() == "utter: error: FILE: it cannot be read: Permission denied\n")
    }

    @Test func whatIsNoFileIsRefused() async throws {
        bench.makeConfigurationFolder()
        let path = bench.configurationPath
        try #require(mkdir(path, 0o700) == 0)
        #expect(try await refusal() == "utter: error: FILE: it is a folder\n" + Self.move)
        try #require(rmdir(path) == 0 && mkfifo(path, 0o600) == 0)
        #expect(try await refusal() == "utter: error: FILE: it is not a file\n" + Self.move)
        try #require(unlink(path) == 0 && symlink("nowhere", path) == 0)
        #expect(
            try await refusal()
                == "utter: error: FILE: it is a link to a file that is not there\n" + Self.move)
        try #require(unlink(path) == 0 && symlink("config.toml", path) == 0)
        #expect(
            try await refusal()
                == "utter: error: FILE: it cannot be read: Too many levels of symbolic links\n")
    }

    @Test func aLinkToAFileOfOnesOwnIsFollowed() async throws {
        bench.makeConfigurationFolder()
        let file = try bench.folder.write(Array("output.detail = 'quiet'\n".utf8), to: "dotfile")
        try #require(symlink(file, bench.configurationPath) == 0)
        let result = try await bench.run("send", Clip.goForward.path)
        #expect(result.status == .exited(0) && result.error.isEmpty)
    }

    @Test(arguments: ["retry", "flush"])
    func everyCommandThatAsksTheFileSaysSo(_ command: String) async throws {
        try bench.configure("colour = 'red'\n")
        let result = try await bench.run(command)
        #expect(result.status == .exited(78))
        #expect(result.errorText.contains("config.toml:1:1: 'colour' is not known\n"))
    }

    @Test(arguments: ["list", "show", "last", "rm last", "status"])
    func aFileThatCannotBeReadHidesNothingThatIsKept(_ command: String) async throws {
        #expect(try await bench.run("send", Clip.goForward.path).status == .exited(0))
        try bench.configure("language = de\n")
        let words = command.split(separator: " ").map(String.init)
        let result = try await bench.start(words).result()
        #expect(result.status == .exited(0))
        let warnings = result.errorText.ranges(of: "/config.toml:1:12: it is not valid TOML")
        #expect(warnings.count == (command == "status" ? 0 : 1), "\(result.errorText)")
    }

    @Test(arguments: [("list", "UTTER_MAX_AGE"), ("rm last", "UTTER_MAX_TAKES")])
    func aVariableThatIsWrongHidesNothingEither(
        _ command: String, _ variable: String
    ) async throws {
        #expect(try await bench.run("send", Clip.goForward.path).status == .exited(0))
        let words = command.split(separator: " ").map(String.init)
        let result = try await bench.start(words, variables: [variable: "soon"]).result()
        #expect(result.status == .exited(0))
        let warnings = result.errorText.ranges(
            of: "utter: warning: \(variable) is 'soon', but must be ")
        #expect(warnings.count == 1, "\(result.errorText)")
        let doctor = try await bench.start(
            ["doctor", "settings", "recordings"], variables: [variable: "soon"]
        ).result()
        #expect(doctor.status == .exited(78))
        let all = doctor.outputText + doctor.errorText
        #expect(all.ranges(of: "\(variable) is 'soon'").count == 1, "\(all)")
        #expect(all.contains("recordings are kept in"))
    }

    @Test func doctorSaysOnceThatTheFileCannotBeRead() async throws {
        try bench.configure("language = de\n")
        let result = try await bench.run("doctor", "settings", "recordings")
        #expect(result.status == .exited(78))
        let all = result.outputText + result.errorText
        #expect(all.ranges(of: "/config.toml:1:12: it is not valid TOML").count == 1, "\(all)")
        #expect(all.contains("recordings are kept in"))
    }

    @Test func whatNeedsNoSettingsRunsAllTheSame() async throws {
        try bench.configure("colour = 'red'\n")
        for words in [["--version"], ["--help"], ["config", "path"], ["record", "--help"]] {
            #expect(try await bench.start(words).result().status == .exited(0), "\(words)")
        }
    }

    @Test func aFileThatBreaksMeanwhileCostsNoRecording() async throws {
        try bench.configure("keep.audio = '1d'\n")
        let run = try bench.start(["send", "-"], input: .pipe, variables: ["UTTER_KEEP_AUDIO": ""])
        run.write(Array(try Clip.goForward.samples.prefix(32_000)))
        #expect(await bench.wait(untilSamples: 32_000))
        try bench.configure("colour = ")
        run.closeInput()
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(result.outputText == "heard\n")
        // What the file said at the beginning still counts.
        #expect(try bench.onlyTake()?.samples?.count == 32_000)
    }
}
