// SPDX-License-Identifier: Apache-2.0

/// What `--experimental-dump-help` tells of a program: the part of it that a manual needs.
struct ToolInfo: Decodable {
    struct Command: Decodable {
        var commandName: String
        var shouldDisplay: Bool?
        var abstract: String?
        var discussion: String?
        var subcommands: [Command]?
        var arguments: [Argument]?
    }

    /// An option, a flag or a word.
    struct Argument: Decodable {
        /// With its dashes left out.
        struct Name: Decodable {
            var kind: String
            var name: String
        }

        var kind: String
        var shouldDisplay: Bool?
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
