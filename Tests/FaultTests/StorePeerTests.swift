// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Utter

/// Object stores of other hands, which `make peers` puts below the folder that `UTTER_PEERS` names:
/// each gets recordings over links that are cut at any byte, from programs that are killed.
@Suite(.serialized, .enabled(if: Peer.folder != nil))
struct StorePeerTests {
    private static let megabyte = 1_000_000
    /// Two parts of the smallest size and a piece.
    private static let longByteCount = 12 * megabyte

    @Test(arguments: Peer.Kind.allCases)
    func aRecordingIsStoredOverAnyLink(_ kind: Peer.Kind) async throws {
        let peer = try await Peer(kind)
        let bench = try PeerBench(peer)
        try await bench.store("short.wav", as: "short", through: [])
        try await bench.store("long.wav", as: "a b/ü+~.wav", through: [])
        // The head of a request, parts, and what joins them.
        for offset in [100, 900, 5_244_500, 11_000_000, 12_003_500] {
            try await bench.store(
                "long.wav", as: "cut-\(offset)",
                through: [LinkPlan(LinkFault(.reset, .toService, at: offset))])
        }
        // An answer is lost, or cut: each of the first connection's, one after the other.
        for offset in stride(from: 0, through: 2_000, by: 400) {
            try await bench.store(
                "long.wav", as: "lost-\(offset)",
                through: [LinkPlan(LinkFault(.reset, .toClient, at: offset))])
        }
        for count in [3, 6] {
            let plans = (0..<count).map { LinkPlan(LinkFault(.finish, .toClient, at: $0 * 90)) }
            try await bench.store("long.wav", as: "often-\(count)", through: plans)
        }
    }

    /// What is encrypted on the way is the recording again, and each byte is accounted for.
    @Test(arguments: Peer.Kind.allCases)
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

    @Test(arguments: Peer.Kind.allCases)
    func aKilledProgramsUploadGoesOn(_ kind: Peer.Kind) async throws {
        let peer = try await Peer(kind)
        let bench = try PeerBench(peer)
        for passed in Self.passed {
            let name = "killed-\(passed)"
            let proxy = try await bench.kill(sending: "long.wav", as: name, after: passed)
            try await bench.finish(name, at: proxy.port)
            try bench.check("long.wav", is: name)
        }
    }

    /// In bytes of a request: where a program is killed, or the power fails.
    private static let passed = [1, 400, 2_000_000, 5_300_000, 9_000_000, 11_900_000]

    /// Any of what was not yet synced is lost, torn or zeroed.
    @Test(arguments: Peer.Kind.allCases)
    func anUploadGoesOnAfterAPowerCut(_ kind: Peer.Kind) async throws {
        let peer = try await Peer(kind)
        var random = SeededRandom()
        for passed in Self.passed {
            let (bench, name) = (try PeerBench(peer), "power-\(passed)")
            let proxy = try await bench.kill(
                sending: "long.wav", as: name, after: passed, FileFaults())
            try bench.cutPower(using: &random)
            try await bench.finish(name, at: proxy.port)
            try bench.check("long.wav", is: name)
        }
    }

    @Test(arguments: Peer.Kind.allCases)
    func anUploadThatNeverEndedIsListedAndDropped(_ kind: Peer.Kind) async throws {
        let peer = try await Peer(kind)
        let bench = try PeerBench(peer)
        _ = try await bench.kill(sending: "long.wav", as: "left/a b.wav", after: 9_000_000)
        let pipeline = try Pipeline(spool: nil) { question in
            question.source == .variable("AWS_ACCESS_KEY_ID") ? Peer.user : Peer.key
        }
        defer { pipeline.shutDown() }
        let delivery = try Service(
            try bench.profile(at: peer.port), words: ["bucket": "voices", "key": "left/{id}.{ext}"]
        ).delivery
        // The clock of a store may go after ours.
        let found = try await pipeline.openUploads(at: delivery, olderThan: .seconds(-60))
        #expect(found?.map(\.key) == ["left/a b.wav"])
        for upload in found ?? [] { try await pipeline.abort(upload, at: delivery) }
        #expect(try await pipeline.openUploads(at: delivery, olderThan: .seconds(-60)) == [])
    }

    @Test(arguments: Peer.Kind.allCases)
    func anArchiveGetsEachTakeOverAnyLink(_ kind: Peer.Kind) async throws {
        let peer = try await Peer(kind)
        let bench = try PeerBench(peer)
        let service = try RecordingServer(otherwise: .answer(text: "well said"))
        for offset in [0, 300, 20_000, 64_300, 65_500] {
            for direction in [LinkFault.Direction.toService, .toClient] {
                let proxy = try FaultProxy(
                    to: peer.port, plans: [LinkPlan(LinkFault(.reset, direction, at: offset))])
                let archive = "voices/\(offset)-\(direction)/{date}/{id}.{ext}"
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
        let names = try peer.rclone(["lsf", "-R", "--files-only", peer.object("")])
        let found = String(decoding: names, as: UTF8.self).split(separator: "\n")
        #expect(found.count == 30)
        for name in found where name.hasSuffix(".wav") {
            try bench.check("short.wav", is: String(name))
        }
        for name in found where name.hasSuffix(".txt") {
            #expect(
                try peer.rclone(["cat", peer.object(String(name))]) == Array("well said\n".utf8))
        }
    }

    @Test(arguments: [Peer.Kind.seaweedfs, .moto])
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
            try bench.check(first, is: "kept-\(first)")
        }
    }
}

