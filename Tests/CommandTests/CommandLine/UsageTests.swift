// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Programs that belong together, and are not.
@Suite struct UsageTests {
    @Test(arguments: [
        (
            "utter",
            [("serve", "utter-endpoint"), ("demo", "utter-endpoint"), ("keys", "utter-keys")]
        ),
        ("utter-endpoint", [("serve", "utter-ear"), ("demo", "utter-ear")]),
    ])
    func aMissingProgramIsStatus70(_ own: String, _ commands: [(String, String)]) async throws {
        let bench = try Bench()
        // The program looks beside itself; a copy elsewhere is alone.
        let lonely = bench.folder.path(own)
        try ForeignTool("cp").run(["-L", #require(BuiltProducts.path(of: own)), lonely])
        for (command, name) in commands {
            let result = try await CommandRun.run(
                lonely, [command], environment: bench.environment)
            #expect(result.status == .exited(70))
            #expect(result.output.isEmpty)
            #expect(
                result.errorText.hasPrefix("utter: error: \(name) is missing beside \(lonely)"))
            #expect(result.errorText.contains("utter: hint: build it with: "))
        }
    }
}
