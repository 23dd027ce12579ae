// SPDX-License-Identifier: Apache-2.0

/// Phrases and what stands for each, found by their first words.
struct Phrases: Sendable, Hashable {
    private struct Phrase: Sendable, Hashable {
        let keys: [String]
        /// Marks of its own at the ends, such as the full stop of "e.g.".
        let lead, trail: String
        let value: String
    }

    /// The longest first.
    private var phrases: [String: [Phrase]] = [:]

    init(_ all: some Sequence<(String, String)>) {
        for (text, value) in all {
            let words = RuledText(text).words
            let keys = words.map(\.key)
            guard let first = words.first, let last = words.last, !keys.contains("") else {
                continue
            }
            phrases[first.key, default: []].removeAll { $0.keys == keys }
            // A full stop belongs to an abbreviation alone, or else ends the sentence.
            let trail = last.trail == "." && !last.core.contains(".") ? "" : last.trail
            phrases[first.key, default: []].append(
                Phrase(keys: keys, lead: first.lead, trail: trail, value: value))
        }
        for key in Array(phrases.keys) { phrases[key]?.sort { $0.keys.count > $1.keys.count } }
    }

    /// The longest phrase with which a text goes on, its own marks among the letters; a mark in the
    /// middle parts it.
    func first(of words: ArraySlice<RuledWord>) -> (value: String, words: ArraySlice<RuledWord>)? {
        guard let first = words.first, let phrases = phrases[first.key] else { return nil }
        for phrase in phrases {
            var found = words.prefix(phrase.keys.count)
            guard found.count == phrase.keys.count,
                zip(found, phrase.keys).allSatisfy({ $0.key == $1 }),
                found.dropLast().allSatisfy(\.trail.isEmpty),
                found.dropFirst().allSatisfy(\.lead.isEmpty)
            else { continue }
            found[found.startIndex].takeIn(lead: phrase.lead)
            // A full stop at the end ends the sentence, too.
            if phrase.trail != "." || found.count < words.count {
                found[found.endIndex - 1].takeIn(trail: phrase.trail)
            }
            return (phrase.value, found)
        }
        return nil
    }

    func isFound(in words: ArraySlice<RuledWord>) -> Bool {
        words.indices.contains { first(of: words[$0...]) != nil }
    }
}
