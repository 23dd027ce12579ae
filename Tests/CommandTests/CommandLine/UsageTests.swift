// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Programs that belong together, and are not.
@Suite struct UsageTests {
    @Test(arguments: [
        ("utter", "serve", "utter-endpoint"), ("utter", "demo", "utter-endpoint"),
        ("utter", "keys", "utter-keys"), ("utter-endpoint", "serve", "utter-ear"),
        ("utter-endpoint", "demo", "utter-ear"),
    ])
    func aMissingProgramIsStatus70(_ own: String, _ command: String, _ name: String) async throws {
        let bench = try Bench()
        let program = try #require(BuiltProducts.path(of: own))
        // The program looks beside itself; a copy elsewhere is alone.
        let lonely = bench.folder.path(own)
        try ForeignTool("cp").run(["-L", program, lonely])
        let result = try await CommandRun.run(
            lonely, [command], environment: bench.environment)
        #expect(result.status == .exited(70))
        #expect(result.output.isEmpty)
        #expect(result.errorText.hasPrefix("utter: error: \(name) is missing beside \(lonely)"))
        #expect(result.errorText.contains("utter: hint: build it with: "))
    }
}
