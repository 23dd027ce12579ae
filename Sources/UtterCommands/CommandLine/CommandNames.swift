// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// The commands of a program, and the options of each, as its help lists them.
struct CommandNames {
    let commands: [String]
    private let all: [any ParsableCommand.Type]

    init(_ root: any ParsableCommand.Type) {
        all = root.configuration.subcommands
        commands = all.map { $0._commandName }
    }

    func subcommands(_ command: String) -> [String] {
        all.filter { $0._commandName == command }.flatMap { $0.configuration.subcommands }
            .map { $0._commandName }
    }

    func options(_ command: String) -> [String] { groups(command).flatMap(\.self) }

    /// The options of a command and of those below it, with their dashes; those of a group are one.
    private func groups(_ command: String) -> [[String]] {
        let named = all.filter { $0._commandName == command }
        return (named + named.flatMap { $0.configuration.subcommands })
            .flatMap { Self.options(in: $0.helpMessage(includeHidden: true, columns: 400)) }
    }

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
    ///   not an option. A word behind -- is never a command.
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
    static let takes = CompletionKind.shellCommand(
        "utter list 2>/dev/null | cut -d' ' -f1 | grep -v '^-'; echo last")
    static let waitingTakes = CompletionKind.shellCommand(
        "utter list --waiting 2>/dev/null | cut -d' ' -f1; echo last; echo all")
    static let services = CompletionKind.shellCommand("utter services 2>/dev/null | cut -d' ' -f1")
    static let fields = CompletionKind.shellCommand("utter services fields --keys 2>/dev/null")
    static let microphones = CompletionKind.shellCommand("utter devices --names 2>/dev/null")
    static let loudspeakers = CompletionKind.shellCommand(
        "utter devices --playback --names 2>/dev/null")
}
