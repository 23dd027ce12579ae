// SPDX-License-Identifier: Apache-2.0

internal import HummingbirdCore
internal import LinuxPlatform
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import ServiceLifecycle
internal import Synchronization

/// A server that listens until it is shut down; what it answers is its owner's.
final class HTTPService: LocalServer {
    typealias Responder =
        @concurrent @Sendable (Request, consuming ResponseWriter, Connection) async throws -> Void

    private enum State {
        case unused
        /// The things that must be there before it listens are being made.
        case preparing
        case running(ServiceGroup)
        case over
    }

    private let host: String
    private let port: Int
    private let localSocket: Int32?
    private let idleTimeout, gracePeriod: Duration
    private let patience: HTTPConventions.Patience
    private let executor: (any TaskExecutor)?
    private let onRequest: (@Sendable (ServedRequest) -> Void)?
    private let responder: Responder
    private let socketChoice: SocketChoice
    private let state = Mutex(State.unused)

    init(
        host: String, port: Int, localSocket: Int32? = nil, idleTimeout: Duration,
        gracePeriod: Duration,
        patience: HTTPConventions.Patience = .init(), executor: (any TaskExecutor)? = nil,
        onRequest: (@Sendable (ServedRequest) -> Void)? = nil,
        socketChoice: @escaping SocketChoice = { _, _ in nil }, responder: @escaping Responder
    ) {
        (self.host, self.port, self.localSocket) = (host, port, localSocket)
        (self.idleTimeout, self.patience, self.gracePeriod) = (idleTimeout, patience, gracePeriod)
        (self.executor, self.onRequest, self.responder) = (executor, onRequest, responder)
        self.socketChoice = socketChoice
    }

    func run(
        onReady: @escaping @Sendable (Int) async -> Void
    ) async throws(RecognitionEndpointError) {
        try await run(preparing: {}, onReady: onReady)
    }

    /// Listens and answers once something is prepared; when that throws, or `shutdown` is called before
    /// it has ended, nothing listens.
    func run(
        preparing prepare: () async throws(RecognitionEndpointError) -> Void,
        onReady: @escaping @Sendable (Int) async -> Void
    ) async throws(RecognitionEndpointError) {
        let isFirst = state.withLock { state in
            guard case .unused = state else { return false }
            state = .preparing
            return true
        }
        guard isFirst else { throw .alreadyUsed }
        // The group holds the caller's closure, which may hold this.
        defer { state.withLock { $0 = .over } }
        try await prepare()
        guard !Task.isCancelled, let group = try makeGroup(onReady: onReady) else { return }
        // Tasks of the server would be cancelled with the caller's, and could not finish; so
        // they are not its children.
        let server = Task(executorPreference: executor) { () async -> (any Error)? in
            do {
                try await group.run()
                return nil
            } catch {
                return error
            }
        }
        let failure = await withTaskCancellationHandler {
            await server.value
        } onCancel: {
            shutdown()
        }
        if let failure { throw translated(failure) }
    }

    /// Returns whether clients are served to their end; there are none before it listens, and their time
    /// is over when this is called once more.
    @discardableResult
    func shutdown() -> Bool {
        let group: ServiceGroup? = state.withLock { state in
            defer { state = .over }
            if case .running(let group) = state { return group }
            return nil
        }
        guard let group else { return false }
        Task { await group.triggerGracefulShutdown() }
        return true
    }

    /// Makes the group; nil when the service has been shut down.
    private func makeGroup(
        onReady: @escaping @Sendable (Int) async -> Void
    ) throws(RecognitionEndpointError) -> ServiceGroup? {
        let group: ServiceGroup
        do {
            group = try makeServiceGroup(onReady: onReady)
        } catch {
            throw .serverFailed(reason: "\(error)")
        }
        return state.withLock { state in
            guard case .preparing = state else { return nil }
            state = .running(group)
            return group
        }
    }

    private func makeServiceGroup(
        onReady: @escaping @Sendable (Int) async -> Void
    ) throws -> ServiceGroup {
        // A library leaves standard error alone.
        let logger = Logger(label: "utter.endpoint") { _ in SwiftLogNoOpLogHandler() }
        let anteroom = Anteroom()
        let connections = EndpointChannel(
            responder: { [responder] request, writer, channel in
                try await responder(request, writer, Connection(channel: channel))
            },
            socketChoice: socketChoice,
            // A client that stalls in its body hears why before.
            idleTimeout: idleTimeout + Connection.lingerTime * 2,
            patience: patience, anteroom: anteroom, onRequest: onRequest)
        let server = connections.server(
            configuration: ServerConfiguration(
                address: .hostname(host, port: port),
                availableConnectionsDelegate: anteroom),
            onServerRunning: { listener in
                anteroom.hear(of: listener)
                await onReady(listener.localAddress?.port ?? 0)
            },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger)
        let local = localSocket.map { socket in
            var connections = connections
            // They take no place of those of the port.
            connections.anteroom = Anteroom()
            return LocalService(socket: socket, connections: connections, logger: logger)
        }
        var services = ServiceGroupConfiguration(
            services: [Listeners(all: [server] + [local].compactMap(\.self))], logger: logger)
        services.maximumGracefulShutdownDuration = gracePeriod
        return ServiceGroup(configuration: services)
    }

    private func translated(_ error: any Error) -> RecognitionEndpointError {
        if let error = error as? SocketAddressError.UnknownHost {
            return .cannotListen(host: host, port: port, reason: error.errorDescription)
        }
        guard let error = error as? IOError else { return .serverFailed(reason: "\(error)") }
        return .cannotListen(
            host: host, port: port,
            reason: SystemError(call: "bind", code: error.errnoCode).reason)
    }
}

/// Services that shut down at the same time: a group of its own does it with one after the other.
private struct Listeners: Service {
    let all: [any Service]

    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for service in all { group.addTask { try await service.run() } }
        }
    }
}

/// Counts the connections of a service: at the limit, one without a request gives way to a new one.
///
/// From any thread.
final class Anteroom: AvailableConnectionsDelegate {
    static let limit = 256

    private struct State {
        var count = 0
        /// The connections without a request; the one that has been so for the longest time is first.
        var silent: [any Channel] = []
        /// Whether the listener was told to wait.
        var isFull = false
        var listener: (any Channel)?
    }

    private let state = Mutex(State())

    func hear(of listener: any Channel) { state.withLock { $0.listener = listener } }

    func connectionOpened() {
        let oldest = state.withLock { state in
            state.count += 1
            let isFull = state.count > Self.limit && !state.silent.isEmpty
            return isFull ? state.silent.removeFirst() : nil
        }
        oldest?.close(promise: nil)
    }

    func connectionClosed() { state.withLock { $0.count -= 1 } }

    func isAcceptingNewConnections() -> Bool {
        state.withLock { state in
            state.isFull = state.count >= Self.limit && state.silent.isEmpty
            return !state.isFull
        }
    }

    func note(_ channel: any Channel, isSilent: Bool) {
        let listener = state.withLock { state -> (any Channel)? in
            state.silent.removeAll { $0 === channel }
            guard isSilent else { return nil }
            state.silent.append(channel)
            return state.isFull ? state.listener : nil
        }
        // By itself the listener asks again only when a connection has closed.
        listener?.read()
    }
}

/// `RecognitionEndpoint` says what its functions do.
package protocol LocalServer: Sendable {
    func run(
        onReady: @escaping @Sendable (Int) async -> Void
    ) async throws(RecognitionEndpointError)

    /// From any thread; returns at once.
    @discardableResult
    func shutdown() -> Bool
}

extension RecognitionEndpoint: LocalServer {}
