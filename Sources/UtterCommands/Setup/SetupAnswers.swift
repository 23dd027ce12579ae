// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Utter
internal import UtterSettings
internal import UtterTerminal

struct SetupAnswers {
    enum Token: Equatable {
        case none
        case variable(String)
        case file(String)
        case command(String)
        case typed(String)

        /// Reads what a person types: `-`, `$NAME`, `!command`, a path, or the token itself.
        init(typed text: String) {
            switch text.first {
            case "-" where text == "-": self = .none
            case "$": self = .variable(String(text.dropFirst()))
            case "!": self = .command(text.dropFirst().drop { $0 == " " }.description)
            case "/", "~", ".": self = .file(text)
            default: self = .typed(text)
            }
        }
    }

    var profile: String
    var url: String?
    /// The words that the service needs, without the language.
    var words: [(name: String, value: String)] = []
    var token = Token.none
    /// Whether the token may travel over plain http to another machine.
    var allowsTokenInClear = false
    var device: String?
    var language: String?

    var tokenFileName: String { "\(profile)-token" }

    /// The text of the file, in TOML; a token that was typed stands in the file beside it.
    func text() -> String {
        var lines = [
            "# Written by utter setup. 'man utter' explains it; utter config edit changes it.",
            Self.line("service", profile),
        ]
        if let device { lines.append(Self.line("device", device)) }
        if let language { lines.append(Self.line("language", language)) }
        lines += ["", "[services.\(TOMLText.key(profile))]"]
        if let url { lines.append(Self.line("url", url)) }
        switch token {
        case .none: break
        case .variable(let name): lines.append(Self.line("token-variable", name))
        case .file(let path): lines.append(Self.line("token-file", path))
        case .command(let command): lines.append(Self.line("token-command", command))
        case .typed: lines.append(Self.line("token-file", tokenFileName))
        }
        if allowsTokenInClear { lines.append("insecure-token = true") }
        if !words.isEmpty {
            let members = words.map { Self.line(TOMLText.key($0.name), $0.value) }
            lines.append("words = { \(members.joined(separator: ", ")) }")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func line(_ name: String, _ value: String) -> String {
        "\(name) = \(TOMLText.quoted(value))"
    }
}

/// The files that `utter setup` writes: the settings, and a token that was typed.
extension SetupAnswers {
    private var tokenPath: String { ConfigurationFile.expanded(tokenFileName) }

    var existingFiles: [String] {
        var paths = [ConfigurationFile.path]
        if case .typed = token { paths.append(tokenPath) }
        return paths.filter { path in
            var status = stat()
            return unsafe lstat(path, &status) == 0
        }
    }

    /// Writes them, each whole or not at all; the settings last.
    ///
    /// An earlier file gets `.old` behind its name.
    func write() throws(CommandFailure) {
        // From here on Ctrl-C waits: it is over in a moment.
        Signals.block()
        try ConfigurationFile.makeFolder()
        if case .typed(let token) = token {
            try ConfigurationFile.replace(token + "\n", at: tokenPath, keepsOld: true)
        }
        try ConfigurationFile.replace(text(), keepsOld: true)
    }
}
