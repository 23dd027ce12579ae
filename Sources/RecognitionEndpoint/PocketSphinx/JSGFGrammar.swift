// SPDX-License-Identifier: Apache-2.0

/// A grammar in JSGF 1.0, checked before PocketSphinx sees it.
///
/// PocketSphinx's own reader prints what it does not expect to standard output, where the transcript
/// goes, takes a rule that is not defined for silence, passes over what follows the last rule, and
/// counts lines from whatever was in memory. So the text is checked here, and `canonicalText` holds
/// the same rules without comments and tags. `import` is not supported: it would let a grammar read
/// further files.
struct JSGFGrammar: Sendable, Equatable {
    let canonicalText: String

    private static let deepestGroup = 100

    private struct Token {
        let text: String
        let line: Int

        func error(_ reason: String) -> JSGFError { JSGFError(line: line, reason: reason) }
    }

    init(parsing bytes: [UInt8]) throws(JSGFError) {
        let statements = try Self.statements(of: bytes)
        let heads = statements.prefix(2).map { $0.map(\.text) }
        guard let first = heads.first, first.first == "#JSGF", first.count <= 4 else {
            throw JSGFError(line: 1, reason: "a grammar begins with '#JSGF V1.0;'")
        }
        guard let name = heads.last, name.count == 2, name[0] == "grammar" else {
            throw JSGFError(
                line: statements.dropFirst().first?.first?.line ?? 1,
                reason: "'grammar NAME;' is missing after the first line")
        }
        // These are always there (JSGF 1.0 §2.7).
        var defined: Set = ["<NULL>", "<VOID>"]
        var used: [Token] = []
        var text = "#JSGF V1.0;\ngrammar utter;\n"
        for statement in statements.dropFirst(2) {
            let rule = statement.drop { $0.text == "public" }
            guard let name = rule.first, name.text.hasPrefix("<"), statement.count - rule.count < 2,
                rule.dropFirst().first?.text == "="
            else {
                throw statement[0].error("a rule such as '<name> = …;' is expected")
            }
            guard defined.insert(name.text).inserted else {
                throw name.error("the rule '\(name.text)' is defined twice")
            }
            try Self.check(rule.dropFirst(2), after: rule[rule.startIndex + 1])
            used += rule.dropFirst(2).filter { $0.text.hasPrefix("<") }
            text += statement.map(\.text).joined(separator: " ") + ";\n"
        }
        if let unknown = used.first(where: { !defined.contains($0.text) }) {
            throw unknown.error("the rule '\(unknown.text)' is not defined")
        }
        guard statements.contains(where: { $0.first?.text == "public" }) else {
            throw JSGFError(line: 1, reason: "no rule is public")
        }
        canonicalText = text
    }

    /// Cuts a text into its statements, which end with semicolons, and those into tokens.
    private static func statements(of bytes: [UInt8]) throws(JSGFError) -> [[Token]] {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw JSGFError(line: 1, reason: "the text is not UTF-8")
        }
        // What means nothing: blanks, comments, tags; then a rule's name, a weight, a quoted word,
        // a mark, a word.
        let lexeme =
            #/[ \t\r\n]+|//[^\n]*|/\*(?s:.*?)\*/|\{[^}\n]*\}|(<[^<>\s]+>|/[0-9]*\.?[0-9]+/|"[^"/\s;=|*+()\[\]<>{}]+"|[;=|*+()\[\]]|[^\s;=|*+()\[\]<>{}/"\p{Cc}]+)/#
            .matchingSemantics(.unicodeScalar)
        var statements: [[Token]] = [[]]
        var line = 1
        // A byte order mark is allowed at the beginning.
        var rest =
            text.unicodeScalars.first == "\u{FEFF}"
            ? Substring(text.unicodeScalars.dropFirst()) : text[...]
        while let first = rest.unicodeScalars.first {
            guard let match = rest.prefixMatch(of: lexeme) else {
                throw JSGFError(line: line, reason: "'\(first)' has no meaning here")
            }
            if let token = match.1?.filter({ $0 != "\"" }) {
                if token == ";" {
                    guard statements.last?.isEmpty == false else {
                        throw JSGFError(line: line, reason: "nothing stands before ';'")
                    }
                    statements.append([])
                } else {
                    statements[statements.count - 1].append(Token(text: token, line: line))
                }
            }
            line += match.0.unicodeScalars.count { $0 == "\n" }
            rest = rest[match.range.upperBound...]
        }
        if let open = statements.removeLast().last {
            throw open.error("no ';' follows '\(open.text)'")
        }
        return statements
    }

    /// Checks what stands behind the sign of a rule: alternatives of sequences of items.
    private static func check(_ body: ArraySlice<Token>, after sign: Token) throws(JSGFError) {
        var open: [String] = []
        var (last, wantsItem) = (sign, true)
        for token in body {
            let fits =
                switch token.text {
                case "=": false
                case "|", "*", "+": !wantsItem
                case ")", "]": !wantsItem && open.popLast() == token.text
                default: true
                }
            guard fits else {
                throw token.error("'\(token.text)' cannot stand behind '\(last.text)'")
            }
            // PocketSphinx reads groups by recursion.
            guard open.count < Self.deepestGroup else {
                throw token.error("groups are nested too deeply")
            }
            switch token.text {
            case "(": open.append(")")
            case "[": open.append("]")
            default: break
            }
            wantsItem = ["|", "(", "["].contains(token.text) || token.text.hasPrefix("/")
            last = token
        }
        guard !wantsItem else {
            throw last.error("a word or a rule is missing behind '\(last.text)'")
        }
        if let missing = open.last {
            throw last.error("'\(missing)' is missing behind '\(last.text)'")
        }
    }
}

struct JSGFError: Error, Equatable {
    /// From 1.
    let line: Int
    let reason: String
}
