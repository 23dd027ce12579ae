// SPDX-License-Identifier: Apache-2.0

/// The names of all takes, and how a person may shorten them.
///
/// Pure. A take is named by any part of its id that no other has; where several have it, those
/// whose id, or whose last twelve letters, begin with it go before those that have it elsewhere.
package struct TakeNames: Sendable {
    /// Nothing shorter is shown: with fewer letters a take of tomorrow would soon be meant as well.
    private static let shortest = 4

    private let ids: [TakeID]

    package init(_ ids: [TakeID]) { self.ids = ids }

    /// The only take that a part of a name means; nil when it means none.
    func match(_ part: String) throws(TakeStoreError) -> TakeID? {
        let found = matches(part)
        guard found.count < 2 else { throw .ambiguous(part, found) }
        return found.first
    }

    func matches(_ part: String) -> [TakeID] {
        let part = part.lowercased()
        guard !part.isEmpty else { return [] }
        if let id = ids.first(where: { $0.text == part }) { return [id] }
        let begun = ids.filter { $0.text.hasPrefix(part) || $0.letters.hasPrefix(part) }
        guard begun.isEmpty else { return begun }
        return ids.filter { $0.text.contains(part) }
    }

    /// The shortest beginnings of their letters by which `matches` finds the takes, each alone.
    package var shortNames: [TakeID: String] {
        let sorted = ids.sorted { $0.letters < $1.letters }
        var names: [TakeID: String] = [:]
        for (index, id) in sorted.enumerated() {
            let letters = id.letters
            let neighbours = [index - 1, index + 1].filter(sorted.indices.contains)
            let shared = neighbours.map { neighbour in
                zip(letters, sorted[neighbour].letters).prefix { $0 == $1 }.count
            }
            var count = max(Self.shortest, (shared.max() ?? 0) + 1)
            // Digits may be those of a year.
            while count < letters.count, letters.prefix(count).allSatisfy(\.isNumber),
                ids.contains(where: { $0.text.hasPrefix(letters.prefix(count)) })
            { count += 1 }
            names[id] = String(letters.prefix(count))
        }
        return names
    }

    /// How many takes before the last one a name such as `last` or `last~2` means; nil for others.
    package static func stepsBack(_ name: String) -> Int? {
        if name == "last" { return 0 }
        // The short form is git's.
        let prefix = ["last~", "~"].first { name.hasPrefix($0) } ?? "last~"
        guard name.hasPrefix(prefix), let steps = Int(name.dropFirst(prefix.count)), steps >= 0
        else { return nil }
        return steps
    }
}

extension TakeID {
    /// The last twelve letters, which are different for each take.
    fileprivate var letters: Substring { text.suffix(12) }

    /// By which a hint names the take, without a look at the others: one in a thousand million begins
    /// with the same six letters.
    package var shortName: String {
        // Digits may be those of a year.
        let digits = letters.prefix(while: \.isNumber).count
        return String(letters.prefix(max(6, digits + 1)))
    }
}
