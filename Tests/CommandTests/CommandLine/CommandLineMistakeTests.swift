// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import UtterCommands

/// What a person hears who typed something that is not there.
@Suite struct CommandLineMistakeTests {
    /// A wrong command line, and the first hint that it gets.
    static let typed: [([String], String)] = [
        (["lst"], "did you mean 'list'?"), (["ls"], "did you mean 'list'?"),
        (["sned", "a.wav"], "did you mean 'send'?"), (["dev"], "did you mean 'devices'?"),
        (["transcribe", "a.wav"], "did you mean 'send'?"),
        (["-v", "fush"], "did you mean 'flush'?"),
        (["help", "shwo"], "did you mean 'show'?"),
        (["nonsense"], "see 'utter --help' for the commands"),
        (["copy"], "did you mean 'last --copy'?"), (["type"], "did you mean 'last --type'?"),
        (["stats"], "see 'utter --help' for the commands"),
        (["setup", "lokal"], "did you mean 'setup local'?"),
        (["services", "shwo"], "did you mean 'services show'?"),
        (["key", "nwe"], "did you mean 'key new'?"),
        (["gone.wav"], "send a file with: utter send gone.wav"),
        (["my talk.mp3"], "send a file with: utter send 'my talk.mp3'"),
        (["--for", "5s", "gone.wav"], "send a file with: utter send gone.wav"),
        (["-"], "send standard input with: utter send -"),
        (["--url", "http://host/"], "did you mean '--to'?"),
        (["--fro", "5s"], "did you mean '--for'?"),
        (["--devcie", "x"], "did you mean '--device'?"), (["--quite"], "did you mean '--quiet'?"),
        (["--xyzzy"], "see 'utter record --help' for more information"),
        (["list", "--limit", "3"], "'--limit' is an option of: utter flush"),
        (["--pace", "2"], "'--pace' is an option of: utter send"),
        (
            ["--token", "x"],
            "give the token with --token-file, --token-command or UTTER_TOKEN: others see command lines"
        ),
        (["--lang", "en"], "did you mean '--language'?"),
        (["-l", "de"], "did you mean '--language'?"),
        (["-m", "whisper-1"], "did you mean '--model'?"),
        (["-x", "proxy"], "name the proxy with -c connection.proxy=URL"),
        (["send", "--verbos"], "did you mean '--verbose'?"),
        (["send", "--retry"], "trying again is the default; send a kept take with: utter retry"),
        (["--to", "localhost:99"], "did you mean http://localhost:99?"),
        (["--to", "speech.example/v1"], "did you mean https://speech.example/v1?"),
        (["--to", "speech"], "write it like https://speech.example/v1/listen?language=en"),
        (
            ["-c", "connection.proxy=http://anna:secret@proxy:3128"],
            "see the fields with: utter services fields"
        ),
        (["-c", "transfer.framin=length"], "see the fields with: utter services fields"),
        (
            ["-c", "headers.X-Api-Key=secret"],
            "say where it is: -c auth.file=FILE, auth.variable=NAME or auth.command=COMMAND"
        ),
        (["-d5s"], "write it like: -d 5s"), (["list", "-n3"], "write it like: -n 3"),
        (["--for5s"], "write it like: --for 5s"), (["RECORD"], "did you mean 'record'?"),
        (
            ["\u{2013}for", "5s"],
            "an option begins with '-', and this with another dash: '\u{2013}'"
        ),
        (["--out", "note.txt"], "did you mean '--output'?"),
        (["--clipboard"], "did you mean '--copy'?"),
    ]

    @Test(arguments: typed)
    func theFirstHintIsWhatWasMeant(_ words: [String], _ hint: String) async throws {
        let result = try await Bench().start(words).result()
        #expect(result.status == .exited(64))
        #expect(result.output.isEmpty)
        #expect(result.hasPlainErrors)
        let hints = result.errorText.split(separator: "\n").dropFirst()
        #expect(hints.first == "utter: hint: \(hint)", "\(result.errorText)")
    }

    /// What must not be suggested: nothing that was meant is near.
    @Test(arguments: ["--loud", "--xyzzy", "--voice", "--email"])
    func whatIsFarIsNotSuggested(_ option: String) async throws {
        let result = try await Bench().run(option)
        #expect(!result.errorText.lowercased().contains("did you mean"))
    }

    /// A wrong value of an option, and the hint that shows a right one of that option.
    @Test(arguments: [
        ("-c", "auth.form=X: y", "see the fields with: utter services fields"),
        ("--header", "", "write it like --header 'X-Language: en'"),
    ])
    func aHintIsOfTheOption(_ option: String, _ value: String, _ hint: String) async throws {
        let result = try await Bench(["UTTER_TOKEN": "abc"]).run("send", option, value, "-")
        #expect(result.status == .exited(64))
        #expect(result.errorText.hasSuffix("\nutter: hint: \(hint)\n"), "\(result.errorText)")
    }

    @Test(arguments: [("show", "-1", "last~1"), ("play", "-2", "last~2")])
    func aTakeIsCountedBackFromTheLast(_ command: String, _ typed: String, _ meant: String) {
        let mistake = CommandLineMistake(
            "Unknown option '\(typed)'",
            help: "See 'utter \(command) --help' for more information.", typed: [typed],
            of: CommandNames(UtterCommand.self))
        #expect(mistake.hints.first == "did you mean '\(meant)'?")
    }

    // MARK: - Options before the command

    @Test func optionsMayStandBeforeTheCommand() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "moved"))
        let bench = try Bench(["UTTER_URL": "http://127.0.0.1:9/"])
        let sent = try await bench.run(
            "--to", server.url(), "-q", "--format", "wav", "send", Clip.digits.path)
        #expect(sent.status == .exited(0))
        #expect(sent.outputText == "moved\n")
        #expect(server.requests.first?.body.prefix(4) == Array("RIFF".utf8)[...])
        let list = try await bench.run("--json", "list")
        #expect(list.status == .exited(0))
        #expect(try JSONText(list.output)[0]?["state"] == .string("answered"))
        let help = try await bench.run("-v", "flush", "--help")
        #expect(help.status == .exited(0))
        #expect(help.outputText.contains("--jobs"))
    }

    @Test func anOptionThatTheCommandLacksIsSaidOfThatCommand() async throws {
        let result = try await Bench().run("--for", "5s", "list")
        #expect(result.status == .exited(64))
        #expect(
            result.errorText == """
                utter: error: unknown option '--for'
                utter: hint: '--for' is an option of: utter record, utter fetch, utter level
                utter: hint: see 'utter list --help' for more information

                """)
    }

    @Test func aValueIsNoCommand() {
        let names = CommandNames(UtterCommand.self)
        #expect(names.commandFirst(["--device", "send"]) == [["send", "--device"]])
        #expect(
            names.commandFirst(["-a", "send", "-b", "list"])
                == [["send", "-a", "-b", "list"], ["list", "-a", "send", "-b"]])
        #expect(names.commandFirst(["send", "list"]) == [])
        #expect(names.commandFirst(["-a", "--", "list"]) == [])
        #expect(names.commandFirst([]) == [])
    }

    @Test func aDeviceMayBeNamedLikeACommand() async throws {
        let card = try VirtualMicrophone()
        let result = try await Bench(microphone: card).run("--device", "send")
        #expect(result.status == .exited(66))
        #expect(result.errorText.contains("no capture device named 'send'"))
    }
}
