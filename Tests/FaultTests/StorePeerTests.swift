// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Stores of other hands, which `make peers` puts below the folder that `UTTER_PEERS` names or, from
/// Debian, into the system: each gets recordings over links that are cut at any byte.
@Suite(.serialized, .enabled(if: Peer.folder != nil))
struct StorePeerTests {
    private static let megabyte = 1_000_000
    /// Two parts of the smallest size and a piece.
    private static let longByteCount = 12 * megabyte

    @Test(arguments: Peer.Kind.here)
    func aRecordingIsStoredOverAnyLink(_ kind: Peer.Kind) async throws {
        let peer = try await Peer(kind)
        let bench = try PeerBench(peer)
        try await bench.store("short.wav", as: "short", through: [])
        try await bench.store("long.wav", as: "a b/ü+~.wav", through: [])
        // The head of a request, parts, and what joins them.
        let joining = kind.speaksS3 ? [12_003_500] : []
        for offset in ([5_244_500] + joining + [100, 900, 11_000_000]).thinned(to: 2) {
            try await bench.store(
                "long.wav", as: "cut-\(offset)",
                through: [LinkPlan(LinkFault(.reset, .toService, at: offset))])
        }
        // An answer is lost, or cut: each of the first connection's, one after the other.
        let lost = kind.speaksS3 ? [0, 400, 800, 1_200, 1_600, 2_000] : [0, 100]
        for offset in lost.thinned(to: 2) {
            try await bench.store(
                "long.wav", as: "lost-\(offset)",
                through: [LinkPlan(LinkFault(.reset, .toClient, at: offset))])
        }
        for count in [3, 6].thinned(to: 1) {
            let plans = (0..<count).map { LinkPlan(LinkFault(.finish, .toClient, at: $0 * 90)) }
            try await bench.store("long.wav", as: "often-\(count)", through: plans)
        }
    }

    /// What is encrypted on the way is the recording again, and each byte is accounted for.
    @Test(arguments: Peer.Kind.here)
    func anEncryptedRecordingIsStoredInParts(_ kind: Peer.Kind) async throws {
        let peer = try await Peer(kind)
        let bench = try PeerBench(peer)
        let key = try bench.key()
        for offset in [nil, 7_000_000] {
            let plans = offset.map { [LinkPlan(LinkFault(.reset, .toService, at: $0))] } ?? []
            let proxy = try FaultProxy(to: peer.port, plans: plans)
            let name = "sealed-\(offset ?? 0)"
            let result = try await bench.start(
                ["send", "-q", "-c", "body.key-file=\(key)"], "long.wav", as: name,
                at: proxy.port
            ).result()
            #expect(result.status == .exited(0))
            #expect(result.errorText == "")
            try await bench.checkExport(of: name, is: "long.wav", by: key)
        }
    }

    @Test(arguments: Peer.Kind.here.filter(\.speaksS3))
    func anUploadThatNeverEndedIsListedAndDropped(_ kind: Peer.Kind) async throws {
        let peer = try await Peer(kind)
        let bench = try PeerBench(peer)
        _ = try await bench.kill(sending: "long.wav", as: "left/a b.wav", at: .passed(9_000_000))
        #expect(try await bench.openUploads(below: "left/", aborts: true) == ["left/a b.wav"])
        #expect(try await bench.openUploads(below: "left/") == [])
    }

    @Test(arguments: Peer.Kind.here.filter { $0 != .rclone && $0 != .openStack })
    func anObjectOfAnotherIsNotReplaced(_ kind: Peer.Kind) async throws {
        let peer = try await Peer(kind)
        let bench = try PeerBench(peer)
        for (first, second) in [("short.wav", "long.wav"), ("long.wav", "short.wav")] {
            try await bench.store(first, as: "kept-\(first)", through: [])
            let result = try await bench.start(
                ["send", "-q"], second, as: "kept-\(first)", at: peer.port
            ).result()
            #expect(result.status == .exited(69), "\(result.errorText)")
            #expect(result.errorText.contains("another object of that name is there"))
            try await bench.check(first, is: "kept-\(first)")
        }
    }

    /// OpenStack Swift heeds them over S3 where parts are joined, and refuses them elsewhere.
    @Test(.disabled(if: !OpenStackSwift.mayRun, "\(OpenStackSwift.obstacle ?? "")"))
    func openStackRefusesTheConditionOfASingleRequest() async throws {
        let peer = try await Peer(.openStack)
        let bench = try PeerBench(peer)
        // The profile that ships has it.
        let words = [
            "send", "-q", "--service", try bench.profile(at: peer.port, of: .seaweedfs), "--to",
            "s3://voices/refused", bench.path("short.wav"),
        ]
        let refused = try await bench.start(words, nil, as: "refused", at: peer.port).result()
        #expect(refused.status == .exited(69), "\(refused.errorText)")
        #expect(refused.errorText.contains("501: Conditional object PUTs are not supported"))
        #expect(refused.errorText.contains("kept: "))
        #expect(try peer.names() == [])
        // Without it, what is in one request replaces another, and what is in parts does not.
        try await bench.store("long.wav", as: "one", through: [])
        try await bench.store("short.wav", as: "one", through: [])
        let result = try await bench.start(
            ["send", "-q"], "long.wav", as: "one", at: peer.port
        ).result()
        #expect(result.status == .exited(69), "\(result.errorText)")
        #expect(result.errorText.contains("another object of that name is there"))
        try await bench.check("short.wav", is: "one")
    }
}
