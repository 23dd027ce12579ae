// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

/// tus servers of other hands, which `make peers` puts below the folder that `UTTER_PEERS` names:
/// each gets recordings over links that are cut at any byte, with either end killed.
@Suite(.serialized, .enabled(if: Peer.folder != nil))
struct TusPeerTests {
    @Test(arguments: TusPeer.Kind.allCases)
    func aRecordingIsUploadedOverAnyLink(_ kind: TusPeer.Kind) async throws {
        let peer = try await TusPeer(kind)
        try await peer.upload(through: [])
        // The first connection makes the upload, the second has the recording.
        let offsets = [400, 5_244_500, 0, 100, 5_000, 11_000_000, 12_000_300]
        for offset in offsets.thinned(to: 2) {
            let cut = LinkPlan(LinkFault(.reset, .toService, at: offset))
            try await peer.upload(through: [cut])
            try await peer.upload(through: [LinkPlan(), cut])
            let log = try peer.log
            #expect(try peer.count("POST") == 1, "cut at \(offset): \(log)")
        }
        // An answer is lost, or cut.
        for offset in [0, 100, 20, 300].thinned(to: 2) {
            let cut = LinkPlan(LinkFault(.reset, .toClient, at: offset))
            try await peer.upload(through: [cut])
            try await peer.upload(through: [LinkPlan(), cut])
            let log = try peer.log
            #expect(try peer.count("POST") == 1, "complete, cut at \(offset): \(log)")
        }
    }

    @Test(arguments: TusPeer.Kind.allCases)
    func aKilledProgramsUploadGoesOn(_ kind: TusPeer.Kind) async throws {
        let peer = try await TusPeer(kind)
        for passed in [400, 5_300_000, 1, 2_000_000, 9_000_000, 11_900_000].thinned(to: 2) {
            try peer.forgetAll()
            let home = try TemporaryFolder()
            let proxy = try FaultProxy(to: peer.port) { LinkPlan(bytesPerSecond: 8_000_000) }
            // Kept whole first: a file that is not read to its end is a part of itself.
            await proxy.cut()
            let words = ["send", "-q", "-c", "retry.never=true"]
            _ = try await peer.start(words, home, proxy.port).result()
            await proxy.mend()
            let before = proxy.connectionCount
            let run = try peer.start(["retry", "-q"], home, proxy.port)
            #expect(await hasPassed(passed, proxy, from: before))
            run.signal(SIGKILL)
            _ = try await run.result()
            // A server that is still at what the first has sent may take nothing for a while.
            let patient = ["retry", "-q", "-c", "retry.never=false"]
            let rest = try await peer.start(patient, home, proxy.port).result()
            #expect(rest.status == .exited(0), "\(rest.errorText)")
            try peer.check()
            let log = try peer.log
            // Near the end the server may still be at the last bytes of the first, and give it up.
            if (2_000_000..<11_000_000).contains(passed) {
                #expect(try peer.count("POST") == 1, "killed at \(passed): \(log)")
            }
        }
    }

    @Test(arguments: TusPeer.Kind.allCases)
    func anUploadOutlivesTheServer(_ kind: TusPeer.Kind) async throws {
        let peer = try await TusPeer(kind)
        for passed in [2_000_000, 400, 9_000_000].thinned(to: 1) {
            try peer.forgetAll()
            let home = try TemporaryFolder()
            let proxy = try FaultProxy(to: peer.port) { LinkPlan(bytesPerSecond: 8_000_000) }
            let run = try peer.start(["send", "-q"], home, proxy.port)
            #expect(await hasPassed(passed, proxy, from: 0))
            try await peer.restart()
            #expect(try await run.result().status == .exited(0))
            try peer.check()
        }
    }

    private func hasPassed(_ count: Int, _ proxy: FaultProxy, from first: Int) async -> Bool {
        await comesTrue {
            let last = max(first, proxy.connectionCount)
            return (first..<last).reduce(0) { $0 + proxy.passed($1).request } >= count
        }
    }
}

/// A tus server that can be killed and begun again at the same port, and a person who sends to it.
final class TusPeer: Sendable {
    /// By their programs in `scripts`.
    enum Kind: String, CaseIterable, Sendable {
        case tuspyserver = "peer-tuspyserver"
        case resumableUpload = "peer-resumable-upload"
    }

    private let kind: Kind
    private let reservation: ReservedPort
    var port: UInt16 { reservation.port }
    private let place: TemporaryFolder
    private let long: [UInt8]
    private let run: Mutex<CommandRun>

    init(_ kind: Kind) async throws {
        self.kind = kind
        (reservation, place) = (try ReservedPort(), try TemporaryFolder())
        mkdir(place.path("files"), 0o700)
        var random = SeededRandom(seed: 24)
        long = WAVBytes.whole(random.bytes(12_000_000))
        try place.write(long, to: "long.wav")
        run = Mutex(try Self.serve(kind, place, reservation.port))
        try #require(await reservation.waitUntilOpen())
    }

    deinit { run.withLock { $0.signal(SIGKILL) } }

    private static func serve(_ kind: Kind, _ place: TemporaryFolder, _ port: UInt16) throws
        -> CommandRun
    {
        try CommandRun(
            try #require(Peer.folder) + "/bin/python3",
            [SourceTree.path("scripts/\(kind.rawValue).py"), place.path, "\(port)"],
            environment: CommandRun.cleanEnvironment)
    }

    func restart() async throws {
        let before = run.withLock { $0 }
        before.signal(SIGKILL)
        _ = try await before.result()
        try run.withLock { $0 = try Self.serve(kind, place, port) }
    }

    func forgetAll() throws {
        for name in try place.names(in: "files") { unlink(place.path("files/\(name)")) }
        unlink(place.path("log"))
    }

    func start(_ words: [String], _ home: TemporaryFolder, _ port: UInt16) throws -> CommandRun {
        var environment = CommandRun.cleanEnvironment
        environment["HOME"] = home.path
        let to = [
            "--service", "tus", "--to", "http://127.0.0.1:\(port)/files", place.path("long.wav"),
        ]
        let words = words.first == "send" ? words + to : words
        return try .product("utter", words, environment: environment)
    }

    func upload(through plans: [LinkPlan]) async throws {
        try forgetAll()
        let home = try TemporaryFolder()
        let proxy = try FaultProxy(to: port, plans: plans)
        // Kept first: a file that is still read when the server has been asked may keep the disk busy for
        // longer than a connection is used again, and the upload is made by another one.
        await proxy.cut()
        let words = ["send", "-q", "-c", "retry.never=true"]
        #expect(try await start(words, home, proxy.port).result().status != .exited(0))
        await proxy.mend()
        let patient = ["retry", "-q", "-c", "retry.never=false"]
        let result = try await start(patient, home, proxy.port).result()
        #expect(result.status == .exited(0) && result.errorText == "", "\(result.errorText)")
        try check()
    }

    /// One of the uploads is the recording, byte for byte.
    func check() throws {
        let found = try place.names(in: "files")
        // One of them keeps a folder there, too.
        #expect(found.contains { (try? place.read("files/\($0)")) == long }, "\(found)")
    }

    /// A line for each answer.
    var log: String { get throws { String(decoding: try place.read("log"), as: UTF8.self) } }

    func count(_ method: String) throws -> Int {
        try log.split(separator: "\n")
            .count { $0.hasPrefix(method) }
    }
}
