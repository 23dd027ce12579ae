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
        "statistics": "stats", "unpause": "resume", "continue": "resume", "ui": "browse",
        // utter has none of these; the nearest name is another thing.
        "wake": "",
    ]

    /// The commands to which a take may be named by its number from the last.
    private static let takingIDs = ["show", "play", "export", "rm", "retry"]

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

    /// The parser's message, with hints that come from the words as they were typed.
    ///
    /// `help` says which command's help explains the mistake.
    init(_ message: String, help: String?, typed: [String], of names: CommandNames) {
        let (command, words) = names.command(of: typed)
        self.message = Self.sentence(names.asTyped(message, in: command, typed))
        hints = []
        let (options, others) = names.sorted(words, of: command)
        if let steps = options.compactMap({ Int($0) }).first, Self.takingIDs.contains(command) {
            hints = ["did you mean 'last~\(-steps)'?"]
        } else if let option = options.first(where: { !names.isKnown($0, to: command) }) {
            let name = String(option.prefix { $0 != "=" })
            self.message = "unknown option '\(name)'"
            hints = [Self.hint(forOption: name, of: command, names)].compactMap { $0 }
        } else if let number = options.first(where: { CommandNames.isNumber($0) }) {
            hints = ["'\(number)' is taken for an option, since it begins with '-'"]
        } else if command == names.usual {
            hints = [Self.hint(forWords: others, names)].compactMap { $0 }
        } else if let word = others.first, case let known = names.subcommands(command),
            !known.isEmpty, !known.contains(word)
        {
            self.message = "there is no command '\(command) \(word)'"
            let near = EditDistance.nearest(to: word, among: known)
            hints = near.map { ["did you mean '\(command) \($0)'?"] } ?? []
            hints.append("see 'utter \(command) --help' for the commands")
            return
        }
        if let help { hints.append(Self.sentence(help)) }
    }

    /// The mistake in letters behind a dash of which the parser has seen the h alone, and shown the
    /// help; nil when that was asked for.
    static func unknownLetters(
        in typed: [String], of names: CommandNames
    ) -> CommandLineMistake? {
        let (command, words) = names.command(of: typed)
        let letters = names.sorted(words, of: command).options.filter {
            !$0.hasPrefix("--") && $0.contains("h")
        }
        guard typed.first != "help", !typed.contains(where: { $0.hasPrefix("--help") }),
            let first = letters.first,
            letters.allSatisfy({ $0 != "-help" && !names.isKnown($0, to: command) })
        else { return nil }
        return CommandLineMistake(
            "unknown option '\(first)'",
            help: "see 'utter \(command) --help' for more information", typed: typed, of: names)
    }

    /// Advice about words that stand where a recording takes none.
    private static func hint(forWords words: [String], _ names: CommandNames) -> String? {
        guard let word = words.first else { return nil }
        if word == "-" { return "send standard input with: utter send -" }
        if isFile(word) || looksLikeAudio(word) {
            return "send a file with: utter send \(ShellWord.quoted(word))"
        }
        if names.commands.contains(word) { return "a command comes before its options" }
        return EditDistance.nearest(to: word, among: names.commands).map { "did you mean '\($0)'?" }
    }

    private init(message: String, hints: [String]) {
        (self.message, self.hints) = (message, hints)
    }

    private static func hint(
        forOption typed: String, of command: String, _ names: CommandNames
    ) -> String? {
        let own = names.options(command)
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
        let fields = own.contains("--config") ? ServiceOptions.nearest(to: name) : []
        guard !fields.isEmpty else { return joined(typed, own) }
        return "did you mean \(fields.map { "'-c \($0)=VALUE'" }.joined(separator: " or "))?"
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
