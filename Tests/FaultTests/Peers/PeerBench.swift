// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Utter

/// Recordings, and a person who sends them to a peer.
final class PeerBench: Sendable {
    private let peer: Peer
    private let folder: TemporaryFolder

    init(_ peer: Peer) throws {
        self.peer = peer
        folder = try TemporaryFolder()
        mkdir(folder.path("home"), 0o700)
        for (name, bytes) in Self.recordings { try folder.write(bytes, to: name) }
    }

    /// Made once: tests are built without optimisation, which makes random bytes dear.
    private static let recordings = {
        var random = SeededRandom(seed: 24)
        return [("short.wav", 64_000), ("long.wav", 12_000_000)].map { name, count in
            (name, WAVBytes.whole(random.bytes(count)))
        }
    }()

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
        environment["SWIFT_TOKEN"] = peer.token
        if name.contains("{id}") {
            environment["UTTER_ARCHIVE"] = peer.place(name, at: port)
            for path in ["home/.config", "home/.config/utter"] { mkdir(folder.path(path), 0o700) }
            try folder.write(
                Array("[archive]\nservice = '\(profile)'\n".utf8),
                to: "home/.config/utter/config.toml")
        }
        var words = words
        if let recording {
            words += [
                "--to", peer.place(name, at: port), "--service", profile, folder.path(recording),
            ]
        }
        let more = try faults?.environment(
            folder: folder.path("home"), trace: folder.path("trace"))
        return try .product(
            "utter", words, environment: environment.merging(more ?? [:]) { $1 })
    }

    /// Writes the profile of the peer, or that of another kind in its place.
    func profile(at port: UInt16, of kind: Peer.Kind? = nil) throws -> String {
        let kind = kind ?? peer.kind
        return try folder.write(
            Array(kind.profile(at: port).utf8), to: "\(kind.rawValue).toml")
    }

    /// Where in what it sends a program is killed.
    enum Moment: Sendable, CustomStringConvertible {
        /// Once so many bytes of its requests have passed.
        case passed(Int)
        /// At the request that joins the parts: before the store has it, or once it has answered.
        case joining(LinkFault.Direction)

        var description: String {
            switch self {
            case .passed(let count): "\(count)"
            case .joining(let direction): "joining-\(direction)"
            }
        }

        fileprivate var hold: LinkHold? {
            guard case .joining(let direction) = self else { return nil }
            return LinkHold("POST", "uploadId=", direction)
        }
    }

    /// Kills a program that sends a recording again.
    ///
    /// - Returns: a link that is a good one for the connections that come.
    func kill(
        sending recording: String, as name: String, at moment: Moment, _ faults: FileFaults? = nil
    ) async throws -> FaultProxy {
        let hold = Observed(moment.hold)
        let proxy = try FaultProxy(to: peer.port) {
            LinkPlan(bytesPerSecond: 8_000_000, hold: hold.look { $0 })
        }
        // Kept whole first: a file that is not read to its end is a part of itself.
        await proxy.cut()
        let kept = try await start(
            ["send", "-q", "-c", "retry.never=true"], recording, as: name, at: proxy.port, faults
        ).result()
        #expect(kept.status != .exited(0))
        await proxy.mend()
        let before = proxy.connectionCount
        let run = try start(["retry", "-q"], nil, as: name, at: proxy.port, faults)
        try await Self.kill(run, at: moment, of: proxy, since: before)
        hold.update { $0 = nil }
        return proxy
    }

    /// Kills a program whose take is answered, once so many bytes have gone to the archive.
    ///
    /// - Returns: a link that is a good one from then on.
    func kill(
        archiving recording: String, of service: RecordingServer, as name: String,
        after passed: Int, _ faults: FileFaults? = nil
    ) async throws -> FaultProxy {
        let proxy = try FaultProxy(to: peer.port) { LinkPlan(bytesPerSecond: 200_000) }
        let run = try start(
            ["send", "-q", "--to", service.url(), path(recording)], nil, as: name, at: proxy.port,
            faults)
        try await Self.kill(run, at: .passed(passed), of: proxy, since: 0)
        return proxy
    }

    private static func kill(
        _ run: CommandRun, at moment: Moment, of proxy: FaultProxy, since first: Int
    ) async throws {
        let isReached = await comesTrue {
            guard case .passed(let count) = moment else { return proxy.holdCount > 0 }
            return (first..<max(first, proxy.connectionCount)).reduce(0) {
                $0 + proxy.passed($1).request
            } >= count
        }
        #expect(isReached)
        run.signal(SIGKILL)
        _ = try await run.result()
    }

    /// Makes the home what a power cut may leave of it now.
    func cutPower(using random: inout SeededRandom) async throws {
        let before = random
        // A trace of many megabytes keeps a thread busy for seconds.
        let after = await onOwnThread { [self] () -> Result<SeededRandom, any Error> in
            Result {
                var random = before
                try leaveRemains(using: &random)
                return random
            }
        }
        random = try after.get()
    }

    private func leaveRemains(using random: inout SeededRandom) throws {
        var disk = LostPower(folder: folder.path("home"))
        for operation in FileOperation.trace(try folder.read("trace")) where operation.isChange {
            disk.apply(operation)
        }
        let remains = try #require(disk.remains(mixtures: 1, using: &random).last)
        try FileManager.default.removeItem(atPath: folder.path("home"))
        mkdir(folder.path("home"), 0o700)
        try fill(folder.path("home"), with: remains.entries)
    }

    /// Sends a recording; connections after those of the plans are good ones.
    func store(_ recording: String, as name: String, through plans: [LinkPlan]) async throws {
        let proxy = try FaultProxy(to: peer.port, plans: plans)
        let result = try await start(["send", "-q"], recording, as: name, at: proxy.port).result()
        if result.status != .exited(0) { try await finish(name, at: proxy.port) }
        try await check(recording, is: name)
    }

    /// Sends again what was kept, until there is nothing.
    func finish(
        _ name: String, at port: UInt16, by words: [String] = ["retry", "-q"]
    ) async throws {
        var said: [String] = []
        for _ in 0..<5 {
            let result = try await start(words, nil, as: name, at: port).result()
            if result.status == .exited(0) { return }
            said.append(result.errorText)
        }
        Issue.record("\(name): \(said)")
    }

    /// The keys of uploads at the store that never ended; aborted once they are listed, if so.
    func openUploads(below folder: String = "", aborts: Bool = false) async throws -> [String] {
        let pipeline = try Pipeline(spool: nil) { question in
            question.source == .variable("AWS_ACCESS_KEY_ID") ? Peer.user : Peer.key
        }
        defer { pipeline.shutDown() }
        let delivery = try Service(
            try profile(at: peer.port), words: ["bucket": "voices", "key": folder + "{id}.{ext}"]
        ).delivery
        // The clock of a store may go after ours.
        let age = Duration.seconds(-60)
        let found = try #require(await pipeline.openUploads(at: delivery, olderThan: age))
        for upload in found where aborts { try await pipeline.abort(upload, at: delivery) }
        return found.map(\.key)
    }

    func key() throws -> String {
        let digits = String(repeating: "0123456789abcdef", count: 4)
        return try folder.write(Array("utter-key-\(digits)\n".utf8), to: "key")
    }

    /// Compares what the store has with the recording, once it is decrypted.
    func checkExport(of name: String, is recording: String, by key: String) async throws {
        let sealed = try peer.bytes(of: name)
        let file = try folder.write(sealed, to: name)
        let result = try await start(
            ["export", "--encrypt-key", key, file, folder.path(name + ".wav")], nil, as: name,
            at: peer.port
        ).result()
        #expect(result.status == .exited(0) && result.errorText == "", "\(result.errorText)")
        #expect(try folder.read(name + ".wav") == folder.read(recording), "\(name)")
    }

    /// Compares what the store has with the recording, as another client reads it.
    func check(_ recording: String, is name: String) async throws {
        // The thread may end after the test does, which a server must not.
        let (client, path) = (peer.client, folder.path(recording))
        let found = await onOwnThread { () -> Result<String?, any Error> in
            Result { try Self.difference(of: name, at: client, from: path) }
        }
        let differing = try found.get()
        #expect(differing == nil)
    }

    private static func difference(
        of name: String, at client: PeerClient, from path: String
    ) throws -> String? {
        let (there, here) = (try client.bytes(of: name), try readFile(path))
        // Without optimisation `==` looks at each element by itself.
        if there.count == here.count, memcmp(there, here, there.count) == 0 { return nil }
        return "\(name): \(there.count) bytes of \(here.count)"
    }

    /// Checks that an archive has one take below a folder, whole.
    func checkArchive(_ folder: String, has recording: String, _ text: String) async throws {
        let names = try peer.names(below: folder).map { "\(folder)/\($0)" }
        #expect(names.count == 3, "\(names)")
        for name in names {
            if name.hasSuffix(".wav") { try await check(recording, is: name) }
            if name.hasSuffix(".txt") { #expect(try peer.bytes(of: name) == Array(text.utf8)) }
        }
        #expect(names.map { $0.suffix(4) }.sorted() == [".txt", ".wav", "json"], "\(names)")
    }
}
