// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Uploads to stores of other hands whose program is killed, or whose machine loses its power.
@Suite(.serialized, .enabled(if: Peer.folder != nil))
struct KilledUploadPeerTests {
    /// Without its power the disk loses, tears or zeroes any of what was not yet synced.
    @Test(arguments: Peer.Kind.here, [false, true])
    func aKilledProgramsUploadGoesOn(_ kind: Peer.Kind, losesPower: Bool) async throws {
        let peer = try await Peer(kind)
        let shared = try PeerBench(peer)
        var random = SeededRandom()
        for moment in Self.moments(kind) {
            let bench = losesPower ? try PeerBench(peer) : shared
            let name = "killed-\(moment)"
            let proxy = try await bench.kill(
                sending: "long.wav", as: name, at: moment, losesPower ? FileFaults() : nil)
            if losesPower { try await bench.cutPower(using: &random) }
            try await bench.finish(name, at: proxy.port)
            try await bench.check("long.wav", is: name)
            guard !losesPower, kind.speaksS3, case .passed(9_000_000) = moment else { continue }
            // Sent once more, it is found there.
            try await bench.finish(name, at: proxy.port)
        }
        guard !losesPower, kind.speaksS3 else { return }
        // An upload whose beginning was not answered is known to the store alone.
        let open = try await shared.openUploads().filter {
            !["killed-1", "killed-400"].contains($0)
        }
        #expect(open == [])
    }

    /// Where a program is killed, or the power fails.
    private static func moments(_ kind: Peer.Kind) -> [PeerBench.Moment] {
        // A place without parts has one request, which begins, goes on and ends.
        let passed =
            [2_000_000, 1, 400, 11_900_000] + (kind.speaksS3 ? [5_300_000, 9_000_000] : [])
        return passed.thinned(to: 1).map { .passed($0) }
            + (kind.speaksS3 ? LinkFault.Direction.allCases.map { .joining($0) } : [])
    }

    /// A place without parts has none to list: what is not whole is not there.
    @Test(arguments: Peer.Kind.here.filter { !$0.speaksS3 })
    func aFileThatNeverEndedIsNotThere(_ kind: Peer.Kind) async throws {
        let peer = try await Peer(kind)
        let bench = try PeerBench(peer)
        let proxy = try await bench.kill(sending: "long.wav", as: "left", at: .passed(9_000_000))
        #expect(try peer.names() == [])
        try await bench.finish("left", at: proxy.port)
        try await bench.check("long.wav", is: "left")
    }
}
