// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Command lines that are wrong: nothing is recorded, sent or printed, and the option is named.
@Suite struct UsageTests {
    /// A wrong command line, and what its message names.
    static let cases: [([String], String)] = [
        (["--max", "0s"], "--max"),
        (["-c", "answer.framing=guess"], "-c answer.framing: "),
        (["-c", "answer.text=["], "-c answer.text: "),
        (["--to", "ftp://host/"], "--to"),
        (["--to", "https://me:secret@host/"], "--to"),
        (["-c", "transfer.redirect-to=host"], "-c transfer.redirect-to: "),
        (["-c", "transfer.connect-seconds=-1"], "'transfer.connect-seconds' must be"),
        (["--header", "A: b\r\nC: d"], "--header"),
        (["-H", "A: b\nC: d"], "--header"),
        (["-H", "X-Model small"], "--header: header 'X-Model…' cannot be sent: there is"),
        (["-H", "secretsecret"], "--header: header 'secr…' cannot be sent: there is no"),
        (["--for", "2s", "--max", "1s"], "--for is longer than --max"),
        (["-H", "Content-Length: 5"], "--header"),
        (["-c", "body.content-type=a/b\r\nC: d"], "-c body.content-type: "),
        (["-c", "model"], "-c needs KEY=VALUE"),
        (["-c", "secretsecret"], "-c needs KEY=VALUE"),
        (["-c", "=length"], "-c needs KEY=VALUE"),
        (["-c", "body.fields.=x"], "-c body.fields.: there is no such field"),
        (["-c", "body.fields.file=@a.wav"], "the field 'file' is the recording's own"),
        (["-c", "body.fields.api_key=sesame"], "'api_key' would hold a secret"),
        (["-c", "headers.Authorization=Bearer sesame"], "would hold a secret, which"),
        (["-c", "query.key=sesame"], "'key' would hold a secret"),
        (["-c", "auth.token=sesame"], "-c auth.token: other users can read command lines"),
        (["-c", "token=sesame"], "-c token: other users can read command lines"),
        (["-c", "password=sesame"], "-c password: other users can read command lines"),
        (["-c", "url=https://host/?key=sesame"], "-c url: query parameter 'key' holds"),
        (["-c", "url=https://me:secret@host/"], "-c url: "),
        (["-c", "url=http://a/", "--to", "http://b/"], "--to excludes -c url"),
        (["-c", "auth.exchange.url=http://a/"], "there is no such field"),
        (["-c", "auth.file="], "-c auth.file needs a value"),
        (["-c", "auth.file=a", "--token-file", "b"], "--token-file excludes -c auth.file"),
        (["-c", "body.file-field="], "the recording has no name"),
        (["-c", "body.template={"], "the JSON body cannot be sent: it is not JSON"),
        (["-c", #"body.template={"a":"b"}"#], "{audio} stands in no string"),
        (["-c", #"body.template={"a":"{audio}","b":"{audio}"}"#], "{audio} stands there 2 times"),
        (["-c", #"body.template={"token":"secret","a":"{audio}"}"#], "'token' would hold a token"),
        (
            ["-c", "body.fields.a=b", "-H", "Content-Type: multipart/form-data"],
            "--header: a form has its own Content-Type"
        ),
        (["daemon", "--type"], "are options of 'utter start' and 'utter stop'"),
        (["-q", "-v"], "-q"),
        (["note.wav"], "note.wav"),
        (["send"], "files"),
        (["send", "--pace", "0", "x.wav"], "--pace"),
        (["send", "--rate", "5", "-"], "--rate"),
        (["send", "--channels", "0", "-"], "--channels"),
        (["send", "--channels", "two", "-"], "--channels"),
        (["send", "-", "-"], "-"),
        (["send", "-", "--to", "host"], "--to"),
        (["devices", "--loud"], "--loud"),
        (["rm"], "--answered"),
        (["rm", "--undo", "--now"], "--undo"),
        (["rm", "--older", "1w"], "--older"),
        (["flush", "--max-age", "30"], "--max-age"),
        (["flush", "--max-age", "0"], "--max-age"),
    ]

    /// What is said of a wrong command line: nothing is recorded, read, sent or printed.
    private func refusal(_ words: [String]) async throws -> String {
        let bench = try Bench()
        // A pipe that stays open: options are looked at before anything is read.
        let result = try await bench.start(words, input: .pipe).result()
        #expect(result.status == .exited(64))
        #expect(result.output.isEmpty)
        #expect(result.hasPlainErrors)
        let error = result.errorText.prefix { $0 != "\n" }
        #expect(error.hasPrefix("utter: error: "))
        #expect(!error.hasSuffix("."))
        let secret = words.contains { $0.contains("sesame") } ? "sesame" : "secret"
        #expect(!result.errorText.contains(secret))
        #expect(try bench.takes().isEmpty)
        return String(error.dropFirst("utter: error: ".count))
    }

    @Test(arguments: cases)
    func aWrongCommandLineNamesTheOptionAndIsStatus64(
        _ words: [String], _ named: String
    ) async throws {
        let error = try await refusal(words)
        #expect(error.contains(named), "\(error)")
    }

    /// Wrong values, and the whole message that says what is right.
    static let values: [([String], String)] = [
        (["--for", "abc"], "--for: 'abc' is not a time: write 5s, 1m30s, 500ms or 1:30"),
        (["--max", "1:75"], "--max: '1:75' is not a time: write 5s, 1m30s, 500ms or 1:30"),
        (["-c", "recording.tail=1:75"], "-c recording.tail: '1:75' is not a time such as 300ms"),
        (
            ["-c", "transfer.connect-seconds=it's"],
            "-c transfer.connect-seconds: 'transfer.connect-seconds' must be a number, not a string"
        ),
        (["-c", "limits.bytes=5X"], "-c limits.bytes: '5X' is not a size such as 500M or 4G"),
        (
            ["-c", "transfer.catch-up=1x"],
            "-c transfer.catch-up: 'transfer.catch-up' must be a factor such as 4x, or bytes a second "
                + "such as 64k, not '1x'"
        ),
        (["-c", "limits.takes=x"], "-c limits.takes: 'x' is not a number above zero"),
        (
            ["-c", "connection.http=3"],
            "-c connection.http: 'connection.http' cannot be '3'; it is one of 1.1, 2"
        ),
        (
            ["-c", "transfer.framing=lenght"],
            "-c transfer.framing: 'transfer.framing' cannot be 'lenght'; did you mean 'length'?"
        ),
        (
            ["-c", "endpointing=true"],
            "-c endpointing: there is no such field; did you mean 'transfer.endpointing'?"
        ),
        (
            ["--keep-audio", "long"],
            "--keep-audio: 'long' is not an age: write a number with its unit, such as 7d, 12h or 30m"
        ),
        (
            ["send", "--pace", "fast", "a.wav"],
            "--pace: 'fast' is not a pace: write realtime, max or a factor from 0.1 to 1000"
        ),
        (
            ["send", "--rate", "fast", "-"],
            "--rate: 'fast' is not a rate: write a number of Hz, such as 48000"
        ),
        (["flush", "--jobs", "x"], "--jobs: 'x' is not a count: write a number, such as 2"),
        (
            ["--format", "mp3"],
            "--format: 'mp3' is not known: write 'pcm', 'wav', 'ogg-opus' or 'flac'"
        ),
        (
            ["--for", "-5s"],
            "--for: '-5s' is below zero: write 5s, 1m30s, 500ms or 1:30"
        ),
        (["-d=-.5s"], "-d: '-.5s' is below zero: write 5s, 1m30s, 500ms or 1:30"),
        (
            ["rm", "--older", "-7d"],
            "--older: '-7d' is below zero: write a number with its unit, such as 7d, 12h or 30m"
        ),
        (
            ["config", "sat"],
            "'sat' is not known: write 'path', 'show', 'check', 'edit', 'get', 'set' or 'unset'"
        ),
        (
            ["setup", "binds", "foo"],
            "'foo' is not known: write 'sway', 'hyprland', 'i3', 'gnome' or 'kde'"
        ),
        (["services", "test", "openai"], "missing expected argument '--with <file>'"),
        (["serve", "--port", "-1"], "--port must be from 0 to 65535"),
        (["send", "--channels", "-1", "-"], "--channels must be from 1 to 64"),
        (["list", "-n", "-3"], "-n must be above zero"),
        (["list", "-n=0"], "-n must be above zero"),
        (["list", "--newest=0"], "--newest must be above zero"),
        (["-d", "0"], "-d must be above zero"),
        (["--json", "-1"], "unknown option '-1'"),
        (
            ["rm", "--older", "7"],
            "--older: '7' is not an age: write a number with its unit, such as 7d, 12h or 30m"
        ),
    ]

    @Test(arguments: values)
    func aWrongValueIsSaidToBeWhatItIsNot(_ words: [String], _ message: String) async throws {
        #expect(try await refusal(words) == message)
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
                "utter: error: -c connection.ca-file: '\(Clip.digits.path)' does not contain a certificate "
                    + "in PEM\n"))
        #expect(card.account.opens == 0)
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
        ("utter", "serve", "utter-endpoint"), ("utter", "demo", "utter-endpoint"),
        ("utter", "keys", "utter-keys"), ("utter-endpoint", "serve", "utter-ear"),
        ("utter-endpoint", "demo", "utter-ear"),
    ])
    func aMissingProgramIsStatus70(_ own: String, _ command: String, _ name: String) async throws {
        let bench = try Bench()
        let program = try #require(BuiltProducts.path(of: own))
        // The program looks beside itself; a copy elsewhere is alone.
        let lonely = bench.folder.path(own)
        try ForeignTool("cp").run(["-L", program, lonely])
        let result = try await CommandRun.run(
            lonely, [command], environment: bench.environment)
        #expect(result.status == .exited(70))
        #expect(result.output.isEmpty)
        #expect(result.errorText.hasPrefix("utter: error: \(name) is missing beside \(lonely)"))
        #expect(result.errorText.contains("utter: hint: build it with: "))
    }
}
