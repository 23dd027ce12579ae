// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Settings
@testable import SpeechService
@testable import UtterSettings

/// One value of a file changes, and the rest stays as a person has written it.
@Suite struct SettingsTextTests {
    private static let text = """
        # mine
        language = "en"   # for now
        keep.audio = '1d'

        [recording]
        # how long
        max = "30m"
        # silence = "0"

        [services.mine]
        url = "https://a.example/x#y"
        words = { region = "west", tier = 'a' }

        """

    private func changed(
        _ path: String, _ literal: String, in text: String = text
    ) throws -> [String] {
        let after = try SettingsText(text).setting(
            path.split(separator: ".").map(String.init), to: literal)
        let (old, new) = (text.split(separator: "\n"), after.split(separator: "\n"))
        return new.difference(from: old).map { change in
            switch change {
            case .insert(let index, let line, _): "+\(index) \(line)"
            case .remove(let index, let line, _): "-\(index) \(line)"
            }
        }
    }

    @Test(arguments: [
        (
            "language", "\"de\"",
            ["-1 language = \"en\"   # for now", "+1 language = \"de\"   # for now"]
        ),
        ("keep.audio", "\"2d\"", ["-2 keep.audio = '1d'", "+2 keep.audio = \"2d\""]),
        ("recording.max", "\"5m\"", ["-5 max = \"30m\"", "+5 max = \"5m\""]),
        (
            "services.mine.url", "\"https://b.example\"",
            ["-8 url = \"https://a.example/x#y\"", "+8 url = \"https://b.example\""]
        ),
        (
            "services.mine.words.tier", "\"b\"",
            [
                "-9 words = { region = \"west\", tier = 'a' }",
                "+9 words = { region = \"west\", tier = \"b\" }",
            ]
        ),
        // Others are new.
        ("device", "\"yeti\"", ["+3 device = \"yeti\""]),
        // Behind the remark that names it.
        ("recording.silence", "\"2s\"", ["+7 silence = \"2s\""]),
        ("recording.min", "\"1s\"", ["+6 min = \"1s\""]),
        ("services.mine.token-file", "\"t\"", ["+10 token-file = \"t\""]),
        ("output.to", "\"copy\"", ["+10 [output]", "+11 to = \"copy\""]),
        ("services.other.url", "\"u\"", ["+10 [services.other]", "+11 url = \"u\""]),
        // A table in that of a service has no head of its own.
        ("services.mine.auth.kind", "\"none\"", ["+10 auth.kind = \"none\""]),
        (
            "services.other.auth.kind", "\"none\"",
            ["+10 [services.other]", "+11 auth.kind = \"none\""]
        ),
    ])
    func aValueIsReplacedWhereItStandsOrGoesIntoItsTable(
        _ path: String, _ literal: String, _ difference: [String]
    ) throws {
        #expect(try changed(path, literal) == difference)
    }

    @Test func aQuoteBehindABackslashDoesNotEndAValue() throws {
        let difference = try changed("a", "1", in: #"a = "say \"hi\"" # b"# + "\n")
        #expect(difference == [#"-0 a = "say \"hi\"" # b"#, "+0 a = 1 # b"])
    }

    @Test(arguments: [
        ("language", "-1 language = \"en\"   # for now"), ("recording.max", "-5 max = \"30m\""),
    ])
    func theLineOfAValueGoes(_ path: String, _ line: String) throws {
        let after = try SettingsText(Self.text).removing(
            path.split(separator: ".").map(String.init))
        #expect(
            after
                == Self.text.split(separator: "\n", omittingEmptySubsequences: false)
                .filter { $0 != line.dropFirst(3) }.joined(separator: "\n"))
    }

    @Test func aValueGoesIntoItsTableWhereThatHasAHead() throws {
        let text = "[services.a]\nurl = 'u'\n[services.a.auth]\nkind = 'none'\n"
        #expect(
            try SettingsText(text).setting(["services", "a", "auth", "optional"], to: "true")
                == text + "optional = true\n")
        #expect(
            try SettingsText("[services.a]\nauth.kind = 'none'\n")
                .setting(["services", "a", "auth", "optional"], to: "true")
                == "[services.a]\nauth.kind = 'none'\nauth.optional = true\n")
    }

    /// The head goes with the last value, unless a remark stands below it.
    @Test(arguments: [
        ("a = 1\n\n[t]\nb = 2\n", "a = 1\n"), ("[t]\nb = 2\n", ""),
        ("[t]\nb = 2\n\n[u]\nc = 3\n", "[u]\nc = 3\n"),
        ("a = 1\n[t]\n# mine\nb = 2\n", "a = 1\n[t]\n# mine\n"),
        ("[t] # mine\nb = 2\n", "[t] # mine\n"), ("[t]\nb = 2\nc = 3\n", "[t]\nc = 3\n"),
        ("[t]\r\nb = 2\r\n", ""),
    ])
    func noEmptyTableStays(_ text: String, _ after: String) throws {
        #expect(try SettingsText(text).removing(["t", "b"]) == after)
    }

    @Test func anEmptyFileGetsItsFirstLine() throws {
        #expect(try SettingsText("").setting(["language"], to: "\"de\"") == "language = \"de\"\n")
        #expect(
            try SettingsText("").setting(["keep", "audio"], to: "\"0\"")
                == "[keep]\naudio = \"0\"\n")
    }

    @Test func linesMayEndInACarriageReturn() throws {
        let text = "\u{FEFF}a = \"b\"\r\n[keep]\r\naudio = \"1d\"\r\n"
        #expect(
            try SettingsText(text).setting(["keep", "audio"], to: "\"2d\"")
                == "\u{FEFF}a = \"b\"\r\n[keep]\r\naudio = \"2d\"\r\n")
        #expect(
            try SettingsText(text).setting(["keep", "age"], to: "1")
                == "\u{FEFF}a = \"b\"\r\n[keep]\r\naudio = \"1d\"\r\nage = 1\r\n")
    }

    /// What cannot be changed line by line is left to a person.
    @Test(arguments: [
        "language = \"\"\"\nen\n\"\"\"\n", "a = [\n\"language\",\n]\nlanguage = '''en'''\n",
    ])
    func aTextOverSeveralLinesIsNotChanged(_ text: String) throws {
        let place = try SettingsText(text)
        let error = #expect(throws: SettingsText.Mistake.self) {
            try place.setting(["language"], to: "\"de\"")
        }
        guard case .tooElaborate = error else {
            Issue.record("\(error.map { "\($0)" } ?? "none")")
            return
        }
    }

    @Test func aTableInOneLineIsNotTakenApart() throws {
        let text = try SettingsText("words = { region = \"west\" }\n")
        #expect(throws: SettingsText.Mistake.self) { try text.removing(["words", "region"]) }
        #expect(throws: SettingsText.Mistake.self) {
            try text.setting(["words", "tier"], to: "\"a\"")
        }
        #expect(throws: SettingsText.Mistake.notThere) { try text.removing(["language"]) }
    }
}

@Suite struct TOMLTextTests {
    @Test func everyTextIsReadAsItWasWritten() throws {
        // NUL is no character of a text in TOML.
        let text = String(
            String.UnicodeScalarView((1...0x2FF).compactMap { Unicode.Scalar(UInt32($0)) }))
        let document = "a = \(TOMLText.quoted(text))\n\(TOMLText.key("b c")) = 1"
        let table = try SettingsDocument.parse(document)
        #expect(table["a"]?.value == .string(text))
        #expect(table["b c"]?.value == .integer(1))
    }
}
