// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import UtterCommands
@testable import UtterSettings

/// Every command, option and variable that a message or a hint names is there.
@Suite struct HintWordsTests {
    private let names = CommandNames(UtterCommand.self)
    private let manual: String

    /// The options of each command, once for all tests: a look at its help takes some milliseconds.
    private static let options: [String: [String]] = {
        let names = CommandNames(UtterCommand.self)
        return Dictionary(uniqueKeysWithValues: names.commands.map { ($0, names.options($0)) })
    }()

    init() throws {
        manual = String(decoding: try readFile(SourceTree.path("man/utter.1")), as: UTF8.self)
    }

    /// What the sources of the commands say outside of comments, a string on one line.
    static let said = Result { try read() }

    private static func read() throws -> [(file: String, text: String)] {
        try ["UtterCommands", "UtterSettings", "UtterTerminal"].flatMap { module in
            try SourceTree.files(below: "Sources/\(module)", endingWith: ".swift")
        }.map { path in
            let lines = String(decoding: try readFile(path), as: UTF8.self).split(separator: "\n")
                .filter { !$0.drop { $0 == " " }.hasPrefix("//") }
            let text = lines.joined(separator: "\n").replacing(/"\s*\+\s*"/, with: "")
            return (path, text)
        }
    }

    /// Options of other programs.
    private static let foreign: Set = [
        "--clearmodifiers", "--file", "--input", "--clipboard", "--no-repeat", "--no-startup-id",
        "--product", "--release", "--help-all", "--help-hidden", "--show-keycodes",
        "--experimental-dump-help", "--disable-pip-version-check", "--no-deps", "--require-hashes",
        "--exit-idle-time", "--no-newline", "--user", "--no-input", "--app-name",
    ]

    @Test func everyOptionThatIsNamedIsThere() async throws {
        let known = try await CommandPages.all.value.allOptions().union(Self.foreign)
        for (file, text) in try Self.said.get() where !file.hasSuffix("/Habit.swift") {
            for match in text.matches(of: /(?:^|[^A-Za-z0-9-])(--[a-z][a-z-]+)/) {
                let option = String(match.1)
                #expect(known.contains(option), "\(file): \(option)")
            }
        }
    }

    /// What follows the program's name where it is told of.
    private static let verbs: Set = [
        "answers", "asks", "does", "has", "in", "makes", "once", "reads", "records", "runs",
        "sends", "that", "waits", "was", "with",
    ]

    @Test func everyCommandThatIsNamedIsThereAndHasItsOptions() async throws {
        let pages = try await CommandPages.all.value
        var count = 0
        for (file, text) in try Self.said.get() {
            for match in text.matches(of: /[^A-Za-z_\/-]utter ([a-z]+)((?: [^;,'"\n]+)?)/) {
                let command = String(match.1)
                guard !Self.verbs.contains(command) else { continue }
                #expect(names.commands.contains(command), "\(file): utter \(command)")
                count += 1
                // Those of another program are not in the help of this one.
                let isElsewhere = ["serve", "demo", "keys"].contains(command)
                let options =
                    isElsewhere ? try pages.options(of: command) : Self.options[command] ?? []
                for option in match.2.matches(of: /--[a-z][a-z-]+/) {
                    #expect(options.contains(String(option.0)), "\(file): \(match.0)")
                }
            }
        }
        #expect(count > 60)
    }

    @Test func everyVariableThatIsNamedIsThere() throws {
        for (file, text) in try Self.said.get() {
            for variable in text.matches(of: /UTTER_[A-Z_]+/) {
                #expect(isInManual(variable.0), "\(file): \(variable.0)")
            }
        }
        for setting in KnownSettings.catalogue.all {
            guard let variable = setting.variable else { continue }
            #expect(isInManual(variable[...]), "\(variable)")
        }
    }

    private func isInManual(_ variable: Substring) -> Bool { manual.contains(variable) }

    /// The commands that lack an option, and have one of those that are meant by it.
    private func commands(lacking typed: String, having meant: [String]) -> [String] {
        names.commands.filter { command in
            let options = Self.options[command] ?? []
            return !options.contains(typed) && meant.contains(where: options.contains)
        }
    }

    @Test func everyHabitLeadsToAnOptionThatACommandHasInstead() {
        for (typed, meant) in Habit.synonyms {
            #expect(!commands(lacking: typed, having: [meant]).isEmpty, "\(typed)")
        }
        for (options, text) in Habit.advice {
            let meant = text.matches(of: /--[a-z][a-z-]+/).map { String($0.0) }
            for typed in options {
                let isOption = names.commands.contains { name in
                    Self.options[name]?.contains(typed) == true
                }
                #expect(
                    meant.isEmpty ? !isOption : !commands(lacking: typed, having: meant).isEmpty,
                    "\(typed): \(text)")
            }
        }
    }

    @Test func everyOtherNameOfACommandIsNoneItselfAndLeadsToOne() {
        for (typed, meant) in CommandLineMistake.synonyms {
            // None where utter has nothing of the kind.
            let command = meant.prefix { $0 != " " }
            let leads = meant.isEmpty || names.commands.contains(String(command))
            #expect(!names.commands.contains(typed) && leads, "\(typed)")
        }
    }

    @Test func everyOtherNameOfASettingLeadsToOne() {
        let services = ["url", "token-file", "token-command", "token-variable", "token-credential"]
            .map { "services.NAME.\($0)" }
        for (typed, meant) in KnownSettings.synonyms {
            let isThere = KnownSettings.catalogue.all.contains { $0.name == meant }
            #expect(isThere || services.contains(meant), "\(typed)")
        }
    }

    // MARK: - The manual

    /// The entries of a page's synopsis, each without the program's name.
    private static func synopsis(of page: String) -> [[Substring]] {
        page.split(separator: "\n.Sh ")[2].split(separator: "\n").dropFirst()
            .split { $0 == ".Nm" || $0 == ".Nm utter" }.map(Array.init)
    }

    @Test func theSynopsisHasTheWaysToCall() {
        #expect(
            Self.synopsis(of: manual) == [
                [".Op Ar options"], [".Ar command", ".Op Ar options", ".Op Ar word ..."],
                [".Cm help", ".Op Ar command"], [".Fl -version"],
            ])
    }

    @Test func theSynopsisOfEachPageHasItsCommandOnceWithWordsOfItsOwn() async throws {
        let pages = try await CommandPages.all.value
        #expect(try pages.folder.names().count == names.commands.count)
        for command in names.commands {
            let entries = Self.synopsis(of: try pages.page(command))
            let calls = entries.compactMap { $0.first }
            #expect(calls.first.map(String.init) == ".Cm \(command)")
            #expect(Set(calls).count == entries.count, "\(command)")
            // Those that follow are of the commands below this one.
            for call in calls.dropFirst() {
                #expect(call.hasPrefix(".Cm \(command) "), "\(call)")
            }
            for line in entries.flatMap({ $0.dropFirst() }) {
                #expect(line.wholeMatch(of: /\.(?:Op )?Ar .+/) != nil, "\(command): \(line)")
            }
        }
    }
}
