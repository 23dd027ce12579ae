// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Settings
internal import UtterTerminal

struct CommandLineMistake: Error {
    var message: String
    var hints: [String]

    static let synonyms = [
        "ls": "list", "history": "list", "log": "list", "rec": "record", "listen": "record",
        "upload": "send", "transcribe": "send", "file": "send", "resend": "retry", "sync": "flush",
        "print": "show", "info": "show",
        "cat": "last", "text": "last", "remove": "rm", "delete": "rm", "del": "rm",
        "save": "export", "cp": "export", "hear": "play", "mics": "devices",
        "server": "serve", "try": "demo", "copy": "last --copy", "paste": "last --type",
        "type": "last --type",
        // utter has none of these; the nearest name is another thing.
        "stats": "", "statistics": "", "pause": "",
    ]

    private static let endings = [
        ".wav", ".mp3", ".m4a", ".mp4", ".ogg", ".opus", ".flac", ".webm", ".aac", ".aiff",
        ".wma", ".amr", ".raw", ".pcm",
    ]

    /// The mistake in a word that stands where a command belongs; nil when it is a command.
    ///
    /// The words are the command line without the program's name.
    static func unknownCommand(
        in words: [String], of names: CommandNames
    ) -> CommandLineMistake? {
        let isHelp = words.first == "help"
        guard var word = isHelp ? words.dropFirst().first : words.first, !word.hasPrefix("-"),
            word != "help"
        else { return nil }
        var (command, known) = ("", names.commands)
        if isHelp, known.contains(word), let inner = words.dropFirst(2).first {
            // The parser would show the help of the command instead.
            (command, known, word) = (word + " ", names.subcommands(word), inner)
            guard !known.isEmpty, !word.hasPrefix("-") else { return nil }
        }
        guard !known.contains(word) else { return nil }
        var mistake = CommandLineMistake(
            message: "there is no command '\(command)\(word)'", hints: [])
        if !isHelp, names.commands.contains("send"), isFile(word) || looksLikeAudio(word) {
            mistake.hints = ["send a file with: utter send \(ShellWord.quoted(word))"]
        } else if let dash = word.first, "\u{2010}"..."\u{2015}" ~= dash || dash == "\u{2212}" {
            mistake.hints = ["an option begins with '-', and this with another dash: '\(dash)'"]
        } else if let meant = synonyms[word.lowercased()].flatMap({
            known.contains(String($0.prefix { $0 != " " })) || $0.isEmpty ? $0 : nil
        }) ?? EditDistance.nearest(to: word.lowercased(), among: known), !meant.isEmpty {
            mistake.hints = ["did you mean '\(command)\(meant)'?"]
        }
        mistake.hints.append("see 'utter \(command)--help' for the commands")
        return mistake
    }

    /// Translates the parser's message into one of ours.
    ///
    /// Its last line is `help`, which names the command whose help explains the mistake.
    init(_ message: String, help: String?, typed: [String], of names: CommandNames) {
        let quoted = message.split(separator: "'", omittingEmptySubsequences: false)
        let word = quoted.count > 1 ? String(quoted[1]) : ""
        let command = names.commands.first { help?.contains("utter \($0) ") == true }
        self.message = Self.sentence(
            command.map { names.asTyped(message, in: $0, typed) } ?? message)
        hints = []
        if message.hasPrefix("Unknown option") {
            self.message = "unknown option '\(word)'"
            hints = [Self.hint(forOption: word, of: command, names)].compactMap { $0 }
        } else if message.hasPrefix("Unexpected argument"), word == "-" {
            hints = ["send standard input with: utter send -"]
        } else if message.hasPrefix("Unexpected argument"), command == "record",
            Self.isFile(word) || Self.looksLikeAudio(word)
        {
            hints = ["send a file with: utter send \(ShellWord.quoted(word))"]
        } else if message.hasPrefix("Unexpected argument"), let command {
            let known = command == "record" ? names.commands : names.subcommands(command)
            let outer = command == "record" ? "" : command + " "
            let meant = EditDistance.nearest(to: word, among: known)
            hints = meant.map { ["did you mean '\(outer)\($0)'?"] } ?? []
        } else if let explanation = ValueForm.explanation(of: message) {
            self.message = explanation
        }
        if let help { hints.append(Self.sentence(help)) }
    }

    private init(message: String, hints: [String]) {
        (self.message, self.hints) = (message, hints)
    }

