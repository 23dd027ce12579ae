// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Fleet
import FoundationEssentials
import Glibc
import LinuxPlatform
import OperatorMetrics
import Synchronization
import Utter
import UtterCommands
import UtterControl
internal import UtterTerminal

struct WorkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "work",
        abstract: "Transcribe takes until a signal, or until there are none.",
        discussion: """
            A worker takes takes out of the queue, for each slot one, gets the recording from
            the store, has a service recognise it, and writes one result: results/ID.json, a
            text or a death. It may be killed at any moment: another worker does the take then.

            What a recording's manifest says is not trusted: a worker sends it to the services
            alone that --service names, the first of which is for recordings that name none.

            SIGTERM ends it when the takes that run have their results, at most after --grace;
            a second signal ends it at once.
            """)

    @OptionGroup(title: "Store")
    var store: StoreOptions

    @OptionGroup(title: "Queue")
    var queue: QueueOptions

    @Option(help: "Takes that are worked on at a time, from 1 to 256.")
    var slots = 1

    @Flag(help: "End when nothing waits and no worker has anything.")
    var drain = false

    @Option(
        help: ArgumentHelp(
            "A service that takes are sent to, by its name; may be repeated.", valueName: "name"))
    var service: [String] = []

    @Option(
        help: ArgumentHelp(
            "What all workers together may use of a service, such as openai=60/min,600s/min: "
                + "requests, and seconds of audio.", valueName: "name=rate"))
    var limit: [String] = []

    @Option(
        help: ArgumentHelp(
            "How long takes may go on after SIGTERM. (default: 2m)", valueName: "time"),
        transform: DurationArgument.init(parsing:))
    var grace: DurationArgument?

    @OptionGroup
    var metrics: MetricsOptions

    @Option(
        help: ArgumentHelp(
            "Tries of one take.", valueName: "count", visibility: .hidden))
    var tries = 5

    @Option(
        help: ArgumentHelp(
            "Between looks for new takes. (default: 15s)", valueName: "time", visibility: .hidden),
        transform: DurationArgument.init(parsing:))
    var look: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "Where recordings are while they are worked on. (default: TMPDIR, or /var/tmp)",
            valueName: "folder", visibility: .hidden),
        completion: .directory)
    var folder: String?

    func validate() throws {
        guard (1...256).contains(slots) else {
            throw ValidationError("--slots must be from 1 to 256.")
        }
        guard (1...100).contains(tries) else {
            throw ValidationError("--tries must be from 1 to 100.")
        }
        guard look?.duration ?? .seconds(15) >= .seconds(1) else {
            throw ValidationError("--look must be at least 1s.")
        }
        guard queue.queue != nil else { throw ValidationError("--queue names the queue.") }
        _ = try rates()
    }

    private func rates() throws -> [String: ServiceRate] {
        try limit.reduce(into: [:]) { rates, text in
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let rate = ServiceRate(parts[1]) else {
                throw ValidationError(
                    "--limit: '\(text)' is not a limit, such as openai=60/min,600s/min.")
            }
            guard service.isEmpty || service.contains(parts[0]) else {
                throw ValidationError("--limit: no --service is named '\(parts[0])'.")
            }
            rates[parts[0]] = rate
        }
    }

    func run() async throws {
        let ending = WorkerEnding()
        let signals = try Signals(readingPipe: false)
        signals.handle { ending.take($0) }
        let failure = try await onOwnThread { try work(until: ending) }
        if let failure {
            throw CommandFailure(
                failure.reason, status: failure.isLasting ? .configuration : .notDelivered)
        }
    }

    /// Runs the worker; blocks until it has ended.
    private func work(until ending: WorkerEnding) throws -> StoreFailure? {
        let numbers = FleetNumbers()
        let objects = try store.open(numbers)
        defer { objects.link.shutDown() }
        let place = try WorkerFolder(below: folder)
        defer { place.remove() }
        let shelf = try shelf()
        guard let queue = try connect(ending) else { return nil }
        let pipeline = try Pipeline(
            spool: Spool(at: place.path + "/spool"), secrets: NamedServices.secrets)
        defer { pipeline.shutDown() }
        var settings = FleetWorker.Settings(
            name: place.name, folder: place.path, source: NamedServices.recording)
        settings.slots = slots
        settings.drains = drain
        settings.attemptLimit = tries
        settings.grace = grace?.duration ?? settings.grace
        settings.look = look?.duration ?? settings.look
        let worker = try FleetWorker(
            settings, store: objects, queue: queue, shelf: shelf,
            limits: try limits(queue, place.name), pipeline: pipeline, numbers: numbers
        ) { StandardError.line($0, with: $1) }
        ending.set(worker)
        pipeline.tracesRequests = true
        let server = try metrics.serve(
            MetricsServer.Source {
                numbers.families(of: queue) + pipeline.numbers.families
            } obstacle: {
                ending.isAsked ? Readiness.ending : worker.obstacle
            })
        defer { server?.shutDown() }
        StandardError.line(
            "worker \(place.name) is ready, for \(shelf.names.joined(separator: ", "))")
        ServiceManager.tell("READY=1\nSTATUS=\(slots) slots")
        let failure = worker.run()
        let counts: [(String, FleetNumbers.Count)] = [
            ("done", .done), ("dead", .dead), ("duplicates", .duplicates), ("calls", .calls),
            ("given back", .givenBack),
        ]
        StandardError.line(
            counts.map { "\($0.0) \(Int(numbers[$0.1]))" }.joined(separator: ", "))
        return failure
    }

    private func shelf() throws(CommandFailure) -> Shelf {
        let names = service.isEmpty ? [nil] : service.map(Optional.some)
        let services = try names.map { name throws(CommandFailure) in
            // A wrong service is told at once.
            let plan = try NamedServices.delivery(to: name)
            return Shelf.Service(name ?? plan.profile?.profile.title ?? "usual") {
                words throws(ManifestMistake) in
                do throws(CommandFailure) {
                    return try NamedServices.delivery(to: name, words: words)
                } catch {
                    throw ManifestMistake(reason: error.message)
                }
            }
        }
        return Shelf(services, onlyStores: NamedServices.onlyStores)
    }

    /// Waits for the queue; nil when a signal came first.
    private func connect(_ ending: WorkerEnding) throws(CommandFailure) -> NATSQueue? {
        var backoff = Backoff(from: .seconds(1), to: .seconds(15))
        while !ending.isAsked {
            do throws(CommandFailure) {
                return try queue.open()
            } catch {
                guard error.status == .notDelivered else { throw error }
                StandardError.line(error.message)
                StandardError.hint(error.hint)
            }
            _ = waits(backoff.next()) { ending.isAsked }
        }
        return nil
    }

    private func limits(_ queue: NATSQueue, _ name: String) throws -> FleetLimits {
        let bucket = "utter-" + self.queue.name.lowercased()
        // Without them each worker takes its share.
        let values = try? NATSValues(bucket + "-limits", of: queue)
        // Without these the other workers are not counted.
        let workers = try? NATSValues(bucket + "-workers", lifetime: .seconds(300), of: queue)
        if values == nil { StandardError.line("warning: limits cannot be shared by this queue") }
        return FleetLimits(try rates(), values: values, workers: workers, worker: name)
    }
}

