// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService

@Suite struct JSONTextTests {
    @Test func whatIsNoPlainCharacterIsEscaped() throws {
        #expect(
            JSONText.quoted("a\"b\\c\n\r\t\u{1}\u{1F} \u{7F}\u{80}é")
                == #""a\"b\\c\n\r\t\u0001\u001f \u007f"# + "\u{80}é\"")
    }

    @Test func everyTextIsReadAsItWasWritten() throws {
        let text = String(
            String.UnicodeScalarView((0...0x2FF).compactMap { Unicode.Scalar(UInt32($0)) }))
        #expect(try JSONParser.parse(Array(JSONText.quoted(text).utf8)) == .string(text))
    }
}
