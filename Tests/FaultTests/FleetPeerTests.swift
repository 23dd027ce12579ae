// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Utter

/// A fleet of real programs: a store of another hand, nats-server, and workers that are harmed.
@Suite(.serialized, .enabled(if: Peer.folder != nil && FleetBench.server != nil))
struct FleetPeerTests {
    @Test(arguments: [Peer.Kind.seaweedfs, .moto])
    func eachTakeHasOneMarkWhateverDies(_ kind: Peer.Kind) async throws {
        let bench = try await FleetBench(kind)
        let takes = 40
        try await bench.submit(takes)
        var workers = try (0..<3).map { _ in try bench.worker() }
        var random = SeededRandom()
        var faults = 0
        for round in 0..<400 {
            guard try bench.names("results", ".json").count < takes else { break }
            faults += 1
            let victim = Int.random(in: 0..<workers.count, using: &random)
            switch round % 4 {
            case 0, 2:
                workers[victim].signal(SIGKILL)
                workers[victim] = try bench.worker()
            case 1:
                workers[victim].signal(SIGSTOP)
                // Longer than the lease.
                try await Task.sleep(for: .seconds(3))
                workers[victim].signal(SIGCONT)
            default: try await bench.wipeQueue()
            }
            // The others go on before the next one.
            let before = try bench.names("results", ".json").count
            #expect(
                await comesTrue {
                    // A listing that fails is asked for again.
                    ((try? bench.names("results", ".json").count) ?? 0) > min(before, takes - 1)
                })
        }
        for worker in workers { worker.signal(SIGTERM) }
        for worker in workers { _ = try await worker.result() }
        #expect(try bench.names("results", ".json").count == takes)
        let texts = try bench.names("results", ".txt")
        for name in texts {
            #expect(try bench.read("results/\(name)") == "well said\n")
        }
        let marks = try bench.names("results", ".json").map { try bench.read("results/\($0)") }
        #expect(marks.allSatisfy { $0.contains("\"outcome\" : \"text\"") })
        let calls = bench.service.requests.count
        #expect((takes...takes + 2 * faults).contains(calls), "\(calls) calls, \(faults) faults")
    }

    /// rclone takes no notice of them, and OpenStack Swift refuses them (501).
    @Test(arguments: Peer.Kind.here.filter { $0 == .rclone || $0 == .openStack })
    func aStoreWithoutConditionsIsRefused(_ kind: Peer.Kind) async throws {
        let bench = try await FleetBench(kind)
        let refused = try await bench.run(["--drain"])
        #expect(refused.status == .exited(78))
        #expect(refused.errorText.contains("does not heed conditions"))
        let taken = try await bench.run(["--drain", "--at-least-once"])
        #expect(taken.status == .exited(0), "\(taken.errorText)")
    }

    @Test func hostileManifestsAreDeathsAndStopNoOther() async throws {
        let bench = try await FleetBench(.seaweedfs)
        try await bench.submit(3)
        let bad = [
            #"{"id":"%","format":"wav","byteCount":9,"sha256":"x"}"#, "{",
            #"{"id":"%","format":"wav","byteCount":9,"sha256":"$","audio":"../../etc/passwd"}"#,
            #"{"id":"%","format":"wav","byteCount":9,"sha256":"$","profile":"evil.toml"}"#,
            #"{"id":"%","format":"wav","byteCount":9,"sha256":"$","words":{"host":"evil"}}"#,
            #"{"id":"%","format":"wav","byteCount":9,"sha256":"$","encrypted":true}"#,
            #"{"id":"20261121-052233-zzzzzzzzzzzz","format":"wav","byteCount":9,"sha256":"$"}"#,
        ]
        for (number, text) in bad.enumerated() {
            let id = "20261121-0522\(10 + number)-k3f9q2m7x4tz"
            let digest = String(repeating: "0", count: 64)
            try bench.write(
                text.replacing("%", with: id).replacing("$", with: digest),
                to: "takes/2026-11-21/\(id).json")
        }
        let drained = try await bench.run(["--drain"])
        #expect(drained.status == .exited(0), "\(drained.errorText)")
        #expect(try bench.names("results", ".txt").count == 3)
        #expect(try bench.names("dead", ".json").count == bad.count)
        for hasQueue in [false, true] {
            let dead = try await bench.run(["dead"], hasQueue: hasQueue)
            #expect(dead.outputText.split(separator: "\n").count == bad.count, "\(dead.errorText)")
        }
        #expect(bench.service.requests.count == 3)
        let again = try await bench.run(["retry", "--reason", "encrypted"])
        #expect(again.errorText.contains("opened 1 take again"))
        _ = try await bench.run(["--drain"])
        #expect(try bench.names("dead", ".json").count == bad.count)
    }

    /// Nothing dies of it, and its takes are done once it answers.
    @Test(arguments: [503, 429, 500, 401])
    func aServiceThatIsAwayKillsNoTake(_ status: Int) async throws {
        let answers = Observed(3)
        let bench = try await FleetBench(.seaweedfs) { _ in
            let isAway = answers.update { rest in
                rest -= 1
                return rest >= 0
            }
            return isAway
                ? ServerAnswer(
                    status: status, headers: [HeaderField("Retry-After", "1")], text: "not now")
                : ServerAnswer(text: "well said")
        }
        try await bench.submit(2)
        let drained = try await bench.run(["--drain"])
        #expect(drained.status == .exited(0), "\(drained.errorText)")
        #expect(drained.errorText.contains("done 2, dead 0"), "\(drained.errorText)")
        #expect(bench.service.requests.count == 5)
    }

    /// The mark comes from elsewhere while the service is asked, as of a worker that died behind it.
    @Test func whatAWorkerLeftUnwrittenBehindItsMarkIsWritten() async throws {
        let marking = Observed<FleetBench?>(nil)
        let bench = try await FleetBench(.seaweedfs) { request in
            let id = request["Idempotency-Key"]?.filter { $0 != "\"" } ?? ""
            let mark = """
                {"version":1,"id":"\(id)","outcome":"text","finished":"2026-11-21T05:22:33Z",
                "text":"well said","segments":[{"text":"well said","start":0,"end":1.5}]}
                """
            // Without it the texts are missing, and the test fails.
            try? marking.look { $0 }?.write(mark, to: "results/\(id).json")
            return ServerAnswer(
                status: 503, headers: [HeaderField("Retry-After", "1")], text: "not now")
        }
        marking.update { $0 = bench }
        defer { marking.update { $0 = nil } }
        try await bench.submit(1)
        let drained = try await bench.run(["--drain"])
        #expect(drained.status == .exited(0), "\(drained.errorText)")
        #expect(bench.service.requests.count == 1)
        for (ending, text) in [
            ("txt", "well said\n"), ("srt", "00:00:01,500\nwell said"),
            ("vtt", "00:00:01.500\nwell said"),
        ] {
            let name = try #require(bench.names("results", "." + ending).first)
            #expect(try bench.read("results/\(name)").contains(text))
        }
    }

    @Test func whatIsSubmittedTwiceIsOneTake() async throws {
        let bench = try await FleetBench(.seaweedfs)
        try await bench.submit(3)
        try await bench.submit(3)
        for name in ["a b.mp3", "ü/x.wav", "readme.txt"] {
            try bench.write("sound of \(name)", to: "calls/\(name)")
        }
        for _ in 0..<2 {
            let listed = try await bench.run(["submit", "--list", "--only", "calls/"])
            #expect(listed.errorText.contains("submitted 2"), "\(listed.errorText)")
        }
        let status = try await bench.run(["status", "--json"])
        #expect(status.outputText.contains("\"waiting\" : 5"), "\(status.outputText)")
    }

    /// Slurm, Kubernetes and systemd run what the page says, as it says it.
    @Test func theCommandsOfThePageAreRight() async throws {
        let bench = try await FleetBench(.seaweedfs)
        let page = String(
            decoding: try readFile(SourceTree.path("docs/fleet.md"), limit: 1 << 20), as: UTF8.self)
        let slurm = try #require(page.firstMatch(of: /--wrap 'utter-work ([^']*)'/)).output.1
        let kubernetes = try #require(page.firstMatch(of: /args: \[utter-work, ([^\]]*)\]/)).output
            .1
        try await bench.submit(2)
        for words in [
            slurm.split(separator: " ").map(String.init),
            kubernetes.replacing("\"", with: "").replacing(",", with: "").split(separator: " ")
                .map(String.init),
        ] {
            let result = try await bench.run(bench.here(words), isWhole: true)
            #expect(result.status == .exited(0), "\(result.errorText)")
        }
        #expect(try bench.names("results", ".txt").count == 2)
    }
}