private final class WorkerEnding: Sendable {
    private struct State {
        var worker: FleetWorker?
        var signals = 0
    }

    private let state = Mutex(State())

    var isAsked: Bool { state.withLock { $0.signals > 0 } }

    func set(_ worker: FleetWorker) {
        let isAsked = state.withLock { state in
            state.worker = worker
            return state.signals > 0
        }
        if isAsked { worker.stop() }
    }

    /// A second signal ends the program: what is leased comes back by itself.
    func take(_ request: Request) {
        switch request {
        case .cancel, .leave: break
        default: return
        }
        let (worker, count) = state.withLock { state in
            state.signals += 1
            return (state.worker, state.signals)
        }
        if count > 1 { exit(ExitStatus.terminated.rawValue) }
        ServiceManager.tell("STOPPING=1")
        worker?.stop()
    }
}

/// A folder of one worker, which goes with it; what dead workers have left is removed.
private final class WorkerFolder {
    /// The worker's name: the machine's, and a random one.
    let name: String
    /// Locked while the worker lives.
    private let folder: Folder
    var path: String { folder.path }

    init(below folder: String?) throws(CommandFailure) {
        var host = [CChar](repeating: 0, count: 256)
        _ = unsafe gethostname(&host, 255)
        let machine = String(
            decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        name = machine + "-" + String(UInt32.random(in: .min ... .max), radix: 36)
        do throws(SystemError) {
            let parent = try Folder.make(
                at: (folder ?? Environment["TMPDIR"] ?? "/var/tmp") + "/utter-work-\(getuid())")
            Self.sweep(parent)
            self.folder = try parent.makeLockedFolder(name, hiddenAs: "." + name)
        } catch {
            throw CommandFailure(
                "there is no folder for recordings: \(error.description)",
                hint: "name one with --folder", status: .localIO)
        }
    }

    private static func sweep(_ parent: Folder) {
        // A folder that cannot be looked at or removed is left for the next worker, here and below.
        for name in (try? parent.names()) ?? [] where !name.hasPrefix(".") {
            let folder = try? parent.openFolder(name)  // Left.
            guard let folder, (try? folder.lock()) == true else { continue }  // In use.
            try? FileManager.default.removeItem(atPath: folder.path)  // Left.
        }
    }

    func remove() {
        // The next worker does it otherwise.
        try? FileManager.default.removeItem(atPath: path)
    }
}
