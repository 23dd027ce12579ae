// SPDX-License-Identifier: Apache-2.0

internal import Settings

/// Finds the texts of a profile: its own, that of the profile which it extends, and so on.
enum ProfileChain {
    /// Where profiles are looked for: gives the text of a name, or nil.
    typealias Shelf = @Sendable (_ name: String) throws -> ProfileText?

    /// The most texts of one profile.
    static let limit = 8

    /// Finds the texts of the profile of a name.
    ///
    /// A profile that extends one of its own name means the one that it hides: the next of `shelves`
    /// that has it. The profile's own text comes first; nil is none of this name.
    static func texts(
        of name: String, in shelves: [Shelf]
    ) throws -> [ProfileText]? {
        for (index, shelf) in shelves.enumerated() {
            guard let own = try shelf(name) else { continue }
            return try texts(of: own, at: index, in: shelves)
        }
        return nil
    }

    /// Finds the texts of a profile whose own text stands on the shelf of this index; -1 is before all.
    static func texts(
        of own: ProfileText, at index: Int = -1,
        in shelves: [Shelf]
    ) throws -> [ProfileText] {
        var texts = [own]
        var place = index
        while let last = texts.last, let (parent, error) = try parent(of: last) {
            let start = parent == last.name ? place + 1 : 0
            var found: ProfileText?
            for shelf in shelves.indices.dropFirst(start) where found == nil {
                found = try shelves[shelf](parent)
                place = shelf
            }
            guard let found else { throw error("there is no profile '\(parent)' to extend") }
            guard !texts.contains(where: { $0.place == found.place }) else {
                throw error("'\(parent)' extends '\(own.name)' itself")
            }
            guard texts.count < limit else {
                throw error("more than \(limit) profiles extend each other")
            }
            texts.append(found)
        }
        return texts
    }

    /// The profile that a text extends, and how an error about it is made.
    private static func parent(
        of text: ProfileText
    ) throws(SettingsError) -> (name: String, error: (String) -> SettingsError)? {
        let table = try SettingsDocument.parse(text.text, file: text.place)
        var reader = SettingsReader(table)
        guard let name = try reader.string("extends") else { return nil }
        let place = reader.place("extends")
        return (name, { SettingsError($0, at: place) })
    }
}
