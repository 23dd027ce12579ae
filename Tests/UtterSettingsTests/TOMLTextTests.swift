// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Settings
@testable import UtterSettings

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
