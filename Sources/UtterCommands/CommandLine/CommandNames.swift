// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// The commands of a program, and the options of each, as its help lists them.
struct CommandNames {
    let commands: [String]
    /// The command that is meant where none is named.
    let usual: String
    private let all: [any ParsableCommand.Type]

    init(_ root: any ParsableCommand.Type) {
        all = root.configuration.subcommands
        usual = root.configuration.defaultSubcommand?._commandName ?? ""
        commands = all.map { $0._commandName }
    }

    func subcommands(_ command: String) -> [String] {
        all.filter { $0._commandName == command }.flatMap { $0.configuration.subcommands }
            .map { $0._commandName }
    }

    func options(_ command: String) -> [String] { groups(command).flatMap(\.names) }

    /// The command of a command line, which stands first, and the words behind it.
    func command(of typed: [String]) -> (name: String, words: ArraySlice<String>) {
        guard let first = typed.first, commands.contains(first) else { return (usual, typed[...]) }
        return (first, typed.dropFirst())
    }

    /// The options among the words of a command, and the words that are no option and no option's value.
    func sorted(
        _ words: ArraySlice<String>, of command: String
    ) -> (options: [String], others: [String]) {
        let valued = Set(groups(command).filter(\.hasValue).flatMap(\.names))
        var (options, others, isValue) = ([String](), [String](), false)
        for word in words.prefix(while: { $0 != "--" }) {
            if word.hasPrefix("-"), word != "-" {
                options.append(word)
                isValue = valued.contains(word)
            } else {
                if !isValue { others.append(word) }
                isValue = false
            }
        }
        return (options, others)
    }

    /// Whether a command has an option; short ones may be written together, and a number is none.
    func isKnown(_ option: String, to command: String) -> Bool {
        let (name, own) = (option.prefix { $0 != "=" }, options(command))
        return own.contains(String(name)) || Self.isNumber(name)
            || !name.hasPrefix("--") && name.dropFirst().allSatisfy { own.contains("-\($0)") }
    }

    static func isNumber(_ word: some StringProtocol) -> Bool {
        word.hasPrefix("-") && word.dropFirst().first { $0 != "." }?.isNumber == true
    }

    /// The options of a command and of those below it, with their dashes; those of a group are one.
    private func groups(_ command: String) -> [(names: [String], hasValue: Bool)] {
        let named = all.filter { $0._commandName == command }
        return (named + named.flatMap { $0.configuration.subcommands })
            .flatMap { Self.options(in: $0.helpMessage(includeHidden: true, columns: 400)) }
    }

    private static func options(in help: String) -> [(names: [String], hasValue: Bool)] {
        help.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            let names = words.prefix { $0.hasPrefix("-") }
            guard line.hasPrefix("  "), !names.isEmpty else { return nil }
            let hasValue = words.dropFirst(names.count).first?.hasPrefix("<") == true
            return (names.map { $0.filter { $0 != "," } }, hasValue)
        }
    }

    /// A message about options, with the names by which they were typed.
    func asTyped(_ message: String, in command: String, _ typed: [String]) -> String {
        func isTyped(_ name: String) -> Bool {
            typed.contains { $0 == name || $0.hasPrefix(name + "=") }
        }
        let groups = groups(command).map(\.names).filter { $0.count > 1 }
        return message.split(separator: " ", omittingEmptySubsequences: false).map { word in
            let name = String(word.prefix { $0 == "-" || $0.isLetter })
            guard let group = groups.first(where: { $0.contains(name) }), !isTyped(name),
                let other = group.first(where: isTyped)
            else { return String(word) }
            return other + word.dropFirst(name.count)
        }.joined(separator: " ")
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
