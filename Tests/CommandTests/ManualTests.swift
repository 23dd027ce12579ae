// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// The manual page names what the program has, and nothing else.
@Suite struct ManualTests {
    @Test func theManualAndTheHelpNameTheSameOptions() async throws {
        let bench = try Bench()
        var helped: Set<String> = []
        for command in try await commands(bench) {
            let help = try await bench.run(command, "--help-all").outputText
            helped.formUnion(help.matches(of: /--[a-z][a-z-]+/).map { String($0.0) })
            for inner in try commands(in: help) {
                let help = try await bench.run(command, inner, "--help-all").outputText
                helped.formUnion(help.matches(of: /--[a-z][a-z-]+/).map { String($0.0) })
            }
        }
        let page = String(
            decoding: try readFile(SourceTree.path("man/utter.1")), as: UTF8.self)
        // In mdoc(7) a long option is "Fl -name".
        let described = Set(
            page.matches(of: /(?:Fl|,) -([a-z][a-z-]+)/).map { "--\($0.1)" })
        // The manual's examples use options of opusdec and others in plain text only.
        #expect(helped.subtracting(described).isEmpty)
        #expect(described.subtracting(helped).isEmpty)
    }

    @Test func theManualListsEveryCommand() async throws {
        let commands = try await commands(try Bench())
        let page = String(
            decoding: try readFile(SourceTree.path("man/utter.1")), as: UTF8.self)
        #expect(commands.count >= 6)
        for command in commands { #expect(page.contains(".Cm \(command)"), "\(command)") }
    }

    /// The commands that the program's help lists.
    private func commands(_ bench: Bench) async throws -> [String] {
        try commands(in: await bench.run("--help").outputText)
    }

    private func commands(in help: String) throws -> [String] {
        guard help.contains("SUBCOMMANDS:") else { return [] }
        return try #require(help.split(separator: "SUBCOMMANDS:").last)
            .split(separator: "\n")
            .compactMap { $0.firstMatch(of: /^  ([a-z]+)  */).map { String($0.1) } }
    }
}
