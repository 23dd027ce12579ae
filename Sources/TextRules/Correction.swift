// SPDX-License-Identifier: Apache-2.0

internal import Settings

/// A word that a person has written in another way than a recogniser.
package struct Correction: Sendable, Hashable {
    package let said, written: String

    /// A word, or two or three that a recogniser has made of one.
    private static let wordLimit = 3
    /// A longer text is not compared.
    private static let textLimit = 5_000

    /// Whether a text has the words as they were said: they mean something there.
    package func isMeant(in text: String) -> Bool {
        Phrases([(said, "")]).isFound(in: RuledText(text).words[...])
    }

    /// The words in which two texts differ, and which sound alike: at most a third of their letters
    /// differ.
    package static func all(from before: String, to after: String) -> [Correction] {
        let (old, new) = (RuledText(before).words, RuledText(after).words)
        guard max(old.count, new.count) <= textLimit else { return [] }
        let difference = new.map(\.compared).difference(from: old.map(\.compared))
        let removed = Set(difference.removals.map(\.place))
        let inserted = Set(difference.insertions.map(\.place))
        var corrections: [Correction] = []
        var (one, other) = (0, 0)
        while one < old.count || other < new.count {
            let starts = (one, other)
            while removed.contains(one) { one += 1 }
            while inserted.contains(other) { other += 1 }
            corrections += correction(old[starts.0..<one], new[starts.1..<other])
            (one, other) = (one + 1, other + 1)
        }
        return corrections
    }

    private static func correction(
        _ old: ArraySlice<RuledWord>, _ new: ArraySlice<RuledWord>
    ) -> [Correction] {
        guard (1...wordLimit).contains(old.count), (1...wordLimit).contains(new.count),
            old.dropLast().allSatisfy(\.trail.isEmpty),
            // A number that was wrong once is right elsewhere.
            !(old + new).contains(where: { $0.core.contains(where: \.isNumber) })
        else { return [] }
        let letters = [old, new].map { $0.map(\.key).joined() }
        let distance = EditDistance.between(letters[0], letters[1])
        guard distance * 3 <= max(letters[0].count, letters[1].count) else { return [] }
        let said = old.map { $0.core.lowercased() }.joined(separator: " ")
        return [Correction(said: said, written: new.map(\.core).joined(separator: " "))]
    }
}

extension RuledWord {
    /// The word without the capital of a sentence.
    fileprivate var compared: String {
        core.dropFirst().contains(where: \.isUppercase) ? core : key
    }
}

extension CollectionDifference.Change {
    fileprivate var place: Int {
        switch self {
        case .insert(let offset, _, _), .remove(let offset, _, _): offset
        }
    }
}
