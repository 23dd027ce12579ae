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
        #expect(table.members[3].place == SettingsPosition(line: 4, column: 3))
        #expect(table["quiet"]?.place == SettingsPosition(line: 4, column: 11))
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

    @Test(
        arguments: [
            ("url = ", 1), ("url = 'a'\nurl = 'b'\n", 2), ("a = 1\n[b\n", 2), ("x = \"\u{1}\"", 1),
        ])
    func whatIsNoTOMLIsRefusedWithItsLine(_ text: String, line: Int) {
        let error = #expect(throws: SettingsError.self) { try SettingsDocument.parse(text) }
        #expect(error?.place?.line == line)
        #expect(error?.reason.hasPrefix("it is not valid TOML: ") == true)
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

    @Test(arguments: ["device = mic", "title = foo"])
    func aTextWithoutQuotationMarksIsRecognised(_ text: String) throws {
        let error = #expect(throws: SettingsError.self) { try SettingsDocument.parse(text) }
        #expect(error?.reason.hasSuffix("a text stands between quotation marks") == true)
    }

    /// toml++ would make a table of each part, and tables in tables need a stack.
    @Test(arguments: ["%= 1", "[%]", "a = { % = 1 }", "a = [ [ { % = 1 } ] ]"])
    func aKeyOfTooManyPartsIsNotRead(_ form: String) throws {
        let key = Array(repeating: "a", count: 20_000).joined(separator: ".")
        let error = #expect(throws: SettingsError.self) {
            try SettingsDocument.parse(
                "# ok\n"
                    + form.split(separator: "%", omittingEmptySubsequences: false).joined(
                        separator: key))
        }
        #expect(error?.place?.line == 2)
    }

    @Test func dotsInTextsAndRemarksAreNoParts() throws {
        let dots = String(repeating: ". ", count: 100)
        let table = try SettingsDocument.parse(
            """
            # \(dots)
            a = "\(dots)\\"\(dots)" # \(dots)
            b = '\(dots)'
            c = \"\"\"\(dots)"\(dots)
            \(dots)\"\"\"
            d.e.f = 1.5
            """)
        #expect(table.members.map(\.name) == ["a", "b", "c", "d"])
    }

    @Test func aReasonIsNoLongerThanAPersonReads() throws {
        let name = String(repeating: "x", count: 10_000)
        var reader = SettingsReader(try SettingsDocument.parse("\(name) = 1"))
        _ = try reader.string("other")
        let error = #expect(throws: SettingsError.self) { try reader.finish() }
        #expect(error?.text(of: "file").count == "file:1:1: ".count + 401)
    }

    @Test(arguments: [
        ("-1", false), ("0", false), ("nan", false), ("inf", false), ("61", false),
        ("60", true), ("2.4", true),
    ])
    func secondsHaveBounds(_ text: String, _ isRead: Bool) throws {
        var reader = SettingsReader(try SettingsDocument.parse("a = \(text)"))
        if isRead {
            let time = try reader.seconds("a", upTo: 60)
            #expect(time == (text == "60" ? .seconds(60) : .milliseconds(2_400)))
        } else {
            #expect(throws: SettingsError.self) { try reader.seconds("a", upTo: 60) }
        }
    }

    @Test func nothingIsAnEmptyTable() throws {
        #expect(try SettingsDocument.parse("") == SettingsTable())
    }
}
