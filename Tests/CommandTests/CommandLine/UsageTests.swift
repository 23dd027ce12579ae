// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Command lines that are wrong: nothing is recorded, sent or printed, and the option is named.
@Suite struct UsageTests {
    /// A wrong command line, and what its message must name.
    struct Case: Sendable, CustomTestStringConvertible {
        var arguments: [String]
        var named: String

        init(_ arguments: String..., named: String) {
            self.arguments = arguments
            self.named = named
        }

        var testDescription: String { arguments.joined(separator: " ") }
    }

    static let cases = [
        Case("--bogus", named: "--bogus"),
        Case("--for", "soon", named: "--for"),
        Case("--for", "0", named: "--for"),
        Case("--for", "-1s", named: "--for"),
        Case("--max", "0s", named: "--max"),
        Case("-c", "recording.tail=x", named: "-c recording.tail: 'x' is not a time"),
        Case("--format", "mp3", named: "--format"),
        Case("-c", "answer.framing=guess", named: "-c answer.framing: "),
        Case("-c", "answer.text=[", named: "-c answer.text: "),
        Case("--to", "ftp://host/", named: "--to"),
        Case("--to", "https://me:secret@host/", named: "--to"),
        Case("-c", "transfer.redirect-to=host", named: "-c transfer.redirect-to: "),
        Case("-c", "transfer.connect-seconds=1x", named: "must be a number, not a string"),
        Case("-c", "transfer.connect-seconds=-1", named: "'transfer.connect-seconds' must be"),
        Case("--header", "no colon", named: "--header"),
        Case("--header", "A: b\r\nC: d", named: "--header"),
        Case("-H", "A: b\nC: d", named: "--header"),
        Case("-H", "X-Model small", named: "--header: header 'X-Model…' cannot be sent: there is"),
        Case("-H", "secretsecret", named: "--header: header 'secr…' cannot be sent: there is no"),
        Case("--for", "2s", "--max", "1s", named: "--for is longer than --max"),
        Case("-H", "Content-Length: 5", named: "--header"),
        Case("-c", "body.content-type=a/b\r\nC: d", named: "-c body.content-type: "),
        Case("-c", "model", named: "-c needs KEY=VALUE"),
        Case("-c", "secretsecret", named: "-c needs KEY=VALUE"),
        Case("-c", "=length", named: "-c needs KEY=VALUE"),
        Case("-c", "body.fields.=x", named: "-c body.fields.: there is no such field"),
        Case("-c", "body.fields.file=@a.wav", named: "the field 'file' is the recording's own"),
        Case("-c", "body.fields.api_key=sesame", named: "'api_key' would hold a secret"),
        Case("-c", "headers.Authorization=Bearer sesame", named: "would hold a secret, which"),
        Case("-c", "query.key=sesame", named: "'key' would hold a secret"),
        Case("-c", "auth.token=sesame", named: "-c auth.token: others see command lines"),
        Case("-c", "token=sesame", named: "-c token: others see command lines"),
        Case("-c", "password=sesame", named: "-c password: others see command lines"),
        Case("-c", "url=https://host/?key=sesame", named: "-c url: query parameter 'key' holds"),
        Case("-c", "url=https://me:secret@host/", named: "-c url: "),
        Case("-c", "url=http://a/", "--to", "http://b/", named: "--to excludes -c url"),
        Case("-c", "auth.exchange.url=http://a/", named: "there is no such field"),
        Case("-c", "auth.file=", named: "-c auth.file needs a value"),
        Case(
            "-c", "auth.file=a", "--token-file", "b",
            named: "--token-file excludes -c auth.file"),
        Case("-c", "body.file-field=", named: "the recording has no name"),
        Case("-c", "body.template={", named: "the JSON body cannot be sent: it is not JSON"),
        Case("-c", #"body.template={"a":"b"}"#, named: "{audio} stands in no string"),
        Case(
            "-c", #"body.template={"a":"{audio}","b":"{audio}"}"#,
            named: "{audio} stands there 2 times"),
        Case(
            "-c", #"body.template={"token":"secret","a":"{audio}"}"#,
            named: "'token' would hold a token"),
        Case(
            "-c", "body.fields.a=b", "-H", "Content-Type: multipart/form-data",
            named: "--header: a form has its own Content-Type"),
        Case(
            "start", "-o", "note.txt", named: "are options of 'utter stop', which prints the text"),
        Case("daemon", "--type", named: "are options of 'utter stop', which prints the text"),
        Case("-q", "-v", named: "-q"),
        Case("note.wav", named: "note.wav"),
        Case("send", named: "files"),
        Case("send", "--pace", "slow", "x.wav", named: "--pace"),
        Case("send", "--pace", "0", "x.wav", named: "--pace"),
        Case("send", "--rate", "5", "-", named: "--rate"),
        Case("send", "--channels", "0", "-", named: "--channels"),
        Case("send", "--channels", "two", "-", named: "--channels"),
        Case("send", "-", "-", named: "-"),
        Case("send", "-", "--to", "host", named: "--to"),
        Case("devices", "--loud", named: "--loud"),
        Case("list", "-n", "0", named: "-n must be above zero"),
        Case("rm", named: "--answered"),
        Case("rm", "--undo", "--now", named: "--undo"),
        Case("rm", "--older", "7", named: "--older"),
        Case("rm", "--older", "7", named: "a number with its unit, such as 7d"),
        Case("rm", "--older", "1w", named: "--older"),
        Case("flush", "--max-age", "30", named: "--max-age"),
        Case("flush", "--max-age", "0", named: "--max-age"),
    ]

    @Test(arguments: cases)
    func aWrongCommandLineNamesTheOptionAndIsStatus64(_ this: Case) async throws {
        let bench = try Bench()
        // A pipe that stays open: options are looked at before anything is read.
        let result = try await bench.start(this.arguments, input: .pipe).result()
        #expect(result.status == .exited(64))
        #expect(result.output.isEmpty)
        #expect(result.hasPlainErrors)
        let error = result.errorText.prefix { $0 != "\n" }
        #expect(error.hasPrefix("utter: error: "))
        #expect(error.contains(this.named), "\(result.errorText)")
        #expect(!error.hasSuffix("."))
        let secret = this.arguments.contains { $0.contains("sesame") } ? "sesame" : "secret"
        #expect(!result.errorText.contains(secret))
        #expect(try bench.takes().isEmpty)
    }

    @Test func aWrongUrlInTheEnvironmentIsNamedAsSuch() async throws {
        let bench = try Bench(["UTTER_URL": "nonsense"])
        let result = try await bench.run("send", Clip.digits.path)
        #expect(result.status == .exited(64))
        #expect(result.errorText.hasPrefix("utter: error: UTTER_URL: 'nonsense' is not a usable"))
    }

    @Test func aFileWithoutACertificateIsRefusedBeforeAnythingIsRecorded() async throws {
        let card = try VirtualMicrophone()
        let bench = try Bench(microphone: card)
        let result = try await bench.run(
            "-c", "connection.ca-file=\(Clip.digits.path)", "--for", "1s")
        #expect(result.status == .exited(78))
        #expect(
            result.errorText.hasPrefix(
                "utter: error: -c connection.ca-file: '\(Clip.digits.path)' holds no certificate "
                    + "in PEM\n"))
        #expect(card.account.opens == 0)
    }