/// A store, a queue and a service, until the value goes.
private final class FleetBench: Sendable {
    /// Where nats-server is; nil without it.
    static let server = ForeignTool("nats-server").path

    let service: RecordingServer
    private let peer: Peer
    private let folder: TemporaryFolder
    private let queuePort: ReservedPort
    private let queue: QueueRun

    init(
        _ kind: Peer.Kind,
        _ answer: @escaping @Sendable (RecordedRequest) -> ServerAnswer = { _ in
            ServerAnswer(text: "well said")
        }
    ) async throws {
        peer = try await Peer(kind)
        folder = try TemporaryFolder()
        service = try RecordingServer(
            otherwise: [.readHead, .readBodyToEnd, .respondBy(answer)])
        queuePort = try ReservedPort()
        for name in [
            "home", "home/.config", "home/.config/utter", "home/.config/utter/profiles", "tmp",
        ] {
            mkdir(folder.path(name), 0o700)
        }
        try folder.write(
            Array(
                """
                extends = "s3"
                url = "http://127.0.0.1:\(peer.port)/{bucket}/{key}"
                """.utf8), to: "home/.config/utter/profiles/here.toml")
        // The service that the page names.
        try folder.write(
            Array("[services.openai]\nprofile = 'utter'\nurl = '\(service.url())'\n".utf8),
            to: "home/.config/utter/config.toml")
        queue = QueueRun()
        try await wipeQueue()
    }

