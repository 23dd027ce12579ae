// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

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
/// words alone. A failure is a status with `{"error":{"message":…}}`, or a line
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
/// `language`, `prompt` and `words` (separated by commas) in the query, or in a form's fields, reach
/// the recogniser.
///
/// `GET /v1/realtime` is a WebSocket of OpenAI's realtime transcription: PCM comes in messages, and each
/// `input_audio_buffer.commit` gets the text of what came before it; `RealtimeSession` has the rest.
///
/// With an `EndpointPage`, `GET /` is a page for browsers; requests of other pages are refused.
///
/// With a folder for uploads, an upload that breaks off can be resumed: by "Resumable Uploads for
/// HTTP" of the IETF (`Upload-Draft-Interop-Version: 8`, `Upload-Complete`), or by tus 1.0. The text
/// is then the answer of the request that completes the upload.
///
/// Programs recognise; see `Recogniser`. Threads named `recognise-1` and so on talk to them. For tests of clients, the endpoint
/// misbehaves on request; see `FaultPlan`.
public final class RecognitionEndpoint: Sendable {
    private let pool: RecogniserPool
    private let shelf: UploadShelf?
    private let service: HTTPService

    /// Prepares an endpoint; nothing is loaded and nothing listens yet.
    ///
    /// - Throws: `RecognitionEndpointError` when the folder for uploads cannot be used.
    public init(_ configuration: RecognitionEndpointConfiguration) throws(RecognitionEndpointError)
    {
        let pool = RecogniserPool(
            configuration.recogniser,
            maximumCount: max(1, configuration.maximumConcurrentRecognitions),
            maximumWaitingCount: configuration.maximumWaitingRecognitions)
        let ledger = AnswerLedger()
        let shelf = try Self.shelf(configuration, pool, ledger)
        var configuration = configuration
        if shelf == nil { configuration.uploadFolder = nil }
        if let page = configuration.page {
            configuration.onRequest = { [next = configuration.onRequest] request in
                page.note(request)
                next?(request)
            }
        }
        (self.pool, self.shelf) = (pool, shelf)
        let realtime = RealtimeDesk(pool, configuration)
        service = HTTPService(
            host: configuration.host, port: configuration.port,
            localSocket: configuration.localSocket,
            idleTimeout: configuration.idleTimeout, gracePeriod: configuration.shutdownGracePeriod,
            patience: configuration.patience, executor: configuration.executor,
            onRequest: configuration.onRequest,
            socketChoice: { realtime.responder(to: $0, over: $1) }
        ) { [configuration] request, writer, connection in
            try await RecognitionExchange(
                request: request, connection: connection, pool: pool, ledger: ledger,
                shelf: shelf, realtime: realtime, configuration: configuration
            ).answer(writer)
        }
    }

    /// The recogniser's name for itself, once it is ready.
    package var recogniserName: String { pool.name }

    /// Recordings that recognisers work at, and that wait for one.
    var load: (running: Int, waiting: Int) { (pool.busyCount, pool.waitingCount) }

    private static func shelf(
        _ configuration: RecognitionEndpointConfiguration, _ pool: RecogniserPool,
        _ ledger: AnswerLedger
    ) throws(RecognitionEndpointError) -> UploadShelf? {
        guard let path = configuration.uploadFolder else { return nil }
        do {
            return try UploadShelf(
                path, configuration: configuration, pool: pool, ledger: ledger)
        } catch {
            throw .uploadFolderUnusable(path: path, reason: error.reason)
        }
    }

    /// Listens and answers until `shutdown` is called or the task is cancelled.
    ///
    /// Both end it gracefully: no new client is let in, and recognitions that run get the grace
    /// period to finish. Can be called once.
    ///
    /// - Parameter onReady: called with the port once clients can connect.
    /// - Throws: `RecognitionEndpointError` when the recogniser cannot start, or the address not be
    ///   listened on.
    public func run(
        onReady: @escaping @Sendable (Int) async -> Void
    ) async throws(RecognitionEndpointError) {
        do throws(RecognitionEndpointError) {
            try await service.run(
                preparing: { () throws(RecognitionEndpointError) in try await pool.warmUp() },
                onReady: onReady)
        } catch {
            // That it has run already is no reason to stop the one that runs.
            if error != .alreadyUsed { await stop() }
            throw error
        }
        await stop()
    }

    private func stop() async {
        shelf?.stop()
        await pool.stop()
    }

    /// Lets the work that runs finish and ends `run`; without effect when it has ended.
    ///
    /// Before clients can connect, and when it is called once more, it waits for no recogniser. From any
    /// thread; returns at once.
    ///
    /// - Returns: whether clients are waited for.
    @discardableResult
    public func shutdown() -> Bool {
        let isGraceful = service.shutdown()
        if !isGraceful { pool.giveUp() }
        return isGraceful
    }
}

/// Why the recognition endpoint cannot run.
public enum RecognitionEndpointError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The recogniser's program cannot start; the hint is what it said can be done.
    case recogniserUnusable(reason: String, hint: String?)
    /// The address cannot be listened on.
    case cannotListen(host: String, port: Int, reason: String)
    /// The folder for uploads cannot be used.
    case uploadFolderUnusable(path: String, reason: String)
    /// The server broke down while it ran.
    case serverFailed(reason: String)
    /// `run` was called a second time, or after `shutdown`.
    case alreadyUsed

    /// The message: what happened and why, in one line without capital and full stop.
    public var description: String {
        switch self {
        case .recogniserUnusable(let reason, _):
            "the recogniser cannot be used: \(reason)"
        case .cannotListen(let host, let port, let reason):
            "cannot listen on \(host):\(port): \(reason)"
        case .uploadFolderUnusable(let path, let reason):
            "cannot keep uploads in '\(path)': \(reason)"
        case .serverFailed(let reason):
            "the recognition endpoint stopped: \(reason)"
        case .alreadyUsed:
            "the recognition endpoint has run already"
        }
    }

    package var hint: String? {
        switch self {
        case .recogniserUnusable(_, let hint):
            hint
        case .cannotListen:
            "choose another port, or 0 to let the system choose one, and an address of this machine"
        case .uploadFolderUnusable:
            "give this user the right to write there, or choose another folder"
        case .serverFailed, .alreadyUsed:
            nil
        }
    }
}
