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
            "give the token with --token-file, --token-command or UTTER_TOKEN: other users can see command lines"
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