/// A store that runs while this value lives.
final class Peer: Sendable {
    enum Kind: String, CaseIterable, Sendable { case seaweedfs, moto, rclone }

    /// Where their programs are; nil when tests do without.
    static let folder = ProcessInfo.processInfo.environment["UTTER_PEERS"]

    static let user = "testkey"
    static let key = "testsecret"

    let port: UInt16
    private let run: CommandRun
    private let place: TemporaryFolder

    init(_ kind: Kind) async throws {
        let programs = try #require(Self.folder) + "/bin"
        place = try TemporaryFolder()
        port = try Self.freePort()
        let program: String
        var words: [String]
        switch kind {
        case .seaweedfs:
            program = "weed"
            try place.write(
                Array(
                    """
                    {"identities":[{"name":"t","actions":["Admin","Read","Write","List"],
                    "credentials":[{"accessKey":"\(Self.user)","secretKey":"\(Self.key)"}]}]}
                    """.utf8), to: "keys.json")
            words = [
                "server", "-ip=127.0.0.1", "-dir=\(place.path)", "-volume.max=30", "-filer", "-s3",
                "-s3.port=\(port)", "-s3.config=\(place.path("keys.json"))",
            ]
            for part in ["master", "volume", "filer"] {
                words += [
                    "-\(part).port=\(try Self.freePort())",
                    "-\(part).port.grpc=\(try Self.freePort())",
                ]
            }
            words += [
                "-s3.port.grpc=\(try Self.freePort())", "-s3.port.iceberg=0", "-s3.port.lance=0",
            ]
        case .moto:
            program = "moto_server"
            words = ["-H", "127.0.0.1", "-p", "\(port)"]
        case .rclone:
            program = "rclone"
            words = [
                "serve", "s3", "--addr", "127.0.0.1:\(port)", "--auth-key",
                "\(Self.user),\(Self.key)", place.path,
            ]
        }
        run = try CommandRun(
            "\(programs)/\(program)", words, environment: CommandRun.cleanEnvironment)
        // It refuses until it is there.
        let isReady = await patiently { [self] in (try? rclone(["mkdir", object("")])) != nil }
        try #require(isReady, "\(kind) does not take requests")
    }

    deinit { run.signal(SIGKILL) }

    /// What the client of other hands calls an object.
    func object(_ name: String) -> String {
        ":s3,provider=Other,access_key_id=\(Self.user),secret_access_key=\(Self.key),"
            + "endpoint='http://127.0.0.1:\(port)':voices/\(name)"
    }

    @discardableResult
    func rclone(_ words: [String]) throws -> [UInt8] {
        let programs = try #require(Self.folder) + "/bin"
        return try ForeignTool("\(programs)/rclone").run(
            words + [
                "--config", "/dev/null", "--retries", "1", "--low-level-retries", "1",
                "--contimeout", "2s",
            ]
        ).output
    }

    static func freePort() throws -> UInt16 {
        let proxy = try FaultProxy(to: 9)
        proxy.stop()
        return proxy.port
    }
}

/// Recordings, and a person who sends them to a peer.
private final class PeerBench: Sendable {
    private let peer: Peer
    private let folder: TemporaryFolder

    init(_ peer: Peer) throws {
        self.peer = peer
        folder = try TemporaryFolder()
        mkdir(folder.path("home"), 0o700)
        var random = SeededRandom(seed: 24)
        for (name, count) in [("short.wav", 64_000), ("long.wav", 12_000_000)] {
            let samples = random.bytes(count)
            try folder.write(
                WAVBytes.file([
                    WAVBytes.chunk("fmt ", WAVBytes.format()), WAVBytes.chunk("data", samples),
                ]), to: name)
        }
    }

    func path(_ recording: String) -> String { folder.path(recording) }

