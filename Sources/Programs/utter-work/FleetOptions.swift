// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Fleet
internal import Glibc
import LinuxPlatform
import Utter
import UtterCommands
internal import UtterTerminal

struct StoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where recordings and results are: s3://BUCKET/PREFIX; nothing outside is touched.",
            valueName: "place"))
    var store: String

    @Option(
        help: ArgumentHelp(
            "The service by which the store is reached, such as one that extends s3. "
                + "(default: archive.service, or s3)", valueName: "name"))
    var storeService: String?

    @Flag(
        help: ArgumentHelp(
            "Use a store that does not heed conditions: a take may get a second result.",
            visibility: .hidden))
    var atLeastOnce = false

    /// Opens the store, and finds out whether it heeds conditions; blocks.
    func open(
        _ numbers: FleetNumbers = FleetNumbers(), onlyReads: Bool = false
    ) throws(CommandFailure) -> ObjectStore {
        let (delivery, prefix) = try NamedServices.store(store, by: storeService)
        let link: ObjectLink?
        do throws(SystemError) {
            link = try ObjectLink(delivery, secrets: NamedServices.secrets)
        } catch {
            throw CommandFailure(error.description, status: .localIO)
        }
        guard let link else {
            throw CommandFailure(
                "the service of the store has no place for an object's key",
                hint: "its URL ends in {key}: see 'utter services show s3'", status: .configuration)
        }
        let store = ObjectStore(link, prefix: prefix, numbers: numbers)
        if onlyReads { return store }
        do throws(StoreFailure) {
            if try !store.probe(isOptional: atLeastOnce) {
                StandardError.line(
                    "warning: the store does not heed conditions: a take may get a second result")
            }
        } catch {
            throw CommandFailure(
                "the store cannot be used: \(error.reason)",
                hint: error.reason.contains("conditions")
                    ? "use a store with conditional writes, or allow it with --at-least-once" : nil,
                status: error.isLasting ? .configuration : .notDelivered)
        }
        return store
    }

    /// Opens the store for what blocks, on a thread of its own, and makes its failure the command's.
    ///
    /// A signal ends the program: what was done stays.
    func use<Value: Sendable>(
        onlyReads: Bool = false, _ body: @escaping @Sendable (ObjectStore) throws -> Value
    ) async throws -> Value {
        Signals.unblock()
        // A connection that breaks does not.
        _ = signal(SIGPIPE, SIG_IGN)
        return try await onOwnThread {
            let objects = try open(onlyReads: onlyReads)
            defer { objects.link.shutDown() }
            return try body(objects)
        }
    }
}

struct QueueOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The queue's servers, such as nats://queue.example:4222 or tls://…, with commas "
                + "between them.", valueName: "url"))
    var queue: String?

    @Option(help: ArgumentHelp("The name of the stream.", valueName: "name"))
    var name = "UTTER"

    @Option(
        help: ArgumentHelp(
            "So many servers keep each message, of a queue that is made.", valueName: "count",
            visibility: .hidden))
    var replicas = 1

    @Option(
        help: ArgumentHelp(
            "How long a take is a worker's that says nothing, of a queue that is made. "
                + "(default: 60s)",
            valueName: "time", visibility: .hidden),
        transform: DurationArgument.init(parsing:))
    var lease: DurationArgument?

    mutating func validate() throws {
        guard name.wholeMatch(of: /[0-9A-Za-z_]{1,32}/) != nil else {
            throw ValidationError("--name consists of letters, digits and '_'.")
        }
        guard (1...5).contains(replicas) else {
            throw ValidationError("--replicas must be from 1 to 5.")
        }
        let time = lease?.duration ?? .seconds(60)
        guard time >= .seconds(1), time <= .seconds(3_600) else {
            throw ValidationError("--lease must be from 1s to 1h.")
        }
        for server in servers {
            guard server.hasPrefix("nats://") || server.hasPrefix("tls://") else {
                throw ValidationError("--queue: '\(server)' does not begin with nats:// or tls://.")
            }
            guard !server.contains("@") else {
                throw ValidationError(
                    "--queue: other users can see command lines; name the login by UTTER_NATS_USER "
                        + "and UTTER_NATS_PASSWORD, or a file by UTTER_NATS_CREDENTIALS.")
            }
        }
    }

    private var servers: [String] {
        (queue ?? "").split(separator: ",").map(String.init)
    }

    /// The place of the queue; nil unless one is named.
    var place: QueuePlace? {
        guard !servers.isEmpty else { return nil }
        var place = QueuePlace(servers: servers)
        place.name = name
        place.replicas = replicas
        place.lease = lease?.duration ?? .seconds(60)
        place.credentialsFile = Environment["UTTER_NATS_CREDENTIALS"]
        place.user = Environment["UTTER_NATS_USER"]
        place.password = Environment["UTTER_NATS_PASSWORD"]
        place.token = Environment["UTTER_NATS_TOKEN"]
        place.certificateFile = Environment["UTTER_NATS_CA"]
        return place
    }

    /// Connects; blocks.
    func open() throws(CommandFailure) -> NATSQueue? {
        guard let place else { return nil }
        for file in [place.credentialsFile, place.certificateFile].compactMap(\.self)
        where unsafe access(file, R_OK) != 0 {
            throw CommandFailure(
                "\(file) cannot be read: it opens the queue",
                hint: "see UTTER_NATS_CREDENTIALS and UTTER_NATS_CA", status: .configuration)
        }
        do throws(QueueFailure) {
            let queue = try NATSQueue(place)
            try queue.prepare()
            return queue
        } catch {
            throw Self.failure(error)
        }
    }

    static func failure(_ error: QueueFailure) -> CommandFailure {
        let isOfLogin = error.reason.contains("uthoriz")
        return CommandFailure(
            error.reason,
            hint: isOfLogin
                ? "its login: UTTER_NATS_USER and UTTER_NATS_PASSWORD, UTTER_NATS_TOKEN, or "
                    + "UTTER_NATS_CREDENTIALS"
                : "is the server there, with JetStream? nats-server -js",
            status: .notDelivered)
    }
}

/// Runs what blocks on a thread of its own, and makes its failure the command's.
func onOwnThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    let result = try await NamedThread.result(name: "fleet") { Result { try body() } }
    do {
        return try result.get().get()
    } catch let error as StoreFailure {
        throw CommandFailure(error.reason, status: .notDelivered)
    } catch let error as QueueFailure {
        throw QueueOptions.failure(error)
    }
}
