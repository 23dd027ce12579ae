// SPDX-License-Identifier: Apache-2.0

internal import Settings

/// Finds the texts of a profile: its own, that of the profile which it extends, and so on.
enum ProfileChain {
    typealias Shelf = @Sendable (_ name: String) throws -> ProfileText?

    static let limit = 8

    /// The profile's own text comes first; nil: none of this name.
    ///
    /// A profile that extends one of its own name means the one that it hides: the next of `shelves`
    /// that has it.
    static func texts(of name: String, in shelves: [Shelf]) throws -> [ProfileText]? {
        for (index, shelf) in shelves.enumerated() {
            guard let own = try shelf(name) else { continue }
            return try texts(of: own, at: index, in: shelves)
        }
        return nil
    }

    /// Finds the texts of a profile whose own text is on the shelf with this index; -1 precedes all.
    static func texts(
        of own: ProfileText, at index: Int = -1, in shelves: [Shelf]
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

extension SettingsTable {
    /// This table with what another one says over it.
    ///
    /// Tables are merged member by member; everything else is replaced. `false` in the place of
    /// anything but a flag takes it away. The names of header fields have no case.
    func extended(by other: SettingsTable, areFields: Bool = false) -> SettingsTable {
        var merged = self
        if areFields {
            merged.members.removeAll { old in
                other.members.contains {
                    $0.name != old.name && $0.name.lowercased() == old.name.lowercased()
                }
            }
        }
        for member in other.members {
            guard let index = merged.members.firstIndex(where: { $0.name == member.name }) else {
                merged.members.append(member)
                continue
            }
            switch (merged.members[index].node.value, member.node.value) {
            case (.table(let old), .table(let new)):
                var both = member
                both.node.value = .table(
                    old.extended(by: new, areFields: member.name == "headers"))
                merged.members[index] = both
            case (.flag, _): merged.members[index] = member
            case (_, .flag(false)): merged.members.remove(at: index)
            default: merged.members[index] = member
            }
        }
        return merged
    }
}

/// The texts of a profile, put together: those that it extends, the way of a person who speaks if a text
/// says so, and what a person says over both.
struct MergedTexts {
    private(set) var table = SettingsTable()
    /// The part of it that a person says.
    private(set) var said = SettingsTable()
    /// The URL below that.
    let home: String?
    let saysLiveWay: Bool
    let latency: String?

    /// The first text counts most.
    init(_ texts: [ProfileText]) throws(SettingsError) {
        var tables: [SettingsTable] = []
        for text in texts { tables.append(try SettingsDocument.parse(text.text, file: text.place)) }
        let count = texts.prefix(while: \.isOverriding).count
        for own in tables[count...].reversed() {
            // A service at another address has a way of its own, or none.
            if own["url"] != nil { table.members.removeAll { $0.name == "live" } }
            table = table.extended(by: own)
        }
        for own in tables[..<count].reversed() {
            let ways = own.members.filter { $0.name == "live" }
            table = table.extended(by: SettingsTable(ways))
        }
        let live = table["live"]?.value.table
        (saysLiveWay, latency) = (live != nil, live?["latency"]?.value.string)
        let way = tables.lazy.compactMap { $0["way"]?.value.string }.first
        if way == ServiceProfile.Way.live.rawValue, let live {
            table.members.removeAll { $0.name == "live" }
            table = table.extended(by: live)
        } else if let words = live?.members.first(where: { $0.name == "words" }) {
            // A person may say them whichever way a recording goes.
            let own = table.members.filter { $0.name == "words" }
            table = table.extended(by: SettingsTable([words])).extended(by: SettingsTable(own))
        }
        home = count < tables.count ? table["url"]?.value.string : nil
        for own in tables[..<count].reversed() {
            let others = SettingsTable(own.members.filter { $0.name != "live" })
            (table, said) = (table.extended(by: others), said.extended(by: others))
        }
        // `auth = false` may be said where there is nothing to take away. A profile has flags in its tables alone.
        table.members.removeAll { $0.node.value == .flag(false) }
    }
}

extension [ProfileText] {
    /// The texts by which a take is sent once it is kept: a voice that was not delivered while it spoke
    /// goes the usual way, unless a person has said the URL of a WebSocket.
    package var later: [ProfileText] {
        let usual = filter { !$0.isSpeaking }
        // An unreadable text is told where the take is sent.
        guard usual.count < count, let merged = try? MergedTexts(usual),
            merged.table["url"]?.value.string.map(ServiceURL.namesSocket) == false
        else { return self }
        return usual
    }
}

package struct ProfileText: Sendable, Hashable {
    /// The name of what a person says over a profile; no profile can have it.
    private static let overriding = "="

    package let name: String
    package let place: String
    package let text: String

    package init(name: String, place: String? = nil, text: String) {
        self.name = name
        self.place = place ?? name + ".toml"
        self.text = text
    }

    /// For one take, or for a service without a profile.
    package init(overriding text: String, place: String) {
        self.init(name: Self.overriding, place: place, text: text)
    }

    /// For a service known by its URL alone; a token is optional.
    package init(plainFor url: String) {
        self.init(
            overriding: """
                title = "the service"
                url = \(JSONText.quoted(url))
                auth.optional = true
                """, place: "the URL")
    }

    /// Over a profile that has another way for a person who speaks: what is sent later goes the usual one.
    package static let speaking = ProfileText(
        overriding: "way = \"live\"  # while a person speaks", place: "the microphone")

    package var isSpeaking: Bool { (name, text) == (Self.speaking.name, Self.speaking.text) }

    package var isOverriding: Bool { name == Self.overriding }
}