    /// Starts `utter`, with an archive if the name has a mark.
    func start(
        _ words: [String], _ recording: String?, as name: String, at port: UInt16,
        _ faults: FileFaults? = nil
    ) throws -> CommandRun {
        let profile = try profile(at: port)
        var environment = CommandRun.cleanEnvironment
        environment["HOME"] = folder.path("home")
        environment["ALSA_CONFIG_PATH"] = "/dev/null"
        environment["AWS_ACCESS_KEY_ID"] = Peer.user
        environment["AWS_SECRET_ACCESS_KEY"] = Peer.key
        if name.contains("{id}") {
            environment["UTTER_ARCHIVE"] = "s3://\(name)"
            for path in ["home/.config", "home/.config/utter"] { mkdir(folder.path(path), 0o700) }
            try folder.write(
                Array("[archive]\nservice = '\(profile)'\n".utf8),
                to: "home/.config/utter/config.toml")
        }
        var words = words
        if let recording {
            words += [
                "--to", "s3://voices/\(name)", "--service", profile, folder.path(recording),
            ]
        }
        let more = try faults?.environment(
            folder: folder.path("home"), trace: folder.path("trace"))
        return try .product(
            "utter", words, environment: environment.merging(more ?? [:]) { $1 })
    }

    func profile(at port: UInt16) throws -> String {
        try folder.write(
            Array("extends = 's3'\nurl = 'http://127.0.0.1:\(port)/{bucket}/{key}'\n".utf8),
            to: "there.toml")
    }

    /// Kills a program that sends a recording again, once so many bytes of its requests have passed.
    ///
    /// - Returns: a link that is a good one from then on.
    func kill(
        sending recording: String, as name: String, after passed: Int, _ faults: FileFaults? = nil
    ) async throws -> FaultProxy {
        let proxy = try FaultProxy(to: peer.port) { LinkPlan(bytesPerSecond: 8_000_000) }
        // Kept whole first: a file that is not read to its end is a part of itself.
        await proxy.cut()
        let kept = try await start(
            ["send", "-q", "-c", "retry.never=true"], recording, as: name, at: proxy.port, faults
        ).result()
        #expect(kept.status != .exited(0))
        await proxy.mend()
        let before = proxy.connectionCount
        let run = try start(["retry", "-q"], nil, as: name, at: proxy.port, faults)
        let isReached = await patiently {
            (before..<max(before, proxy.connectionCount)).reduce(0) {
                $0 + proxy.passed($1).request
            } >= passed
        }
        #expect(isReached)
        run.signal(SIGKILL)
        _ = try await run.result()
        return proxy
    }

    /// Makes the home what a power cut may leave of it now.
    func cutPower(using random: inout SeededRandom) throws {
        var disk = LostPower(folder: folder.path("home"))
        for operation in FileOperation.trace(try folder.read("trace")) where operation.isChange {
            disk.apply(operation)
        }
        let remains = try #require(disk.remains(mixtures: 1, using: &random).last)
        try FileManager.default.removeItem(atPath: folder.path("home"))
        mkdir(folder.path("home"), 0o700)
        for (path, bytes) in remains.entries.sorted(by: { $0.key < $1.key }) {
            if let bytes {
                try folder.write(bytes, to: "home/" + path)
            } else {
                mkdir(folder.path("home/" + path), 0o700)
            }
        }
    }

    /// Sends a recording; connections after those of the plans are good ones.
    func store(_ recording: String, as name: String, through plans: [LinkPlan]) async throws {
        let proxy = try FaultProxy(to: peer.port, plans: plans)
        let result = try await start(["send", "-q"], recording, as: name, at: proxy.port).result()
        if result.status != .exited(0) { try await finish(name, at: proxy.port) }
        try check(recording, is: name)
    }

    /// Sends again what was kept, until there is nothing.
    func finish(_ name: String, at port: UInt16) async throws {
        var said: [String] = []
        for _ in 0..<5 {
            let result = try await start(["retry", "-q"], nil, as: name, at: port).result()
            if result.status == .exited(0) { return }
            said.append(result.errorText)
        }
        Issue.record("\(name): \(said)")
    }

    func key() throws -> String {
        let digits = String(repeating: "0123456789abcdef", count: 4)
        return try folder.write(Array("utter-key-\(digits)\n".utf8), to: "key")
    }

    /// Compares what the store has with the recording, once it is decrypted.
    func checkExport(of name: String, is recording: String, by key: String) async throws {
        let sealed = try peer.rclone(["cat", peer.object(name)])
        let file = try folder.write(sealed, to: name)
        let result = try await start(
            ["export", "--encrypt-key", key, file, folder.path(name + ".wav")], nil, as: name,
            at: peer.port
        ).result()
        #expect(result.status == .exited(0) && result.errorText == "", "\(result.errorText)")
        #expect(try folder.read(name + ".wav") == folder.read(recording), "\(name)")
    }

    /// Compares what the store has with the recording, as another client reads it.
    func check(_ recording: String, is name: String) throws {
        let there = try peer.rclone(["cat", peer.object(name)])
        let here = try folder.read(recording)
        #expect(there == here, "\(name): \(there.count) bytes of \(here.count)")
    }
}

/// Asks until it is so, as long as tests are patient.
func patiently(_ isSo: @Sendable () -> Bool) async -> Bool {
    let end = ContinuousClock.now + .patience
    while ContinuousClock.now < end {
        if isSo() { return true }
        _ = await Gate().wait(within: .milliseconds(20))
    }
    return false
}
