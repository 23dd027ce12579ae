// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// The commands of a program, and the options of each, as its help lists them.
struct CommandNames {
    /// The names of the commands.
    let commands: [String]
    /// The options of a command, with their dashes.
    let options: (_ command: String) -> [String]

    /// Those of a program.
    init(_ root: any ParsableCommand.Type) {
        commands = root.configuration.subcommands.map { $0._commandName }
        options = { name in
            guard
                let command = root.configuration.subcommands.first(where: {
                    $0._commandName == name
                })
            else { return [] }
            return Self.options(in: command.helpMessage(columns: 400))
        }
    }

    /// Those that are given; for tests.
    init(_ options: [String: [String]]) {
        commands = options.keys.sorted()
        self.options = { options[$0] ?? [] }
    }

    /// The words with dashes at the beginnings of lines.
    private static func options(in help: String) -> [String] {
        help.split(separator: "\n").flatMap { line -> [String] in
            let words = line.split(separator: " ")
            guard line.hasPrefix("  "), words.first?.hasPrefix("-") == true else { return [] }
            return words.prefix { $0.hasPrefix("-") }.map { String($0.filter { $0 != "," }) }
        }
    }

    /// The same words with the command first, where options stand before it.
    ///
    /// - Returns: one order for each word that is a command's name; none when the first word is
    ///   no option. What follows -- is never a command.
    func commandFirst(_ words: [String]) -> [[String]] {
        guard words.first?.hasPrefix("-") == true else { return [] }
        let limit = words.firstIndex(of: "--") ?? words.count
        return words[..<limit].indices.filter { commands.contains(words[$0]) }.map { index in
            [words[index]] + words[..<index] + words[(index + 1)...]
        }
    }
}