    @Test func aFileWithoutItsCommandIsExplained() async throws {
        let result = try await Bench().run(Clip.digits.path)
        #expect(result.status == .exited(64))
        #expect(result.errorText.contains("hint: send a file with: utter send \(Clip.digits.path)"))
    }

    @Test(arguments: [
        (["--help"], "utter send interview.wav"), (["help"], "SUBCOMMANDS"),
        (["send", "--help"], "--pace"),
        (["record", "--help"], "--help-all shows all options."),
        (["record", "--help", "all"], "--encrypt-key"), (["retry", "--help-all"], "--plain"),
        (["devices", "--help"], "--json"),
    ])
    func helpGoesToStandardOutput(_ arguments: [String], _ expected: String) async throws {
        let result = try await Bench().start(arguments).result()
        #expect(result.status == .exited(0))
        #expect(result.outputText.contains(expected))
        #expect(result.error.isEmpty)
        let widest = result.outputText.split(separator: "\n").map(\.count).max() ?? 0
        #expect(widest <= 80)
    }

    @Test(arguments: ["--version", "-V"])
    func theVersionIsOneLine(_ option: String) async throws {
        let result = try await Bench().run(option)
        #expect(result.status == .exited(0))
        #expect(result.outputText.wholeMatch(of: /utter \d+\.\d+\.\d+\n/) != nil)
    }

    @Test(arguments: [
        ("serve", "utter-endpoint"), ("demo", "utter-endpoint"), ("keys", "utter-keys"),
    ])
    func aMissingProgramIsStatus70(_ command: String, _ name: String) async throws {
        let bench = try Bench()
        let utter = try #require(BuiltProducts.path(of: "utter"))
        // The program looks beside itself; a copy elsewhere is alone.
        let lonely = bench.folder.path("utter")
        try ForeignTool("cp").run(["-L", utter, lonely])
        let result = try await CommandRun.run(lonely, [command])
        #expect(result.status == .exited(70))
        #expect(result.output.isEmpty)
        #expect(result.errorText.hasPrefix("utter: error: \(name) is missing beside"))
        #expect(result.errorText.contains("utter: hint: build it with: "))
    }
}