    private static func hint(
        forOption typed: String, of command: String?, _ names: CommandNames
    ) -> String? {
        let own = command.map(names.options) ?? []
        if let command, ["show", "play", "export", "rm", "retry"].contains(command),
            let steps = Int(typed.dropFirst()), typed.first == "-", steps > 0
        {
            return "did you mean 'last~\(steps)'?"
        }
        if let hint = Habit.hint(for: typed, among: own) { return hint }
        let others = names.commands.filter { names.options($0).contains(typed) }
        if typed.hasPrefix("--"), !others.isEmpty {
            return "'\(typed)' is an option of: "
                + others.map { "utter \($0)" }.joined(separator: ", ")
        }
        guard typed.hasPrefix("--") else { return joined(typed, own) }
        let long = own.filter { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) }
        let name = String(typed.dropFirst(2))
        if let near = EditDistance.nearest(to: name, among: long) {
            return "did you mean '--\(near)'?"
        }
        let field = own.contains("--config") ? ServiceOptions.nearest(to: name) : nil
        return field.map { "did you mean '-c \($0)=VALUE'?" } ?? joined(typed, own)
    }

    /// The right form of an option whose number stands right behind it; nil for anything else.
    private static func joined(_ typed: String, _ options: [String]) -> String? {
        let option = typed.prefix { $0 == "-" || $0.isLetter }
        let name = option.hasPrefix("--") ? option : option.prefix(2)
        let value = typed.dropFirst(name.count)
        guard options.contains(String(name)), value.first?.isNumber == true || value.hasPrefix("-")
        else { return nil }
        return "write it like: \(name) \(value)"
    }

    private static func sentence(_ text: String) -> String {
        let text = text.drop { $0.isWhitespace }
        let body = text.last == "." ? text.dropLast() : text
        return body.prefix(1).lowercased() + body.dropFirst()
    }

    private static func looksLikeAudio(_ word: String) -> Bool {
        endings.contains { word.lowercased().hasSuffix($0) }
    }

    private static func isFile(_ word: String) -> Bool { unsafe access(word.cPath, R_OK) == 0 }

    func report() {
        StandardError.error(message)
        for hint in hints { StandardError.hint(hint) }
    }
}

/// The forms of a value, by the name that help gives it.
enum ValueForm {
    private static let forms = [
        "time": "a time: write 5s, 1m30s, 500ms or 1:30",
        "size": "a size: write 500M, 4G or a number of bytes",
        "pace": "a pace: write realtime, max or a factor from 0.1 to 1000",
        "rate": "a rate: write 4x, 64k or a number of bytes a second",
        "hertz": "a rate: write a number of Hz, such as 48000",
        "count": count, "jobs": count, "limit": count, "max-recognitions": count,
        "port": "a port: write a number from 0 to 65535",
        "max-body": "a size: write a number of bytes",
        "older": age, "max-age": age, "age": age,
    ]
    private static let count = "a count: write a number, such as 2"
    private static let age = "an age: write a number with its unit, such as 7d, 12h or 30m"

    static func isNegative(_ value: Substring) -> Bool {
        value.hasPrefix("-") && value.dropFirst().first { $0 != "." }?.isNumber == true
    }

    /// The parser's words about a value, in ours; nil when they are about something else.
    static func explanation(of message: String) -> String? {
        // The value 'abc' is invalid for '--for <time>'[: reason][. Please provide one of a or b.]
        let head = "The value '"
        let middle = "' is invalid for '"
        guard message.hasPrefix(head), let joint = message.ranges(of: middle).last else {
            return nil
        }
        let value = message[..<joint.lowerBound].dropFirst(head.count)
        let parts = message[joint.upperBound...].split(
            separator: "'", maxSplits: 1, omittingEmptySubsequences: false)
        let words = parts[0].split(separator: " ")
        guard let option = words.first, let name = words.last, parts.count == 2 else { return nil }
        // An argument has no name that a person types.
        let typed = (option.hasPrefix("<") ? "" : "\(option): ") + "'\(value)' is "
        if let form = forms[String(name.filter { $0 != "<" && $0 != ">" })] {
            let cure = form.drop { $0 != ":" }
            return typed + (isNegative(value) ? "below zero\(cure)" : "not \(form)")
        }
        let choice = parts[1].split(separator: "Please provide one of ").last
        guard parts[1].hasPrefix(". Please"), let choice else { return nil }
        // The parser lists many choices one a line.
        let listed = choice.split(separator: "\n").dropFirst().map {
            "'\($0.drop { " -".contains($0) })'"
        }
        if let last = listed.last {
            let others = listed.dropLast().joined(separator: ", ")
            return typed + "not known: write \(others) or \(last)"
        }
        let choices = choice.last == "." ? choice.dropLast() : choice
        return typed + "not known: write " + choices.replacing("' and '", with: "' or '")
    }
}
