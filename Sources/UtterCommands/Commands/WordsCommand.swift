// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import LinuxPlatform
internal import Settings
internal import TextRules
internal import Utter
internal import UtterSettings
internal import UtterTerminal

struct WordsCommand: SettinglessCommand {
    enum Action: String, CaseIterable {
        case list, add, rm, suggest, `import`, export
    }

    static let configuration = CommandConfiguration(
        commandName: "words", abstract: "Say how words are to be written.",
        discussion: """
              list      print the words of the list
              add       write SAID as WRITTEN from now on, such as "cube control" as
                        kubectl; "" leaves it out
              rm        take SAID off the list
              suggest   print the words that you have corrected twice
              import    add the lines of a CSV file: said,written,language
              export    print the list as such a file

            A word is found whatever the case of its letters, and where it stands by itself. It is
            written as the list says. The list is the file words.toml beside the settings. Services
            that take a prompt are told to expect its words.
            """)

    @Argument(
        help: "What to do: list, add, rm, suggest, import or export.",
        completion: .list(Action.allCases.map(\.rawValue)), transform: Action.init(parsing:))
    var action = Action.list

    @Argument(help: "The word as it is recognised, or a file.", completion: .file())
    var said: String?

    @Argument(help: "The word as it is to be written.")
    var written: String?

    @Option(
        help: ArgumentHelp("For texts in this language alone, such as de.", valueName: "language"))
    var language: String?

    func validate() throws {
        if language != nil, ![.add, .rm].contains(action) {
            throw ValidationError("--language is for 'add' and 'rm'.")
        }
        let wanted = action == .add ? 2 : [.rm, .import].contains(action) ? 1 : 0
        guard [said, written].compactMap(\.self).count != wanted else { return }
        switch action {
        case .add: throw ValidationError("Write: utter words add SAID WRITTEN")
        case .rm: throw ValidationError("Write: utter words rm SAID")
        case .import: throw ValidationError("Write: utter words import FILE")
        default: throw ValidationError("'\(action)' takes no word.")
        }
    }

    func run() throws {
        let entry = WordList.Entry(said ?? "", written ?? "", inLanguage: language)
        switch action {
        case .list: try list()
        case .add: try WordFile.add([entry])
        case .rm: try WordFile.remove(entry)
        case .suggest: try suggest()
        case .import:
            let bytes = try explained(
                "cannot read '\(TerminalText.shown(said ?? ""))'", hint: "name a CSV file",
                status: .noInput
            ) { try readFile(said ?? "", limit: 1 << 20) }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw CommandFailure(
                    "'\(TerminalText.shown(said ?? ""))' is not UTF-8",
                    hint: "convert it first, such as with: iconv -f latin1 -t utf-8 "
                        + ShellWord.quoted(said ?? ""), status: .unusableAudio)
            }
            let entries = try WordFile.entries(inCSV: text)
            try WordFile.add(entries)
            StandardError.line("read \(entries.count) \(entries.count == 1 ? "row" : "rows")")
        case .export:
            let rows = try TextSettings.words().entries.map {
                [$0.said, $0.written, $0.language ?? ""]
            }
            let lines = ([["said", "written", "language"]] + rows).map(WordFile.line)
            try StandardOutput.show(lines.joined(separator: "\n"))
        }
    }

    private func list() throws {
        let entries = try TextSettings.words().entries
        guard !entries.isEmpty else {
            StandardError.line("there are no words yet")
            return StandardError.hint("add one with: utter words add SAID WRITTEN")
        }
        let lines = entries.map { entry in
            let end = entry.written.isEmpty ? "left out" : entry.written
            return "\(entry.said) → \(end)" + (entry.language.map { "  (\($0))" } ?? "")
        }
        try StandardOutput.show(lines.joined(separator: "\n"))
    }

    /// Prints what was corrected in two takes at least; nothing of an encrypted one.
    private func suggest() throws {
        var takes: [Correction: [String]] = [:]
        var texts: [String] = []
        for take in try Spool(EncryptionOptions.parse([])).takes() {
            guard let known = take.known, !known.isEncrypted else { continue }
            texts.append(known.transcript ?? "")
            guard let before = known.unedited else { continue }
            for correction in Set(Correction.all(from: before, to: known.transcript ?? "")) {
                takes[correction, default: []].append(take.id.shortName)
            }
        }
        let entries = try TextSettings.words().entries
        let known = Set(entries.map { $0.subject.dropFirst() })
        takes = takes.filter { correction, takes in
            takes.count > 1
                && !known.contains(WordList.Entry(correction.said, "").subject.dropFirst())
                && !texts.contains(where: correction.isMeant)
        }
        let lines = takes.map {
            "utter words add \(ShellWord.quoted($0.said)) \(ShellWord.quoted($0.written))"
                + "  # in \($1.joined(separator: ", "))"
        }
        guard !lines.isEmpty else {
            StandardError.line("there is nothing to propose")
            return StandardError.hint(
                "a word is proposed that 'utter edit' has corrected in two takes, by a third of its "
                    + "letters at most; 'utter words add' adds any other")
        }
        try StandardOutput.show(lines.sorted().joined(separator: "\n"))
    }
}

