// SPDX-License-Identifier: Apache-2.0

/// How much of a list of words a service takes in a request.
package struct VocabularyLimits: Sendable {
    private let characters, longest, most: Int

    /// `characters` are those of all words, each with a comma and a space behind it; `longest` are those
    /// of one word, and `most` words are taken.
    package init(characters: Int, longest: Int = .max, most: Int? = nil) {
        (self.characters, self.longest, self.most) = (characters, longest, most ?? .max)
    }

    /// Whether a service takes the word at all: commas separate the words of a request.
    func takes(_ word: String) -> Bool { !word.contains(",") && word.count <= longest }

    /// As many words from the first on as a service takes; a word that is too long for the rest makes way
    /// for shorter ones.
    func prefix(of words: [String]) -> [String] {
        var length = 0
        let fitting = words.filter { word in
            guard length + word.count + 2 <= characters else { return false }
            length += word.count + 2
            return true
        }
        return Array(fitting.prefix(most))
    }
}
