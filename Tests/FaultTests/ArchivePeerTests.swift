// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Archives at stores of other hands: each gets every take, whatever is cut or killed on the way.
@Suite(.serialized, .enabled(if: Peer.folder != nil))
struct ArchivePeerTests {
    @Test(arguments: Peer.Kind.here)
    func anArchiveGetsEachTakeOverAnyLink(_ kind: Peer.Kind) async throws {
        let peer = try await Peer(kind)
        let bench = try PeerBench(peer)
        let service = try RecordingServer(otherwise: .answer(text: "well said"))
        let offsets = [300, 64_300, 0, 20_000, 65_500].thinned(to: 2)
        for offset in offsets {
            for direction in [LinkFault.Direction.toService, .toClient] {
                let proxy = try FaultProxy(
                    to: peer.port, plans: [LinkPlan(LinkFault(.reset, direction, at: offset))])
                let archive = "\(offset)-\(direction)/{date}/{id}.{ext}"
                let sent = try bench.start(
                    ["send", "-q", "--to", service.url(), bench.path("short.wav")], nil,
                    as: archive, at: proxy.port)
                let result = try await sent.result()
                #expect(result.status == .exited(0), "\(result.errorText)")
                #expect(result.outputText == "well said\n")
                let rest = try await bench.start(
                    ["retry", "all"], nil, as: archive, at: proxy.port
                ).result()
                #expect(rest.status == .exited(0), "\(rest.errorText)")
            }
        }
        let found = try peer.names()
        #expect(found.count == (FewFaults.areWanted ? 12 : 30))
        for name in found where name.hasSuffix(".wav") {
            try await bench.check("short.wav", is: name)
        }
        for name in found where name.hasSuffix(".txt") {
            #expect(try peer.bytes(of: name) == Array("well said\n".utf8))
        }
    }

    /// In bytes of the requests to an archive; Apache gets the audio again once it has the folders.
    private static func passed(_ kind: Peer.Kind) -> [Int] {
        ([20_000, 1, 300, 64_300, 65_000] + (kind == .apache ? [66_000, 100_000] : []))
            .thinned(to: 1)
    }

    /// Without its power the disk loses, tears or zeroes any of what was not yet synced.
    @Test(arguments: Peer.Kind.here, [false, true])
    func anArchiveGetsTheTakeOfAKilledProgram(
        _ kind: Peer.Kind, losesPower: Bool
    ) async throws {
        let peer = try await Peer(kind)
        let shared = try PeerBench(peer)
        var random = SeededRandom()
        let service = try RecordingServer(otherwise: .answer(text: "well said"))
        for passed in Self.passed(kind) {
            let bench = losesPower ? try PeerBench(peer) : shared
            let name = "killed-\(passed)/{date}/{id}.{ext}"
            let proxy = try await bench.kill(
                archiving: "short.wav", of: service, as: name, after: passed,
                losesPower ? FileFaults() : nil)
            if losesPower { try await bench.cutPower(using: &random) }
            try await bench.finish(
                name, at: proxy.port, by: losesPower ? ["retry", "-q", "all"] : ["flush", "-q"])
            try await bench.checkArchive("killed-\(passed)", has: "short.wav", "well said\n")
        }
        #expect(losesPower || service.requests.count == Self.passed(kind).count)
    }
}
