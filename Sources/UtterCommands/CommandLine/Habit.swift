// SPDX-License-Identifier: Apache-2.0

/// Options of other programs that people type by habit, and what to use instead.
enum Habit {
    /// Options of ours under another name.
    static let synonyms = [
        "--url": "--to", "--endpoint": "--to", "--server": "--to",
        "--duration": "--for", "--seconds": "--for", "--time": "--for",
        "--input": "--device", "--mic": "--device", "--microphone": "--device",
        "--source": "--device", "--sample-rate": "--rate", "-r": "--rate",
        "-f": "--format", "--codec": "--format", "--speed": "--pace",
        "--parallel": "--jobs", "-j": "--jobs", "-n": "--limit",
        "-l": "--language", "--lang": "--language", "--locale": "--language",
        "-m": "--model", "--out": "--output", "--clipboard": "--copy",
        "--paste": "--type", "--exec": "--run", "--pipe-to": "--run",
        "--outdir": "--output-dir", "--vad": "--silence", "--continuous": "--silence",
        "--hands-free": "--silence",
    ]

    static let advice: [(options: [String], text: String)] = [
        (
            ["--token", "--api-key", "--apikey", "--key", "--bearer", "--auth"],
            "give the token with --token-file, --token-command or UTTER_TOKEN: others see command lines"
        ),
        (
            ["-k", "--insecure", "--no-verify"],
            "certificates are always verified; trust one of your own with -c connection.ca-file=FILE"
        ),
        (["--ca", "--ca-file"], "name it with -c connection.ca-file=FILE"),
        (["-F", "--form-string"], "write -c body.fields.NAME=VALUE"),
        (["-x"], "name the proxy with -c connection.proxy=URL"),
        (["--timeout"], "wait longer for the answer with -c transfer.answer-seconds=120"),
        (["--retry"], "trying again is the default; send a kept take with: utter retry"),
    ]

    /// Advice for an option that a command does not have; nil for no habit.
    static func hint(for option: String, among options: [String]) -> String? {
        if let meant = synonyms[option], options.contains(meant) {
            return "did you mean '\(meant)'?"
        }
        return advice.first { $0.options.contains(option) }?.text
    }
}

/// Options that are fields of a profile or settings now, and what to write in their place.
enum FormerOption {
    /// Each with what is said now, in which `{}` stands for its value; without it, it took none.
    static let all: [(name: String, now: String)] = [
        ("--http", "connection.http={}"), ("--proxy", "connection.proxy={}"),
        ("--proxy-login-file", "connection.proxy-login-file={}"),
        ("--no-proxy", "connection.no-proxy={}"), ("--cacert", "connection.ca-file={}"),
        ("--client-cert", "connection.client-certificate={}"),
        ("--client-key", "connection.client-key={}"),
        ("--min-tls", "connection.minimum-tls={}"), ("--pinned-key", "connection.pinned-key={}"),
        ("--ip", "connection.ip={}"), ("--resolve", "connection.resolve={}"),
        ("--framing", "transfer.framing={}"), ("--endpointing", "transfer.endpointing=true"),
        ("--redirect-to", "transfer.redirect-to={}"), ("--id-header", "transfer.id-header={}"),
        ("--connect-timeout", "transfer.connect-seconds={}"),
        ("--stall-timeout", "transfer.stall-seconds={}"),
        ("--answer-timeout", "transfer.answer-seconds={}"),
        ("--catch-up-rate", "transfer.catch-up={}"),
        ("--insecure-token", "transfer.insecure-token=true"),
        ("--no-retry", "retry.never=true"), ("--on-unknown", "retry.unknown={}"),
        ("--method", "method={}"), ("--content-type", "body.content-type={}"),
        ("--body", "body.kind={}"), ("--form", "body.fields.{}"),
        ("--file-field", "body.file-field={}"), ("--file-name", "body.file-name={}"),
        ("--json-body", "body.template={}"), ("--answer", "answer.framing={}"),
        ("--token-credential", "auth.credential={}"),
        ("--token-header", "auth.kind=header -c auth.header=NAME -c auth.form=FORM"),
        ("--period", "recording.period={}"), ("--min", "recording.min={}"),
        ("--tail", "recording.tail={}"), ("--max-takes", "limits.takes={}"),
        ("--max-bytes", "limits.bytes={}"), ("--min-free", "limits.free={}"),
        ("--require-keep", "keep.required=true"), ("--cue", "output.cue=true"),
        ("--partials", "output.partials=true"),
    ]

    private static let renamed = [
        "--token-fd": "--token-fd N is --token-file /dev/fd/N now",
        "--record": "--record is --cassette now",
        "--record-bodies": "--record-bodies is --cassette-bodies now",
    ]
    /// Options whose value may be a secret, and is not repeated.
    private static let unspoken: Set = ["--form", "--json-body", "--proxy"]
    private static let times: Set = ["--connect-timeout", "--stall-timeout", "--answer-timeout"]

    /// The form that has replaced an option; nil when it never was one.
    static func hint(for option: String, in typed: [String]) -> String? {
        if let now = renamed[option] { return now }
        guard let former = all.first(where: { $0.name == option }) else { return nil }
        let value = unspoken.contains(option) ? nil : value(of: option, in: typed)
        return "\(option) is -c \(filled(former.now, option, value)) now"
    }

    /// The field that took the place of an option, by the option's name without dashes.
    static func field(of name: String) -> String? {
        let now = all.first { $0.name == "--\(name)" }?.now
        return now.map { String($0.prefix { $0 != "=" }) }
    }

    private static func filled(_ now: String, _ option: String, _ value: String?) -> String {
        guard now.contains("{}") else { return now }
        guard let value else {
            return now.replacing("{}", with: option == "--form" ? "NAME=VALUE" : "VALUE")
        }
        if option == "--answer", value.hasPrefix("json:") {
            return "answer.text=" + ShellWord.quoted(String(value.dropFirst("json:".count)))
        }
        let seconds = DurationArgument(argument: value)?.duration.components
        if times.contains(option), let seconds, seconds.attoseconds == 0 {
            return now.replacing("{}", with: "\(seconds.seconds)")
        }
        return now.replacing("{}", with: ShellWord.quoted(value))
    }

    private static func value(of option: String, in typed: [String]) -> String? {
        for (index, word) in typed.enumerated() {
            if word.hasPrefix(option + "=") { return String(word.dropFirst(option.count + 1)) }
            guard word == option, index + 1 < typed.count else { continue }
            return typed[index + 1]
        }
        return nil
    }
}
