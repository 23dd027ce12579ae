// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import TestSupport
import Testing

@testable import UtterCommands
@testable import UtterSettings

/// The manual names what the program has, and nothing else, and explains each thing in one place:
/// an option on the page of its command, a concept in `utter.1`.
@Suite struct ManualTests {
    private let pages: CommandPages
    private let commands = CommandNames(UtterCommand.self).commands
    private let lines: [Substring]

    init() async throws {
        pages = try await CommandPages.all.value
        let manual = try readFile(SourceTree.path("man/utter.1"))
        lines = String(decoding: manual, as: UTF8.self).split(separator: "\n")
    }

    @Test func eachOptionIsExplainedOnceOnThePageOfItsCommand() async throws {
        var count = 0
        for command in UtterCommand.configuration.subcommands {
            let name = command._commandName
            let helped = try await Self.help(of: command).flatMap(Self.options)
            #expect(try pages.options(of: name).sorted() == helped.sorted(), "\(name)")
            count += helped.count
        }
        #expect(count > 200)
        let others = lines.filter { $0.hasPrefix(".It Fl ") }
        #expect(others.isEmpty, "explained beside its command's page: \(others)")
    }

    @Test func theManualNamesOnlyOptionsThatThePagesExplain() throws {
        let known = try pages.allOptions().union(["--help-all"])
        // Examples of systemd have its options.
        for line in lines where !line.contains("systemctl") {
            // In mdoc(7) a long option is "Fl -name"; plain text has it as it is typed.
            let macros = line.matches(of: /(?:Fl|,) -([a-z][a-z-]+)/).map { "--\($0.1)" }
            let typed = line.matches(of: /(?:^|[^A-Za-z0-9-])(--[a-z][a-z-]+)/).map { String($0.1) }
            for option in macros + typed { #expect(known.contains(option), "\(line)") }
        }
    }

    @Test func anOptionThatIsNamedWithACommandIsOneOfIts() throws {
        for line in lines {
            for match in line.matches(of: /\.Cm ([a-z]+)(?: [^-]*)? Fl -([a-z][a-z-]+)/)
            where commands.contains(String(match.1)) {
                let options = try pages.options(of: String(match.1))
                #expect(options.contains("--\(match.2)"), "\(line)")
            }
        }
    }

    @Test func theManualListsEveryCommandOnce() {
        #expect(commands.count >= 6)
        let listed = lines.compactMap { $0.wholeMatch(of: /\.It Xr utter-([a-z]+) 1/) }
            .map { String($0.1) }
        #expect(listed.sorted() == commands.sorted())
    }

    @Test func everyFieldAndSettingThatIsNamedIsThere() async throws {
        let fields = try await Bench().here("services", "fields", "--keys").outputText
        // Each is printed as it is typed, with the sign behind it.
        let known = Set(
            fields.split { "=\n".contains($0) }.map(String.init)
                + KnownSettings.catalogue.all.map(\.name))
        #expect(known.count > 100)
        var count = 0
        // Files have names of that kind, too.
        for line in lines where !line.contains("Pa ") {
            for match in line.matches(
                of:
                    /\b(?:auth|body|transfer|connection|answer|retry|recording|keep|limits|encryption|output|terminal)\.[a-z][a-z-]*/
            ) {
                #expect(known.contains(String(match.0)), "\(line)")
                count += 1
            }
        }
        #expect(count > 20)
    }

    @Test func documentsNameOnlyCommandsAndOptionsThatAreThere() throws {
        let options = try pages.allOptions().union(["--help", "--help-all", "--version"])
        let names = Set(commands + ["help"])
        let documents =
            ["README", "ARCHITECTURE", "CONTRIBUTING"]
            + [
                "cassettes", "control", "fleet", "keys", "metrics", "profiles", "recogniser",
                "services", "using",
            ].map { "docs/\($0)" }
        var count = 0
        for document in documents {
            let text = String(
                decoding: try readFile(SourceTree.path("\(document).md")), as: UTF8.self)
            for line in text.split(separator: "\n") {
                // What is typed: in a block behind its prompt and before its comment, or in a sentence.
                let calls =
                    line.hasPrefix("$ ")
                    ? (line.split(separator: "  #").first ?? line)
                        .matches(of: /\butter ([^|;&#()]*)/).map(\.1)
                    : line.matches(of: /`utter ([^`]+)`/).map(\.1)
                for call in calls {
                    let words = call.split(separator: " ")
                    if let word = words.first, word.wholeMatch(of: /[a-z]+/) != nil {
                        #expect(names.contains(String(word)), "\(document): \(line)")
                    }
                    for word in words.compactMap({ $0.firstMatch(of: /^--[a-z][a-z-]+/)?.0 }) {
                        #expect(options.contains(String(word)), "\(document): \(line)")
                    }
                    count += 1
                }
            }
        }
        #expect(count > 150)
    }

    // MARK: - What the help says

    /// The whole help of a command, or of each below it; another program tells its own.
    private static func help(of command: any ParsableCommand.Type) async throws -> [String] {
        guard command is any OtherCommand.Type else {
            let below = command.configuration.subcommands
            return (below.isEmpty ? [command] : below).map {
                UtterCommand.helpMessage(for: $0, includeHidden: true, columns: 100_000)
            }
        }
        let (bench, name) = (try Bench(), command._commandName)
        let help = try await bench.run(name, "--help-all").outputText
        var below: [String] = []
        for inner in Self.commands(in: help) {
            below.append(try await bench.run(name, inner, "--help-all").outputText)
        }
        return below.isEmpty ? [help] : below
    }

    private static func commands(in help: String) -> [String] {
        let lists = help.split(separator: "SUBCOMMANDS:", maxSplits: 1).dropFirst()
        return lists.flatMap { $0.split(separator: "\n") }
            .compactMap { $0.firstMatch(of: /^  ([a-z]+)  */).map { String($0.1) } }
    }

    private static func options(in help: String) -> [String] {
        help.split(separator: "\n").filter { $0.hasPrefix("  -") }.flatMap { line in
            line.split(separator: " ").prefix { $0.hasPrefix("-") }
                .map { String($0.filter { $0 != "," }) }.filter { $0.hasPrefix("--") }
        }
    }
}
