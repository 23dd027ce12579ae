// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// A store of other hands that answers 200 to a range, with the part alone, and takes no notice of
/// `If-Range`; `make peers` has it.
@Suite(.enabled(if: Peer.folder != nil))
struct FetchPeerTests {
    @Test func aFileIsRightFromAStoreThatAnswers200ToARange() async throws {
        let root = try TemporaryFolder()
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }
        try ForeignTool("mkdir").run([root.path("voices")])
        try root.write(bytes, to: "voices/a.mp3")
        let reservation = try ReservedPort()
        let programs = try #require(Peer.folder) + "/bin"
        let store = try CommandRun(
            "\(programs)/rclone",
            ["serve", "s3", "--addr", "127.0.0.1:\(reservation.port)", root.path],
            environment: CommandRun.cleanEnvironment)
        try #require(await reservation.waitUntilOpen())
        for cuts in [[400], [300_000], [500_000, 300_000]] {
            let home = try TemporaryFolder()
            let proxy = try FaultProxy(
                to: reservation.port,
                plans: cuts.map { LinkPlan(LinkFault(.finish, .toClient, at: $0)) })
            var environment = CommandRun.cleanEnvironment
            environment["HOME"] = home.path
            let result = try await CommandRun.product(
                "utter",
                ["fetch", "-o", home.path("a"), "http://127.0.0.1:\(proxy.port)/voices/a.mp3"],
                environment: environment
            ).result()
            #expect(result.status == .exited(0), "\(result.errorText)")
            #expect(try home.read("a") == bytes)
            #expect(proxy.connectionCount == cuts.count + 1)
        }
        store.signal(9)
    }
}
