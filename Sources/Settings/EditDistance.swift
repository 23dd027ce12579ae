// SPDX-License-Identifier: Apache-2.0

package enum EditDistance {
    /// The letters that must be inserted, left out, replaced or exchanged with their neighbour
    /// (Damerau and Levenshtein, no letter twice).
    static func between(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one), Array(other))
        guard !one.isEmpty, !other.isEmpty else { return max(one.count, other.count) }
        var before = [Int](repeating: 0, count: other.count + 1)
        var last = Array(0...other.count)
        for row in 1...one.count {
            var next = [row]
            for column in 1...other.count {
                let isSame = one[row - 1] == other[column - 1]
                var cost = min(
                    last[column] + 1, next[column - 1] + 1, last[column - 1] + (isSame ? 0 : 1))
                if row > 1, column > 1, one[row - 1] == other[column - 2],
                    one[row - 2] == other[column - 1]
                {
                    cost = min(cost, before[column - 2] + 1)
                }
                next.append(cost)
            }
            (before, last) = (last, next)
        }
        return last[other.count]
    }

    /// The word that was meant, when one is near enough: one slip in three letters.
    ///
    /// - Returns: the nearest; of several the first. A word of which only the beginning was typed
    ///   is meant when no other begins so.
    package static func nearest(to typed: String, among words: [String]) -> String? {
        let near = words.map { (word: $0, distance: between(typed, $0)) }
            .filter { $0.distance <= max(1, max(typed.count, $0.word.count) / 3) }
            .min { $0.distance < $1.distance }
        // In words of two letters one slip is half of it.
        if let near, near.distance < min(typed.count, near.word.count) { return near.word }
        let begun = words.filter { typed.count > 1 && $0.hasPrefix(typed) }
        return begun.count == 1 ? begun[0] : nil
    }
}
