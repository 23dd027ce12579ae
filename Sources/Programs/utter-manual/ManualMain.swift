// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Writes a manual page for each command of a program: `manual FOLDER DATE <DUMP`, where DUMP is
/// what the program prints with `--experimental-dump-help`.
///
/// For the installation alone; it is not installed.
@main
enum ManualMain {
    static func main() throws {
        let words = CommandLine.arguments
        guard words.count == 3 else {
            throw Mistake(description: "usage: manual FOLDER DATE <DUMP")
        }
        var dump = ""
        while let line = readLine(strippingNewline: false) { dump += line }
        let program = try JSONDecoder().decode(ToolInfo.self, from: Data(dump.utf8)).command
        for command in program.subcommands ?? []
        where command.shouldDisplay != false && command.commandName != "help" {
            let page = ManualPage(of: command, program: program.commandName, date: words[2])
            let path = "\(words[1])/\(program.commandName)-\(command.commandName).1"
            try Data(page.text.utf8).write(to: URL(filePath: path))
        }
    }

    private struct Mistake: Error, CustomStringConvertible {
        let description: String
    }
}

/// The part of `--experimental-dump-help` that a manual needs.
struct ToolInfo: Decodable {
    struct Command: Decodable {
        var commandName: String
        var shouldDisplay: Bool?
        var abstract: String?
        var discussion: String?
        var subcommands: [Command]?
        var arguments: [Argument]?
    }

    struct Argument: Decodable {
        /// With its dashes left out.
        struct Name: Decodable {
            var kind: String
            var name: String
        }

        var kind: String
        var sectionTitle: String?
        var isOptional: Bool
        var isRepeating: Bool
        var names: [Name]?
        var valueName: String?
        var defaultValue: String?
        var abstract: String?
        var discussion: String?
    }

    var command: Command
}
