// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Settings

@Suite struct SettingsReaderTests {
    private enum Kind: String, CaseIterable { case raw, form, json }

    private func reader(_ text: String) throws -> SettingsReader {
        SettingsReader(try SettingsDocument.parse(text))
    }

    @Test func membersAreReadByNameAndKind() throws {
        var reader = try reader(
            """
            url = "u"
            limit = 60
            minimum = 0.5
            live = true
            text = ["a", "b"]
            error = "c"
            statuses = [500, 503]
            [query]
            z = "1"
            a = "2"
            [body]
            kind = "form"
            [[formats]]
            codec = "wav"
            """)
        #expect(try reader.string("url") == "u")
        #expect(try reader.integer("limit") == 60)
        #expect(try reader.number("limit") == 60)
        #expect(try reader.number("minimum") == 0.5)
        #expect(try reader.flag("live") == true)
        #expect(try reader.strings("text") == ["a", "b"])
        #expect(try reader.strings("error") == ["c"])
        #expect(try reader.integers("statuses") == [500, 503])
        #expect(try reader.texts("query")?.map(\.name) == ["z", "a"])
        #expect(try reader.string("absent") == nil)
        var body = try #require(try reader.table("body"))
        #expect(try body.word("kind", as: Kind.self) == .form)
        try body.finish()
        var formats = try #require(try reader.tables("formats"))
        #expect(try formats[0].string("codec") == "wav")
        try formats[0].finish()
        try reader.finish()
    }

    @Test func aMemberOfAnotherKindIsRefusedAtItsPlace() throws {
        var reader = try reader("[limits]\nseconds = \"60\"\n")
        var limits = try #require(try reader.table("limits"))
        #expect(
            throws: SettingsError(
                "'limits.seconds' must be a number, not a string",
                at: SettingsPosition(line: 2, column: 11))
        ) { try limits.number("seconds") }
    }

    @Test func anUnknownMemberIsRefusedWithWhatMayHaveBeenMeant() throws {
        var reader = try reader("url = \"u\"\nlanguaje = \"en\"\n")
        _ = try reader.string("url")
        _ = try reader.string("language")
        #expect(
            throws: SettingsError(
                "'languaje' is not known; did you mean 'language'?",
                at: SettingsPosition(line: 2, column: 1))
        ) { try reader.finish() }
    }

    @Test func aWordThatIsNoneIsRefusedWithWhatMayHaveBeenMeant() throws {
        var reader = try reader("kind = \"from\"\nother = \"xyzzy\"\n")
        #expect(
            throws: SettingsError(
                "'kind' cannot be 'from'; did you mean 'form'?",
                at: SettingsPosition(line: 1, column: 8))
        ) { try reader.word("kind", as: Kind.self) }
        #expect(
            throws: SettingsError(
                "'other' must be raw, form or json, not 'xyzzy'",
                at: SettingsPosition(line: 2, column: 9))
        ) { try reader.word("other", as: Kind.self) }
    }

    @Test func anErrorIsWrittenAsCompilersDo() {
        let error = SettingsError("it is wrong", at: SettingsPosition(line: 3, column: 7))
        #expect(error.text(of: "a.toml") == "a.toml:3:7: it is wrong")
        #expect(SettingsError("'url' is missing").text(of: "a.toml") == "a.toml: 'url' is missing")
    }
}

@Suite struct EditDistanceTests {
    @Test(arguments: [
        ("", "", 0), ("", "abc", 3), ("list", "list", 0), ("lst", "list", 1), ("ilst", "list", 1),
        ("lsit", "list", 1), ("url", "for", 3), ("kitten", "sitting", 3), ("ca", "abc", 3),
    ])
    func theDistanceIsThatOfTheFewestSlips(_ one: String, _ other: String, _ distance: Int) {
        #expect(EditDistance.between(one, other) == distance)
        #expect(EditDistance.between(other, one) == distance)
    }

    @Test(arguments: [
        ("url", nil), ("fro", "for"), ("answer-timeot", "answer-timeout"), ("x", nil), ("t", nil),
        ("conn", "connect-timeout"), ("", nil), ("ot", "to"),
    ])
    func onlyWhatIsNearIsMeant(_ typed: String, _ meant: String?) {
        let words = ["for", "to", "answer-timeout", "connect-timeout"]
        #expect(EditDistance.nearest(to: typed, among: words) == meant)
        // Two words begin so.
        #expect(EditDistance.nearest(to: "conn", among: words + ["connection"]) == nil)
    }
}
