// SPDX-License-Identifier: Apache-2.0

/// Cuts the text of a grammar into its tokens, and drops comments.
struct JSGFTokenizer {
    /// The smallest part of a grammar that means something.
    enum Token: Equatable {
        /// A word, a number, a name: anything without a meaning of its own.
        case word(String)
        /// The name of a rule, with its angle brackets.
        case rule(String)
        /// A weight between slashes; the text between them.
        case weight(String)
        /// What stands between braces, which recognition ignores.
        case tag
        /// One of `; = | * + ( ) [ ]`.
        case mark(Character)
        /// The end of the text.
        case end
    }

    /// A token and the line that it stands on, from 1.
    struct Placed {
        let token: Token
        let line: Int
    }

    /// Cuts a text.
    ///
    /// - Returns: the tokens, the last of which is `end`.
    /// - Throws: `JSGFError` at a character without meaning, or at something left open.
    static func tokens(of bytes: [UInt8]) throws(JSGFError) -> [Placed] {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw JSGFError(line: 1, reason: "the text is not UTF-8")
        }
        // A byte order mark is allowed at the beginning.
        let scalars = text.unicodeScalars
        var tokenizer = JSGFTokenizer(
            rest: scalars.first == "\u{FEFF}" ? scalars.dropFirst() : scalars[...])
        var result: [Placed] = []
        repeat {
            result.append(try tokenizer.next())
        } while result.last?.token != .end
        return result
    }

    private var rest: Substring.UnicodeScalarView
    private var line = 1

    private init(rest: Substring.UnicodeScalarView) {
        self.rest = rest
    }

    private mutating func next() throws(JSGFError) -> Placed {
        try skipBlanks()
        let start = line
        return Placed(token: try readToken(), line: start)
    }

    private mutating func readToken() throws(JSGFError) -> Token {
        guard let first = rest.first else { return .end }
        switch first {
        case ";", "=", "|", "*", "+", "(", ")", "[", "]":
            rest.removeFirst()
            return .mark(Character(first))
        case "<":
            return .rule("<\(try readEnclosed(until: ">"))>")
        case "{":
            _ = try readEnclosed(until: "}")
            return .tag
        case "/":
            return .weight(try readEnclosed(until: "/"))
        case "\"":
            return .word(try readEnclosed(until: "\""))
        case ">", "}":
            throw JSGFError(line: line, reason: "'\(first)' closes nothing")
        default:
            let word = rest.prefix(while: Self.isWordScalar)
            guard !word.isEmpty else {
                throw JSGFError(line: line, reason: "a control character")
            }
            rest = rest.dropFirst(word.count)
            return .word(String(word))
        }
    }

    /// Reads what stands between the first character and `close`.
    private mutating func readEnclosed(until close: Unicode.Scalar) throws(JSGFError) -> String {
        let open = rest.removeFirst()
        let content = rest.prefix { $0 != close && $0 != "\n" }
        rest = rest.dropFirst(content.count)
        guard rest.first == close else {
            throw JSGFError(line: line, reason: "'\(open)' is not closed by '\(close)'")
        }
        rest.removeFirst()
        return String(content)
    }

    private mutating func skipBlanks() throws(JSGFError) {
        while let first = rest.first {
            if first == "\n" || first == "\r" || first == "\t" || first == " " {
                if first == "\n" { line += 1 }
                rest.removeFirst()
            } else if rest.starts(with: "//".unicodeScalars) {
                rest = rest.drop { $0 != "\n" }
            } else if rest.starts(with: "/*".unicodeScalars) {
                try skipComment()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(JSGFError) {
        let start = line
        rest = rest.dropFirst(2)
        while !rest.starts(with: "*/".unicodeScalars) {
            guard let scalar = rest.popFirst() else {
                throw JSGFError(line: start, reason: "'/*' is not closed by '*/'")
            }
            if scalar == "\n" { line += 1 }
        }
        rest = rest.dropFirst(2)
    }

    /// Whether a word may hold this character outside of quotation marks.
    static func isWordScalar(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case ";", "=", "|", "*", "+", "(", ")", "[", "]", "<", ">", "{", "}", "/", "\"": false
        default: scalar.value > 0x20 && scalar.value != 0x7F
        }
    }
}
