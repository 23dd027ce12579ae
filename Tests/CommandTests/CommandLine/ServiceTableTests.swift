// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Settings
@testable import UtterCommands
@testable import UtterSettings

/// Names that are not known, in the tables of the person's file.
@Suite struct ServiceTableTests {
    @Test(arguments: ["[recording]\nfoo = 1", "[terminal]\nzzz = 'x'", "[output]\nfoo = true"])
    func anUnknownNameInATableThatARecordingCanDoWithoutIsLeftOut(_ text: String) throws {
        let table = try SettingsDocument.parse("service = 'openai'\n" + text)
        let configuration = try Configuration(table, KnownSettings.catalogue)
        #expect(configuration["service"]?.text == "openai")
        #expect(configuration.problems.count == 1)
        #expect(configuration.problems.first?.reason.hasSuffix("' is not known") == true)
    }

    @Test(arguments: ["[keep]\nfoo = 1", "[limits]\nzzz = 1", "[archive]\nfoo = 1", "zzz = 1"])
    func anUnknownNameElsewhereStopsARecording(_ text: String) throws {
        let table = try SettingsDocument.parse(text)
        #expect(throws: SettingsError.self) { try Configuration(table, KnownSettings.catalogue) }
    }
}
