// SPDX-License-Identifier: Apache-2.0

/// A place of a text that a rule has changed.
public struct TextChange: Sendable, Hashable, Codable {
    /// Why the words were changed.
    public enum Rule: String, Sendable, Hashable, Codable {
        /// A sound that is no word, such as "um", is left out.
        case fillers
        /// A word that stands twice in a row stands once.
        case doubled
        /// The name of a mark, such as "comma", becomes the mark.
        case marks
        /// "Scratch that" takes back the sentence before it.
        case takeBack = "take-back"
        /// A word of the person's list is written as the list says.
        case words
        /// The words that end hands-free dictation are left out.
        case stopWord = "stop-word"
        /// A command of the person has read the text.
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
