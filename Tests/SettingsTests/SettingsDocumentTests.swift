// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Settings

@Suite struct SettingsDocumentTests {
    @Test func everyKindOfValueIsReadAtItsPlace() throws {
        let table = try SettingsDocument.parse(
            """
            url = "https://speech.example"
            count = 3
            rate = 1.5
              quiet = true
            names = ["a", 2]
            day = 2026-11-22

            [body]
            kind = "form"
            """)
        #expect(
            table.members.map(\.name) == [
                "url", "count", "rate", "quiet", "names", "day", "body",
            ])
        #expect(table["url"]?.value == .string("https://speech.example"))
        #expect(table["count"]?.value == .integer(3))
        #expect(table["rate"]?.value == .number(1.5))
        #expect(table["quiet"]?.value == .flag(true))
        #expect(table.members[3].place == SettingsPlace(line: 4, column: 3))
        #expect(table["quiet"]?.place == SettingsPlace(line: 4, column: 11))
        #expect(table["day"]?.value == .date)
        guard case .array(let names)? = table["names"]?.value,
            case .table(let body)? = table["body"]?.value
        else {
            Issue.record("the list or the table is missing")
            return
        }
        #expect(names.map(\.value) == [.string("a"), .integer(2)])
        #expect(names.map(\.place.column) == [10, 15])
        #expect(body["kind"]?.value == .string("form"))
    }

    @Test func membersKeepTheOrderInWhichTheyAreWritten() throws {
        let table = try SettingsDocument.parse("z = 1\na = 2\nm = 3\n")
        #expect(table.members.map(\.name) == ["z", "a", "m"])
    }

    @Test(
        arguments: [
            ("url = ", 1), ("url = 'a'\nurl = 'b'\n", 2), ("a = 1\n[b\n", 2), ("x = \"\u{1}\"", 1),
        ])
    func whatIsNoTOMLIsRefusedWithItsLine(_ text: String, line: Int) {
        let error = #expect(throws: SettingsError.self) { try SettingsDocument.parse(text) }
        #expect(error?.place?.line == line)
        #expect(error?.reason.hasPrefix("it is no TOML: ") == true)
    }

    @Test func aNestingWithoutEndIsRefused() {
        let text = "a = " + String(repeating: "[", count: 100_000)
        #expect(throws: SettingsError.self) { try SettingsDocument.parse(text) }
    }

    @Test func aTextWithoutEndIsNotRead() {
        let text = "# " + String(repeating: "x", count: SettingsDocument.byteLimit)
        #expect(throws: SettingsError("it is longer than 1 MiB")) {
            try SettingsDocument.parse(text)
        }
    }

    @Test func nothingIsAnEmptyTable() throws {
        #expect(try SettingsDocument.parse("") == SettingsTable())
    }
}
