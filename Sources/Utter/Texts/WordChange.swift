// SPDX-License-Identifier: Apache-2.0

internal import TextRules

/// How many words a text has lost and won over another one; of texts without spaces, how many signs.
///
/// A filter that answers a question, or leaves out half of what was said, is told by that from one that
/// corrects.
struct WordChange: CustomStringConvertible {
    let dropped, added, whole: Int
    private let unit: String

    init(from before: String, to after: String) {
        let isSpaced = !before.unicodeScalars.contains(where: \.needsNoSpace)
        unit = isSpaced ? "words" : "characters"
        let (old, new) = (Self.counts(before, isSpaced), Self.counts(after, isSpaced))
        dropped = old.reduce(0) { $0 + max(0, $1.value - new[$1.key, default: 0]) }
        added = new.reduce(0) { $0 + max(0, $1.value - old[$1.key, default: 0]) }
        whole = old.values.reduce(0, +)
    }

    /// A short text may have one or two other words.
    private var limit: Int { min(max(2, whole / 5), max(1, whole - 1)) }

    var isSmall: Bool { dropped <= limit && added <= limit }

    var description: String {
        dropped > limit
            ? "dropped \(dropped) of \(whole) \(unit)" : "added \(added) \(unit) to \(whole)"
    }

    private static func counts(_ text: String, _ isSpaced: Bool) -> [String: Int] {
        let pieces =
            isSpaced
            ? text.split(whereSeparator: \.isWhitespace).map {
                $0.filter { $0.isLetter || $0.isNumber }
            }
            : text.filter { $0.isLetter || $0.isNumber }.map(String.init)
        return pieces.filter { !$0.isEmpty }
            .reduce(into: [:]) { $0[$1.lowercased(), default: 0] += 1 }
    }
}
