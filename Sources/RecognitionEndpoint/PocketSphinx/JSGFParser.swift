// SPDX-License-Identifier: Apache-2.0

/// Reads the tokens of a grammar by recursive descent, and writes them down in canonical form.
struct JSGFParser {
    private(set) var canonicalText = ""
    private(set) var words: [String] = []

    private let tokens: [JSGFTokenizer.Placed]
    private var position = 0
    private var depth = 0
    private var seenWords: Set<String> = []
    private var definedRules: Set<String> = []
    private var usedRules: [(name: String, line: Int)] = []
    private var hasPublicRule = false

    /// Begins before the first token.
    init(tokens: [JSGFTokenizer.Placed]) {
        self.tokens = tokens
    }

    /// Reads the whole grammar.
    mutating func parseGrammar() throws(JSGFError) {
        try parseHeader()
        while current != .end {
            try parseRule()
        }
        guard hasPublicRule else { throw error("no rule is public") }
        // <NULL> and <VOID> are always there (JSGF 1.0 §2.7).
        let known = definedRules.union(["<NULL>", "<VOID>"])
        for use in usedRules where !known.contains(use.name) {
            throw JSGFError(line: use.line, reason: "the rule '\(use.name)' is not defined")
        }
    }

    // MARK: - Rules

    private mutating func parseHeader() throws(JSGFError) {
        guard current == .word("#JSGF") else {
            throw error("a grammar begins with '#JSGF V1.0;'")
        }
        advance()
        // Version, character encoding, locale.
        for _ in 0..<3 {
            if case .word = current { advance() }
        }
        try take(";")
        guard current == .word("grammar") else {
            throw error("'grammar NAME;' is missing after the first line")
        }
        advance()
        guard case .word = current else { throw error("the grammar has no name") }
        advance()
        try take(";")
        canonicalText = "#JSGF V1.0;\ngrammar utter;\n"
    }

    private mutating func parseRule() throws(JSGFError) {
        if current == .word("import") { throw error("'import' is not supported") }
        let isPublic = current == .word("public")
        if isPublic { advance() }
        guard case .rule(let name) = current else {
            throw error("a rule such as '<name> = …;' is expected, not \(currentText)")
        }
        try check(ruleName: name)
        guard definedRules.insert(name).inserted else {
            throw error("the rule '\(name)' is defined twice")
        }
        advance()
        try take("=")
        hasPublicRule = hasPublicRule || isPublic
        canonicalText += isPublic ? "public \(name) =" : "\(name) ="
        try parseAlternatives()
        try take(";")
        canonicalText += ";\n"
    }

    private mutating func parseAlternatives() throws(JSGFError) {
        try parseSequence()
        while current == .mark("|") {
            advance()
            canonicalText += " |"
            try parseSequence()
        }
    }

    private mutating func parseSequence() throws(JSGFError) {
        repeat {
            try parseItem()
        } while startsItem
    }

    private var startsItem: Bool {
        switch current {
        case .word, .rule, .weight, .mark("("), .mark("["): true
        case .tag, .mark, .end: false
        }
    }

    private mutating func parseItem() throws(JSGFError) {
        if case .weight(let text) = current {
            guard Self.isWeight(text) else { throw error("'/\(text)/' is not a weight") }
            advance()
            canonicalText += " /\(text)/"
        }
        try parseAtom()
        while current == .mark("*") || current == .mark("+") {
            canonicalText += current == .mark("*") ? " *" : " +"
            advance()
        }
        // Tags are for programs that act on a sentence; recognition needs none.
        while current == .tag { advance() }
    }

    private mutating func parseAtom() throws(JSGFError) {
        switch current {
        case .word(let word):
            try add(word)
            advance()
        case .rule(let name):
            try check(ruleName: name)
            usedRules.append((name, tokens[position].line))
            canonicalText += " \(name)"
            advance()
        case .mark("("):
            try parseGroup(until: ")")
        case .mark("["):
            try parseGroup(until: "]")
        case .weight, .tag, .mark, .end:
            throw error("a word, a rule or a group is expected, not \(currentText)")
        }
    }

    private mutating func parseGroup(until close: Character) throws(JSGFError) {
        // Groups are read by recursion, which a hostile text must not drive through the stack.
        guard depth < Self.maximumDepth else { throw error("groups are nested too deeply") }
        depth += 1
        canonicalText += close == ")" ? " (" : " ["
        advance()
        try parseAlternatives()
        try take(close)
        canonicalText += " \(close)"
        depth -= 1
    }

    private mutating func add(_ word: String) throws(JSGFError) {
        // A word in quotation marks may hold anything.
        guard !word.isEmpty, word.unicodeScalars.allSatisfy(JSGFTokenizer.isWordScalar) else {
            throw error("'\(word)' is not one word")
        }
        canonicalText += " \(word)"
        if seenWords.insert(word).inserted { words.append(word) }
    }

    // MARK: - Tokens

    private var current: JSGFTokenizer.Token { tokens[position].token }

    private var currentText: String {
        switch current {
        case .word(let text), .rule(let text): "'\(text)'"
        case .weight(let text): "'/\(text)/'"
        case .tag: "a tag"
        case .mark(let mark): "'\(mark)'"
        case .end: "the end"
        }
    }

    private mutating func advance() {
        // The last token is the end, and nothing goes beyond it.
        position = min(position + 1, tokens.count - 1)
    }

    private mutating func take(_ mark: Character) throws(JSGFError) {
        guard current == .mark(mark) else {
            throw error("'\(mark)' is expected, not \(currentText)")
        }
        advance()
    }

    private func error(_ reason: String) -> JSGFError {
        JSGFError(line: tokens[position].line, reason: reason)
    }

    private func check(ruleName name: String) throws(JSGFError) {
        let content = name.dropFirst().dropLast().unicodeScalars
        guard !content.isEmpty, content.allSatisfy({ $0.value > 0x20 && $0 != "<" }) else {
            throw error("'\(name)' is not the name of a rule")
        }
    }

    private static func isWeight(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, let last = parts.last, !last.isEmpty else { return false }
        return parts.allSatisfy { part in part.allSatisfy { ("0"..."9").contains($0) } }
    }

    /// How deeply groups may be nested.
    private static let maximumDepth = 100
}
