// SPDX-License-Identifier: Apache-2.0

/// A grammar in JSGF 1.0, read and checked before PocketSphinx sees it.
///
/// PocketSphinx's own reader prints every character that it does not expect, and each line
/// break in a comment, to standard output, where the transcript goes. So the text is read here,
/// and `canonicalText` holds the same rules without comments, in a form that its reader takes
/// without a murmur. `import` is not supported: it would let a grammar read further files.
///
/// ```
/// grammar     = "#JSGF" word{0,3} ";" "grammar" word ";" rule+
/// rule        = ["public"] "<" name ">" "=" alternatives ";"
/// alternatives = sequence {"|" sequence}
/// sequence    = item+
/// item        = ["/" weight "/"] atom {"*" | "+"} {"{" tag "}"}
/// atom        = word | "<" name ">" | "(" alternatives ")" | "[" alternatives "]"
/// ```
struct JSGFGrammar: Sendable, Equatable {
    /// The grammar's rules, one a line, without comments.
    let canonicalText: String

    /// The words that rules consist of, in order of first appearance.
    let words: [String]

    /// Reads a grammar.
    ///
    /// - Throws: `JSGFError` with the line at which the text stops being JSGF, or when a rule is
    ///   used and not defined, is defined twice, or none is public.
    init(parsing bytes: [UInt8]) throws(JSGFError) {
        var parser = JSGFParser(tokens: try JSGFTokenizer.tokens(of: bytes))
        try parser.parseGrammar()
        canonicalText = parser.canonicalText
        words = parser.words
    }
}

/// Where a text stops being a grammar, and why.
struct JSGFError: Error, Equatable {
    /// The line, from 1.
    let line: Int
    let reason: String
}
