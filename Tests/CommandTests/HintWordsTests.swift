// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import UtterCommands
@testable import UtterSettings

/// Every command, option and variable that a message or a hint names is there.
@Suite struct HintWordsTests {
    private let names: CommandNames
    private let manual: String

    init() throws {
        // Each look at its help takes some milliseconds.
        let program = CommandNames(UtterCommand.self)
        names = CommandNames(
            Dictionary(uniqueKeysWithValues: program.commands.map { ($0, program.options($0)) }))
        manual = String(decoding: try readFile(SourceTree.path("man/utter.1")), as: UTF8.self)
    }

    /// What the sources of the commands say outside of comments, a string on one line.
    static func said() throws -> [(file: String, text: String)] {
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
        "--experimental-dump-help",
    ]

    @Test func everyOptionThatIsNamedIsThere() throws {
        // In mdoc(7) a long option is "Fl -name".
        let known = Set(manual.matches(of: /(?:Fl|,) -([a-z][a-z-]+)/).map { "--\($0.1)" })
        for (file, text) in try Self.said()
        where !["/Habit.swift", "/FormerOption.swift"].contains(where: file.hasSuffix) {
            for match in text.matches(of: /(?:^|[^A-Za-z0-9-])(--[a-z][a-z-]+)/) {
                let option = String(match.1)
                #expect(known.union(Self.foreign).contains(option), "\(file): \(option)")
            }
        }
    }

    /// What follows the program's name where it is told of.
    private static let verbs: Set = [
        "answers", "asks", "does", "has", "in", "makes", "once", "reads", "records", "runs",
        "sends", "that", "waits", "was", "with",
    ]

    @Test func everyCommandThatIsNamedIsThereAndHasItsOptions() throws {
        var count = 0
        for (file, text) in try Self.said() {
            for match in text.matches(of: /[^A-Za-z_\/-]utter ([a-z]+)((?: [^;,'"\n]+)?)/) {
                let command = String(match.1)
                guard !Self.verbs.contains(command) else { continue }
                #expect(names.commands.contains(command), "\(file): utter \(command)")
                count += 1
                // Those of another program are the manual's alone.
                guard !["serve", "demo", "keys"].contains(command) else { continue }
                let options = names.options(command)
                for option in match.2.matches(of: /--[a-z][a-z-]+/) {
                    #expect(options.contains(String(option.0)), "\(file): \(match.0)")
                }
            }
        }
        #expect(count > 60)
    }

    @Test func everyVariableThatIsNamedIsThere() throws {
        for (file, text) in try Self.said() {
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
            let options = names.options(command)
            return !options.contains(typed) && meant.contains(where: options.contains)
        }
    }

    @Test func everyHabitLeadsToAnOptionThatACommandHasInstead() {
        for (typed, meant) in Habit.synonyms {
            #expect(!commands(lacking: typed, having: meant).isEmpty, "\(typed)")
        }
        for (options, text) in Habit.advice {
            let meant = text.matches(of: /--[a-z][a-z-]+/).map { String($0.0) }
            for typed in options {
                let isOption = names.commands.contains { names.options($0).contains(typed) }
                #expect(
                    meant.isEmpty ? !isOption : !commands(lacking: typed, having: meant).isEmpty,
                    "\(typed): \(text)")
            }
        }
    }

    @Test func everyOtherNameOfACommandIsNoneItselfAndLeadsToOne() {
        for (typed, meant) in CommandLineMistake.synonyms {
            #expect(!names.commands.contains(typed) && names.commands.contains(meant), "\(typed)")
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

    /// The synopsis by its entries: the words of each command, and the options that it shows.
    private var synopsis: [(words: [Substring], options: [String])] {
        let section = manual.split(separator: "\n.Sh ")[2].split(separator: "\n").dropFirst()
        return section.split { $0 == ".Nm" }.map { lines in
            let commands = lines.filter { $0.hasPrefix(".Cm ") }
            let options = lines.flatMap { $0.matches(of: /Fl -([a-z][a-z-]+)/) }
            return (
                commands.flatMap { $0.split(separator: " ").dropFirst() },
                options.map { "--\($0.1)" }
            )
        }
    }

    @Test func theSynopsisHasEveryCommandOnceWithOptionsOfItsOwn() {
        #expect(synopsis.count > names.commands.count)
        for (words, options) in synopsis {
            let command = words.first.map(String.init) ?? "record"
            #expect(names.commands.contains(command))
            // A second line with a command is an entry that has lost its beginning.
            let others = words.dropFirst().filter { names.commands.contains(String($0)) }
            let isInner = ["services", "setup", "key"].contains(command)
            #expect(others.isEmpty || isInner, "\(words)")
            guard !["serve", "demo", "keys"].contains(command), !isInner else { continue }
            for option in options where option != "--version" {
                #expect(names.options(command).contains(option), "\(command) \(option)")
            }
        }
        let shown = Set(synopsis.compactMap { $0.words.first.map(String.init) })
        #expect(Set(names.commands).subtracting(shown) == ["record"])
    }
}
