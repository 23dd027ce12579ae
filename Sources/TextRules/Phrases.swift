// SPDX-License-Identifier: Apache-2.0

/// Phrases and what stands for each, found by their first words.
struct Phrases: Sendable, Hashable {
    private struct Phrase: Sendable, Hashable {
        let keys: [String]
        let value: String
    }

    /// The longest first.
    private var phrases: [String: [Phrase]] = [:]

    init(_ all: some Sequence<(String, String)>) {
        for (text, value) in all {
            let keys = RuledWord.keys(text)
            guard let first = keys.first, keys.allSatisfy({ !$0.isEmpty }) else { continue }
            phrases[first, default: []].removeAll { $0.keys == keys }
            phrases[first, default: []].append(Phrase(keys: keys, value: value))
        }
        for key in Array(phrases.keys) { phrases[key]?.sort { $0.keys.count > $1.keys.count } }
    }

    /// The longest phrase with which a text goes on; a mark in the middle parts it.
    func first(of words: ArraySlice<RuledWord>) -> (value: String, words: ArraySlice<RuledWord>)? {
        guard let first = words.first, let phrases = phrases[first.key] else { return nil }
        for phrase in phrases {
            let found = words.prefix(phrase.keys.count)
            guard found.count == phrase.keys.count,
                zip(found, phrase.keys).allSatisfy({ $0.key == $1 }),
                found.dropLast().allSatisfy(\.trail.isEmpty),
                found.dropFirst().allSatisfy(\.lead.isEmpty)
            else { continue }
            return (phrase.value, found)
        }
        return nil
    }

    func isFound(in words: ArraySlice<RuledWord>) -> Bool {
        words.indices.contains { first(of: words[$0...]) != nil }
    }
}
