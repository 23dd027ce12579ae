// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// The commands of a program, and the options of each, as its help lists them.
struct CommandNames {
    let commands: [String]
    /// The options of a command, with their dashes; those of a group are one.
    private let groups: (_ command: String) -> [[String]]

    init(_ root: any ParsableCommand.Type) {
        commands = root.configuration.subcommands.map { $0._commandName }
        groups = { name in
            guard
                let command = root.configuration.subcommands.first(where: {
                    $0._commandName == name
                })
            else { return [] }
            // Those of the commands below it are its own.
            return ([command] + command.configuration.subcommands)
                .flatMap { Self.options(in: $0.helpMessage(includeHidden: true, columns: 400)) }
        }
    }

    init(_ options: [String: [String]]) {
        commands = options.keys.sorted()
        groups = { (options[$0] ?? []).map { [$0] } }
    }

    func options(_ command: String) -> [String] { groups(command).flatMap(\.self) }

    /// The words with dashes at the beginnings of lines.
    private static func options(in help: String) -> [[String]] {
        help.split(separator: "\n").compactMap { line -> [String]? in
            let words = line.split(separator: " ")
            guard line.hasPrefix("  "), words.first?.hasPrefix("-") == true else { return nil }
            return words.prefix { $0.hasPrefix("-") }.map { String($0.filter { $0 != "," }) }
        }
    }

    /// A message about options, with the names by which they were typed.
    func asTyped(_ message: String, in command: String, _ typed: [String]) -> String {
        func isTyped(_ name: String) -> Bool {
            typed.contains { $0 == name || $0.hasPrefix(name + "=") }
        }
        let groups = groups(command).filter { $0.count > 1 }
        return message.split(separator: " ", omittingEmptySubsequences: false).map { word in
            let name = String(word.prefix { $0 == "-" || $0.isLetter })
            guard let group = groups.first(where: { $0.contains(name) }), !isTyped(name),
                let other = group.first(where: isTyped)
            else { return String(word) }
            return other + word.dropFirst(name.count)
        }.joined(separator: " ")
    }

    /// The same words with each negative number as the value of the option before it.
    ///
    /// The parser takes a word that begins with a dash for an option, and none of ours is a digit.
    static func joiningNegatives(_ words: [String]) -> [String] {
        words.reduce(into: []) { joined, word in
            guard ValueForm.isNegative(word[...]), let option = joined.last, option.hasPrefix("-"),
                option != "-",
                !option.contains("=")
            else { return joined.append(word) }
            joined[joined.count - 1] = "\(option)=\(word)"
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

extension CompletionKind {
    /// The short names of the takes on the disk; an entry that is not a take has a hyphen there.
    static var takes: CompletionKind {
        .shellCommand("utter list 2>/dev/null | cut -d' ' -f1 | grep -v '^-'; echo last")
    }

    /// The names of the takes that wait for an answer, and what stands for them.
    static var waitingTakes: CompletionKind {
        .shellCommand("utter list --waiting 2>/dev/null | cut -d' ' -f1; echo last; echo all")
    }

    static var services: CompletionKind {
        .shellCommand("utter services 2>/dev/null | cut -d' ' -f1")
    }

    static var fields: CompletionKind {
        .shellCommand("utter services fields --keys 2>/dev/null")
    }

    static var microphones: CompletionKind {
        .shellCommand("utter devices --names 2>/dev/null")
    }

    static var loudspeakers: CompletionKind {
        .shellCommand("utter devices --playback --names 2>/dev/null")
    }
}
