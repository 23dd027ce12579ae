// SPDX-License-Identifier: Apache-2.0

/// The manual page of one command, in mdoc(7); pure.
struct ManualPage {
    private let program: String
    private var lines: [String] = []

    /// The date is such as `November 22, 2026`.
    init(of command: ToolInfo.Command, program: String, date: String) {
        self.program = program
        let name = "\(program)-\(command.commandName)"
        let abstract = command.abstract ?? name
        let title = abstract.hasSuffix(".") ? String(abstract.dropLast()) : abstract
        lines = [
            ".\\\" Made of the definitions by which the program reads its command line.",
            ".Dd \(date)", ".Dt \(name.uppercased()) 1", ".Os", ".Sh NAME", ".Nm \(name)",
            ".Nd \(Self.macroText(title))",
            ".Sh SYNOPSIS",
        ]
        let inner = (command.subcommands ?? []).filter {
            $0.shouldDisplay != false && $0.commandName != "help"
        }
        if inner.isEmpty {
            addSynopsis(of: command, [command.commandName])
        } else {
            lines += [".Nm \(program)", ".Cm \(command.commandName)"]
            for one in inner { addSynopsis(of: one, [command.commandName, one.commandName]) }
        }
        lines.append(".Sh DESCRIPTION")
        addText(command.abstract)
        if let discussion = command.discussion {
            lines.append(".Pp")
            addText(discussion)
        }
        if inner.isEmpty {
            lines.append(".Sh OPTIONS")
            addArguments(of: command)
        } else {
            lines.append(".Sh COMMANDS")
            for one in inner {
                lines.append(".Ss \(Self.macroText(one.commandName))")
                addText(one.abstract)
                if let discussion = one.discussion {
                    lines.append(".Pp")
                    addText(discussion)
                }
                addArguments(of: one)
            }
        }
        lines += [
            ".Sh EXIT STATUS", "See", ".Xr \(program) 1 .", ".Sh SEE ALSO",
            ".Xr \(program) 1 ,", ".Xr \(program) 7",
        ]
    }

    var text: String { lines.joined(separator: "\n") + "\n" }

    private mutating func addSynopsis(of command: ToolInfo.Command, _ names: [String]) {
        lines.append(".Nm \(program)")
        lines.append(".Cm \(names.joined(separator: " "))")
        // Arguments that a command's help leaves out belong here, too.
        let arguments = command.arguments ?? []
        if arguments.contains(where: { $0.kind != "positional" }) { lines.append(".Op Ar options") }
        for argument in arguments where argument.kind == "positional" {
            let dots = argument.isRepeating ? " ..." : ""
            let value = "Ar \(argument.valueName ?? "word")\(dots)"
            lines.append(argument.isOptional ? ".Op \(value)" : ".\(value)")
        }
    }

    private mutating func addArguments(of command: ToolInfo.Command) {
        var titles: [String] = []
        let arguments = command.arguments ?? []
        for argument in arguments where !titles.contains(argument.sectionTitle ?? "") {
            titles.append(argument.sectionTitle ?? "")
        }
        for title in titles {
            if !title.isEmpty { lines.append(".Ss \(Self.macroText(title))") }
            lines.append(".Bl -tag -width Ds")
            for argument in arguments where (argument.sectionTitle ?? "") == title {
                lines.append(".It \(Self.tag(argument))")
                addText(argument.abstract)
                addText(argument.discussion)
                if let standard = argument.defaultValue, !standard.isEmpty,
                    argument.abstract?.contains("(default:") != true
                {
                    addText("(default: \(standard))")
                }
            }
            lines.append(".El")
        }
    }

    /// Such as `Fl n , -newest Ar count`.
    private static func tag(_ argument: ToolInfo.Argument) -> String {
        let value = argument.valueName.map { "Ar \($0)" } ?? ""
        guard argument.kind != "positional" else {
            return value + (argument.isRepeating ? " ..." : "")
        }
        let names = (argument.names ?? []).sorted { $0.name.count < $1.name.count }
            .map { $0.kind == "long" ? "-\($0.name)" : $0.name }
        return "Fl " + names.joined(separator: " , Fl ")
            + (argument.kind == "option" ? " \(value)" : "")
    }

    /// Adds running text; what is indented in it stays as it is, and a blank line begins a paragraph.
    private mutating func addText(_ text: String?) {
        guard let text, !text.isEmpty else { return }
        var isLiteral = false
        var isBlank = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let isIndented = line.hasPrefix("  ")
            if isIndented != isLiteral {
                lines.append(isIndented ? ".Bd -literal -offset indent" : ".Ed")
                isLiteral = isIndented
            } else if isBlank, !line.isEmpty {
                lines.append(".Pp")
            }
            isBlank = line.isEmpty
            if !line.isEmpty { lines.append(Self.line(isIndented ? line.dropFirst(2) : line)) }
        }
        if isLiteral { lines.append(".Ed") }
    }

    /// A line of text, of which nothing is a request.
    private static func line(_ text: Substring) -> String {
        let escaped = String(text).replacing("\\", with: "\\e")
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }

    /// Words behind a macro, of which none is taken for another.
    private static func macroText(_ text: String) -> String {
        text.split(separator: " ").map { word in
            let escaped = word.replacing("\\", with: "\\e").replacing("\"", with: "\\(dq")
            return escaped.count <= 3 ? "\\&" + escaped : escaped
        }.joined(separator: " ")
    }
}