/// The person's list of words as a file, which stays as it is written but for the words that change.
enum WordFile {
    static func add(_ entries: [WordList.Entry]) throws(CommandFailure) {
        for entry in entries {
            guard let mistake = entry.mistake else { continue }
            throw CommandFailure("'\(TerminalText.shown(entry.said))': \(mistake)", status: .usage)
        }
        try change("a word") { text, known throws(SettingsText.Mistake) in
            let known = Dictionary(known.map { ($0.subject, $0) }) { $1 }
            let last = Dictionary(entries.map { ($0.subject, $0) }) { $1 }
            for (subject, entry) in last {
                guard let old = known[subject], old.written != entry.written else { continue }
                text = try SettingsText(text)
                    .setting(path(of: old), to: TOMLText.quoted(entry.written))
            }
            var seen = Set(known.keys)
            let new = entries.filter {
                last[$0.subject] == $0 && seen.insert($0.subject).inserted
            }
            for (language, words) in Dictionary(grouping: new, by: \.language) {
                text = try SettingsText(text).adding(
                    words.map { ($0.said, TOMLText.quoted($0.written)) },
                    to: language.map { [$0] } ?? [])
            }
        }
    }

    static func remove(_ entry: WordList.Entry) throws(CommandFailure) {
        try change("'\(entry.said)'") { text, known throws(SettingsText.Mistake) in
            let old = known.last { $0.subject == entry.subject } ?? entry
            text = try SettingsText(text).removing(path(of: old))
        }
    }

    private static func path(of entry: WordList.Entry) -> [String] {
        (entry.language.map { [$0] } ?? []) + [entry.said]
    }

    private static func change(
        _ word: String,
        _ body: (inout String, [WordList.Entry]) throws(SettingsText.Mistake) -> Void
    ) throws(CommandFailure) {
        try ConfigurationFile.makeFolder()
        let lock = try orFailure { try ConfigurationFile.lock() }
        defer { lock?.unlock() }
        // A mistake in the file is told before it is changed.
        let known = try TextSettings.words().entries
        let path = try TextSettings.path()
        var text =
            try orFailure {
                try OwnFile(path).settingsText(limit: SettingsDocument.byteLimit)
            } ?? ""
        do throws(SettingsText.Mistake) {
            try body(&text, known)
            // A word may have the name of a table.
            guard (try? WordList(text)) != nil else { throw SettingsText.Mistake.tooElaborate(nil) }
        } catch {
            let reason = error == .notThere ? "\(word) is not in" : "only an editor can change"
            throw CommandFailure(
                "\(reason) \(path)", hint: "see the words with: utter words",
                status: .configuration)
        }
        try ConfigurationFile.replace(text, at: path)
    }

    /// A line of CSV (RFC 4180).
    static func line(_ fields: [String]) -> String {
        fields.map { field in
            field.contains { ",\"\r\n".contains($0) }
                ? "\"\(field.replacing("\"", with: "\"\""))\"" : field
        }.joined(separator: ",")
    }

    /// The words of a CSV file, which may begin with a line of names.
    static func entries(inCSV text: String) throws(CommandFailure) -> [WordList.Entry] {
        var (rows, field, isQuoted): ([[String]], String, Bool) = ([[]], "", false)
        var scalars = Array(text.unicodeScalars.drop { $0 == "\u{FEFF}" })[...]
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "\"" where isQuoted && scalars.first == "\"":
                field.unicodeScalars.append("\"")
                scalars.removeFirst()
            case "\"": isQuoted.toggle()
            case "," where !isQuoted, "\n" where !isQuoted:
                rows[rows.count - 1].append(field)
                field = ""
                if scalar == "\n" { rows.append([]) }
            case "\r" where !isQuoted: break
            default: field.unicodeScalars.append(scalar)
            }
        }
        rows[rows.count - 1].append(field)
        let words = rows.filter {
            $0.contains { !$0.allSatisfy(\.isWhitespace) } && $0.first?.lowercased() != "said"
        }
        return try words.map { row throws(CommandFailure) in
            guard (2...3).contains(row.count) else {
                let number = (rows.firstIndex(of: row) ?? 0) + 1
                throw CommandFailure(
                    "row \(number) has \(row.count) fields: '\(TerminalText.shown(row[0]))…'",
                    hint: "each is said,written or said,written,language", status: .unusableAudio)
            }
            let fields = row.map { field in
                String(field.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }
            let language = fields.count == 3 && !fields[2].isEmpty ? fields[2] : nil
            return .init(fields[0], fields[1], inLanguage: language)
        }
    }
}
