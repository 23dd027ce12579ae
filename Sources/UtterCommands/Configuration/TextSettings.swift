// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Settings
internal import Synchronization
internal import TextRules
internal import Utter
internal import UtterSettings
internal import UtterTerminal

/// The rules for texts, as the settings say them now.
enum TextSettings {
    /// The person's list of words, unless the settings name another one.
    static var usualPath: String { ConfigurationFile.folder + "/words.toml" }

    static func path() throws(CommandFailure) -> String {
        try KnownSettings.wordList.value() ?? usualPath
    }

    /// The list of words; empty where there is no file.
    static func words() throws(CommandFailure) -> WordList {
        let path = try path()
        let mark = FileMark(path, followsLinks: true)
        let known = KnownConfiguration.current.words.withLock { $0 }
        if let known, known.path == path, known.mark == mark { return known.list }
        let text = try orFailure {
            try OwnFile(path).settingsText(limit: SettingsDocument.byteLimit)
        }
        guard let text else { return WordList() }
        do throws(SettingsError) {
            let list = try WordList(text)
            if let mark {
                KnownConfiguration.current.words.withLock { $0 = (path, mark, list) }
            }
            return list
        } catch {
            throw CommandFailure(
                error.text(of: path), hint: "correct it in \(path)", status: .configuration)
        }
    }

    static func rules() throws(CommandFailure) -> TextRules { try rules(with: words()) }

    private static func rules(with words: WordList) throws(CommandFailure) -> TextRules {
        var rules = TextRules()
        rules.dropsFillers = try KnownSettings.fillers.value() == true
        rules.writesMarks = try KnownSettings.marks.value() == true
        rules.takesBack = try KnownSettings.takesBack.value() == true
        // A text may have any of several.
        rules.language = try KnownSettings.language.value().flatMap { $0.contains(",") ? nil : $0 }
        rules.words = words
        return rules
    }

    /// The words of the list that a service may expect; nil: none.
    static func vocabulary(in language: String?, within limits: VocabularyLimits) -> String? {
        // A flaw of the list is told where its rules are read.
        let list = try? words()
        let chosen = list?.vocabulary(in: language, within: limits, texts: lastTexts) ?? []
        return chosen.isEmpty ? nil : chosen.joined(separator: ", ")
    }

    /// The beginnings of the last texts, but for those of encrypted takes.
    private static func lastTexts() -> [String] {
        // A folder that cannot be read is told when a take is kept there.
        let texts = try? Spool(at: Environment.stateFolder).lastTexts(200)
        return (texts ?? []).map { String($0.prefix(4_000)) }
    }

    /// The command that reads each text; nil: none.
    static func filter() throws(CommandFailure) -> TextFilter? {
        guard let command = try KnownSettings.filter.value() else { return nil }
        return TextFilter(command, folder: Environment[filled: "XDG_RUNTIME_DIR"]) { path in
            ScrubbedEnvironment.entries() + (path.map { ["UTTER_TAKE=\($0)"] } ?? [])
        }
    }

    /// Has the text of a take go through them.
    ///
    /// A voice cannot be repeated: a list or a filter that cannot be read is told, and the text goes
    /// without it.
    static func apply(to plan: inout DeliveryPlan) {
        do throws(CommandFailure) {
            plan.rules = try rules(with: WordList())
            plan.filter = try filter()
            plan.rules.words = try words()
        } catch {
            Configuration.warn("\(error.message): texts go without it")
        }
    }
}
