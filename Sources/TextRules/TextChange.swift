// SPDX-License-Identifier: Apache-2.0

/// A place of a text that a rule has changed.
public struct TextChange: Sendable, Hashable, Codable {
    /// Why the words were changed.
    public enum Rule: String, Sendable, Hashable, Codable {
        /// The rule leaves out a sound such as "um".
        case fillers
        /// The rule writes a word once that stands twice in a row.
        case doubled
        /// The rule writes a mark in the place of its name, such as "comma".
        case marks
        /// The rule takes back the sentence before "scratch that".
        case takeBack = "take-back"
        /// The rule writes a word as the person's list says.
        case words
        /// The rule leaves out the words that end hands-free dictation.
        case stopWord = "stop-word"
        /// The person's command has read the text, and printed another one.
        case filter
    }

    /// The rule that has changed the words.
    public var rule: Rule
    /// The words as they stood before.
    public var said: String
    /// The words that stand there now; empty when they were left out.
    public var written: String

    package init(_ rule: Rule, _ said: String, _ written: String = "") {
        (self.rule, self.said, self.written) = (rule, said, written)
    }

    /// The most changes of a text that are noted: the first.
    package static let limit = 100
}
