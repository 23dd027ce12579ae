// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Settings
@testable import SpeechService

@Suite struct ProfileChainTests {
    private func shelf(
        _ texts: [String: String], in folder: String
    ) -> ProfileChain.Shelf {
        { name in
            texts[name].map {
                ProfileText(name: name, place: "\(folder)/\(name).toml", text: $0)
            }
        }
    }

    private func places(
        of name: String, _ shelves: [ProfileChain.Shelf]
    ) throws -> [String]? {
        try ProfileChain.texts(of: name, in: shelves)?.map(\.place)
    }

    @Test func aProfileIsLookedForOnTheFirstShelfFirst() throws {
        let own = shelf(["a": "extends = 'b'", "c": "extends = 'c'"], in: "own")
        let shipped = shelf(["a": "", "b": "extends = 'c'", "c": ""], in: "shipped")
        #expect(
            try places(of: "b", [own, shipped])
                == ["shipped/b.toml", "own/c.toml", "shipped/c.toml"])
        #expect(
            try places(of: "a", [own, shipped])
                == ["own/a.toml", "shipped/b.toml", "own/c.toml", "shipped/c.toml"])
        #expect(try places(of: "d", [own, shipped]) == nil)
    }

    @Test(arguments: [
        ("a", "extends = 'b'", "f/b.toml:1:11: 'a' extends 'a' itself"),
        ("c", "extends = 'c'", "f/c.toml:1:11: there is no profile 'c' to extend"),
        ("d", "\nextends = 'nothing'", "f/d.toml:2:11: there is no profile 'nothing' to extend"),
        ("e", "extends = 1", "f/e.toml:1:11: 'extends' must be a string, not a whole number"),
        ("f", "extends", "f/f.toml:1:8: "),
    ])
    func whatCannotBeExtendedIsSaidAtItsPlace(name: String, text: String, message: String) {
        let one = shelf([name: text, "b": "extends = 'a'"], in: "f")
        let error = #expect(throws: SettingsError.self) { try places(of: name, [one]) }
        #expect(error?.text(of: "-").hasPrefix(message) == true, "\(error?.text(of: "-") ?? "")")
    }

    @Test func noMoreThanEightProfilesExtendEachOther() throws {
        let texts = Dictionary(
            uniqueKeysWithValues: (0..<9).map { ("p\($0)", $0 < 8 ? "extends = 'p\($0 + 1)'" : "") }
        )
        let one = shelf(texts, in: "f")
        #expect(try places(of: "p1", [one])?.count == 8)
        let error = #expect(throws: SettingsError.self) { try places(of: "p0", [one]) }
        #expect(error?.text(of: "-") == "f/p7.toml:1:11: more than 8 profiles extend each other")
    }
}
