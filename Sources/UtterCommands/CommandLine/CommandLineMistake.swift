// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Settings
internal import UtterTerminal

/// What is wrong with a command line, and what to type instead.
struct CommandLineMistake: Error, Equatable {
    var message: String
    var hints: [String]

    static let synonyms = [
        "ls": "list", "history": "list", "log": "list", "rec": "record", "listen": "record",
        "upload": "send", "transcribe": "send", "file": "send", "resend": "retry", "sync": "flush",
        "print": "show", "info": "show",
        "cat": "last", "text": "last", "remove": "rm", "delete": "rm", "del": "rm",
        "save": "export", "copy": "export", "cp": "export", "hear": "play", "mics": "devices",
        "server": "serve", "try": "demo",
    ]

    /// Endings of files that people want to send.
    private static let endings = [
        ".wav", ".mp3", ".m4a", ".mp4", ".ogg", ".opus", ".flac", ".webm", ".aac", ".aiff",
        ".wma", ".amr", ".raw", ".pcm",
    ]

    /// The mistake in a word that stands where a command belongs; nil when it is a command.
    ///
    /// - Parameters:
    ///   - words: the command line without the program's name.
    ///   - names: the commands that there are.
    ///   - isFile: whether a word is the path of a file.
    /// - Returns: what to say of it.
    static func unknownCommand(
        in words: [String], of names: CommandNames, isFile: (String) -> Bool = Self.isFile
    ) -> CommandLineMistake? {
        let isHelp = words.first == "help"
        guard let word = isHelp ? words.dropFirst().first : words.first, !word.hasPrefix("-"),
            word != "help", !names.commands.contains(word)
        else { return nil }
        var mistake = CommandLineMistake(message: "there is no command '\(word)'", hints: [])
        if !isHelp, names.commands.contains("send"), isFile(word) || looksLikeAudio(word) {
            mistake.hints = ["send a file with: utter send \(ShellWord.quoted(word))"]
        } else if let dash = word.first, "\u{2010}"..."\u{2015}" ~= dash || dash == "\u{2212}" {
            mistake.hints = ["an option begins with '-', and this with another dash: '\(dash)'"]
        } else if let meant = synonyms[word.lowercased()].flatMap({
            names.commands.contains($0) ? $0 : nil
        }) ?? EditDistance.nearest(to: word.lowercased(), among: names.commands) {
            mistake.hints = ["did you mean '\(meant)'?"]
        }
        mistake.hints.append("see 'utter --help' for the commands")
        return mistake
    }

    /// Translates the parser's message into one of ours.
    ///
    /// - Parameters:
    ///   - message: what the parser says.
    ///   - help: its last line, which names the command whose help explains it.
    ///   - typed: the command line without the program's name.
    ///   - names: the commands that there are.
    ///   - isFile: whether a word is the path of a file.
    init(
        _ message: String, help: String?, typed: [String] = [], of names: CommandNames,
        isFile: (String) -> Bool = Self.isFile
    ) {
        let quoted = message.split(separator: "'", omittingEmptySubsequences: false)
        let word = quoted.count > 1 ? String(quoted[1]) : ""
        let command = help.flatMap { line in names.commands.first { line.contains(" \($0) ") } }
        self.message = Self.sentence(
            command.map { names.asTyped(message, in: $0, typed) } ?? message)
        hints = []
        if message.hasPrefix("Unknown option") {
            self.message = "unknown option '\(word)'"
            hints = [Self.hint(forOption: word, in: typed, of: command, names)].compactMap { $0 }
        } else if message.hasPrefix("Unexpected argument"), word == "-" {
            hints = ["send standard input with: utter send -"]
        } else if message.hasPrefix("Unexpected argument"), command == "record",
            isFile(word) || Self.looksLikeAudio(word)
        {
            hints = ["send a file with: utter send \(ShellWord.quoted(word))"]
        } else if message.hasPrefix("Unexpected argument"), command == "record",
            let meant = EditDistance.nearest(to: word, among: names.commands)
        {
            hints = ["did you mean '\(meant)'?"]
        } else if let explanation = ValueForm.explanation(of: message) {
            self.message = explanation
        }
        if let help { hints.append(Self.sentence(help)) }
    }

    private init(message: String, hints: [String]) {
        (self.message, self.hints) = (message, hints)
    }

    private static func hint(
        forOption typed: String, in words: [String], of command: String?, _ names: CommandNames
    ) -> String? {
        let own = command.map(names.options) ?? []
        if let command, ["show", "play", "export", "rm", "retry"].contains(command),
            let steps = Int(typed.dropFirst()), typed.first == "-", steps > 0
        {
            return "did you mean 'last~\(steps)'?"
        }
        if own.contains("--config"), let hint = FormerOption.hint(for: typed, in: words) {
            return hint
        }
        if let hint = Habit.hint(for: typed, among: own) { return hint }
        let others = names.commands.filter { names.options($0).contains(typed) }
        if typed.hasPrefix("--"), !others.isEmpty {
            return "'\(typed)' is an option of: "
                + others.map { "utter \($0)" }.joined(separator: ", ")
        }
        guard typed.hasPrefix("--") else { return joined(typed, own) }
        let long = own.filter { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) }
        let near = EditDistance.nearest(to: String(typed.dropFirst(2)), among: long)
        return near.map { "did you mean '--\($0)'?" } ?? joined(typed, own)
    }

    /// What to write for an option whose number stands right behind it; nil for anything else.
    private static func joined(_ typed: String, _ options: [String]) -> String? {
        let option = typed.prefix { $0 == "-" || $0.isLetter }
        let name = option.hasPrefix("--") ? option : option.prefix(2)
        let value = typed.dropFirst(name.count)
        guard options.contains(String(name)), value.first?.isNumber == true || value.hasPrefix("-")
        else { return nil }
        return "write it like: \(name) \(value)"
    }

    /// The parser's sentence the way ours are written: no capital, no full stop.
    private static func sentence(_ text: String) -> String {
        let text = text.drop { $0.isWhitespace }
        let body = text.last == "." ? text.dropLast() : text
        return body.prefix(1).lowercased() + body.dropFirst()
    }

    private static func looksLikeAudio(_ word: String) -> Bool {
        endings.contains { word.lowercased().hasSuffix($0) }
    }

    private static func isFile(_ word: String) -> Bool { unsafe access(word, R_OK) == 0 }

    func report() {
        StandardError.error(message)
        for hint in hints { StandardError.hint(hint) }
    }
}