    deinit { queue.stop() }

    /// Kills the queue's server, and starts it with nothing on its disk.
    func wipeQueue() async throws {
        queue.stop()
        // There may be nothing yet.
        try? FileManager.default.removeItem(atPath: folder.path("queue"))
        let server = try #require(Self.server)
        queue.replace(
            try CommandRun(
                server,
                ["-js", "-a", "127.0.0.1", "-p", "\(queuePort.port)", "-sd", folder.path("queue")],
                environment: CommandRun.cleanEnvironment))
    }

    private var environment: [String: String] {
        var environment = CommandRun.cleanEnvironment
        environment["HOME"] = folder.path("home")
        environment["TMPDIR"] = folder.path("tmp")
        environment["ALSA_CONFIG_PATH"] = "/dev/null"
        environment["AWS_ACCESS_KEY_ID"] = Peer.user
        environment["AWS_SECRET_ACCESS_KEY"] = Peer.key
        environment["UTTER_URL"] = service.url()
        return environment
    }

    private func words(hasQueue: Bool) -> [String] {
        let store = ["--store", "s3://voices/fleet", "--store-service", "here"]
        guard hasQueue else { return store }
        return store + ["--queue", "nats://127.0.0.1:\(queuePort.port)", "--lease", "2s"]
    }

    /// The words of a page, with the places of this bench.
    func here(_ words: [String]) -> [String] {
        words.map { word in
            if word.hasPrefix("s3://") { return "s3://voices/fleet" }
            return word.hasPrefix("nats://") ? "nats://127.0.0.1:\(queuePort.port)" : word
        } + ["--store-service", "here"]
    }

    func worker() throws -> CommandRun {
        try .product(
            "utter-work", words(hasQueue: true) + ["--look", "1s"], environment: environment)
    }

    func run(
        _ more: [String], hasQueue: Bool = true, isWhole: Bool = false
    ) async throws -> CommandResult {
        try await CommandRun.product(
            "utter-work", isWhole ? more : more + words(hasQueue: hasQueue),
            environment: environment
        ).result()
    }

    /// Submits so many recordings, the same each time.
    func submit(_ count: Int) async throws {
        var random = SeededRandom(seed: 27)
        var files: [String] = []
        for number in 0..<count {
            let path = try folder.write(
                WAVBytes.whole(random.bytes(16_000)), to: "\(number).wav")
            let time = timeval(tv_sec: 1_790_000_000 + number, tv_usec: 0)
            #expect(utimes(path, [time, time]) == 0)
            files.append(path)
        }
        let result = try await run(["submit"] + files)
        #expect(result.errorText.contains("submitted \(count)"), "\(result.errorText)")
    }

    func names(_ place: String, _ ending: String) throws -> [String] {
        let found = try peer.rclone(["lsf", peer.object("fleet/\(place)/"), "--files-only"])
        return String(decoding: found, as: UTF8.self).split(separator: "\n").map(String.init)
            .filter { $0.hasSuffix(ending) }
    }

    func read(_ name: String) throws -> String {
        String(decoding: try peer.rclone(["cat", peer.object("fleet/\(name)")]), as: UTF8.self)
    }

    func write(_ text: String, to name: String) throws {
        try folder.write(Array(text.utf8), to: "object")
        try peer.rclone(["copyto", folder.path("object"), peer.object("fleet/\(name)")])
    }
}

/// The queue's server, which is replaced.
private final class QueueRun: Sendable {
    private let run = Mutex<CommandRun?>(nil)

    func stop() { run.withLock { $0?.signal(SIGKILL) } }

    func replace(_ new: CommandRun) { run.withLock { $0 = new } }
}
