// SPDX-License-Identifier: Apache-2.0

internal import Hummingbird
internal import HummingbirdCore
internal import LinuxPlatform
internal import Logging
internal import NIOCore
internal import ServiceLifecycle
internal import Synchronization

/// An HTTP server that recognises speech while it is being uploaded.
///
/// `POST /recognize` (or `PUT`, or `/v1/recognize`) takes audio of any length and rate: WAV, Ogg Opus, or
/// PCM without a header; see `AudioMediaType` for the media types. It answers 200 with
/// `application/x-ndjson`: a line for every change of the text while the body still comes, and
/// the final text at the end:
///
/// ```
/// {"type":"partial","text":"go forward","time":1.24}
/// {"type":"final","text":"go forward ten meters","duration":2.79,"words":[
///  {"word":"go","start":0.46,"end":0.64,"probability":0.9973},…]}
/// ```
///
/// (on one line each). `Accept: application/json` gets one object at the end, `text/plain` the
/// words alone. What goes wrong is a status with `{"error":{"message":…}}`, or a line
/// `{"type":"error","message":…}` when the text had begun. `GET /healthz` says `"status":"ok"`.
///
/// `POST /v1/audio/transcriptions` is what OpenAI-style clients use: a form (RFC 7578), whose file
/// is recognised while it comes, wherever in the form it stands. The answer is one object with the
/// member `text`. The other paths take a form as well.
///
/// A recording that comes again under the same `Idempotency-Key`, whole, with the same length and
/// SHA-256, is not recognised again: it gets the same text, with `Idempotent-Replayed: true`.
/// Another recording under that key gets 422. A `Content-Digest` (RFC 9530) is checked.
///
/// Recognition runs on threads named `recognise-1` and so on. For tests of clients, the endpoint
/// misbehaves on request; see `FaultPlan`.
public final class RecognitionEndpoint: Sendable {
    private enum State {
        case unused
        case running(ServiceGroup)
        case over
    }

    private let configuration: RecognitionEndpointConfiguration
    private let pool: RecogniserPool
    private let ledger = AnswerLedger()
    private let state = Mutex(State.unused)

    /// Prepares an endpoint; nothing is loaded and nothing listens yet.
    ///
    /// - Throws: `RecognitionEndpointError` when a file of the model cannot be read or the
    ///   grammar is not understood.
    public init(_ configuration: RecognitionEndpointConfiguration) throws(RecognitionEndpointError)
    {
        self.configuration = configuration
        pool = RecogniserPool(
            model: try PreparedModel(configuration.model),
            maximumCount: max(1, configuration.maximumConcurrentRecognitions))
    }

    /// Listens and answers until `shutdown` is called or the task is cancelled.
    ///
    /// Both end it gracefully: no new client is let in, and recognitions that run get the grace
    /// period to finish. Can be called once.
    ///
    /// - Parameter onReady: called with the port once clients can connect.
    /// - Throws: `RecognitionEndpointError` when the model cannot be loaded or the address not
    ///   be listened on.
    public func run(
        onReady: @escaping @Sendable (Int) async -> Void
    ) async throws(RecognitionEndpointError) {
        let group = try prepare(onReady: onReady)
        // The group holds the caller's closure, which may hold this.
        defer { state.withLock { $0 = .over } }
        do {
            try await pool.warmUp()
        } catch {
            await pool.stop()
            throw error
        }
        // Tasks of the server would be cancelled with the caller's, and could not finish; so
        // they are no children of it.
        let server = Task { () async -> (any Error)? in
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
        await pool.stop()
        if let failure { throw translated(failure) }
    }

    /// Lets the work that runs finish and ends `run`; without effect when it has ended.
    ///
    /// From any thread; returns at once.
    public func shutdown() {
        let group: ServiceGroup? = state.withLock { state in
            switch state {
            case .running(let group): return group
            case .unused:
                state = .over
                return nil
            case .over: return nil
            }
        }
        guard let group else { return }
        Task { await group.triggerGracefulShutdown() }
    }

    // MARK: - Server

    private func prepare(
        onReady: @escaping @Sendable (Int) async -> Void
    ) throws(RecognitionEndpointError) -> ServiceGroup {
        let group: ServiceGroup
        do {
            group = try makeServiceGroup(onReady: onReady)
        } catch {
            throw .serverFailed(reason: "\(error)")
        }
        let isFirst = state.withLock { state in
            guard case .unused = state else { return false }
            state = .running(group)
            return true
        }
        guard isFirst else { throw .alreadyUsed }
        return group
    }

    private func makeServiceGroup(
        onReady: @escaping @Sendable (Int) async -> Void
    ) throws -> ServiceGroup {
        // A library leaves standard error alone.
        let logger = Logger(label: "utter.endpoint") { _ in SwiftLogNoOpLogHandler() }
        let builder = HTTPServerBuilder { [configuration] responder in
            // A client that stalls in its body hears why before.
            EndpointChannel(
                responder: responder,
                idleTimeout: configuration.idleTimeout + Connection.lingerTime * 2,
                onRequest: configuration.onRequest)
        }
        let server = try builder.buildServer(
            configuration: ServerConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                availableConnectionsDelegate: MaximumAvailableConnections(
                    Self.maximumConnectionCount)),
            eventLoopGroup: EventLoopGroupProvider.singleton.eventLoopGroup, logger: logger,
            responder: { [configuration, pool, ledger] request, writer, channel in
                try await RecognitionExchange(
                    request, on: Connection(channel), pool: pool, ledger: ledger,
                    configuration: configuration
                ).answer(writer)
            },
            onServerRunning: { await onReady($0.localAddress?.port ?? 0) })
        var services = ServiceGroupConfiguration(services: [server], logger: logger)
        services.maximumGracefulShutdownDuration = configuration.shutdownGracePeriod
        return ServiceGroup(configuration: services)
    }

    /// Beyond it, connections wait to be accepted.
    private static let maximumConnectionCount = 256

    private func translated(_ error: any Error) -> RecognitionEndpointError {
        guard let error = error as? IOError else { return .serverFailed(reason: "\(error)") }
        return .cannotListen(
            host: configuration.host, port: configuration.port,
            reason: SystemError(call: "bind", code: error.errnoCode).reason)
    }
}
