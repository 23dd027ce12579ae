// SPDX-License-Identifier: Apache-2.0

import LinuxPlatform
import TestSupport
import Testing

/// What docs/fleet.md tells an operator to write.
@Suite struct FleetPageTests {
    @Test func systemdTakesTheUnitOfThePage() throws {
        let page = String(
            decoding: try readFile(SourceTree.path("docs/fleet.md"), limit: 1 << 20), as: UTF8.self)
        let unit = try #require(page.firstMatch(of: /```ini\n([^`]*)```/)).1
        #expect(unit.contains("ExecStart=/usr/bin/utter fleet --store "))
        let folder = try TemporaryFolder()
        // Where utter is not installed, systemd would say so.
        let text = unit.replacing("/usr/bin/utter", with: "/bin/true")
        try folder.write(Array(text.utf8), to: "utter-work@.service")
        try ForeignTool("systemd-analyze").run(
            ["--man=no", "verify", folder.path("utter-work@.service")])
    }
}
