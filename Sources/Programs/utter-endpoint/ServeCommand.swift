// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Cryptography
import LinuxPlatform
import OperatorMetrics
import RecognitionEndpoint
import Synchronization
import UtterCommands
import UtterControl
internal import UtterTerminal

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run a local speech-recognition endpoint until Ctrl-C.",
        discussion: """
            POST audio (WAV, Ogg Opus, FLAC or raw PCM), alone or in a form, to /recognize;
            partial texts come back as JSON lines while the upload runs, then the final text with
            its words and their times. Without --grammar it recognises free speech in US English,
            with many mistakes; a grammar is exact and fast, but anything else becomes wrong words.
            The same recording always gets the same text. /healthz answers once it is ready.

            Raw PCM is audio/pcm;rate=16000;channels=1, little-endian unless endian=big is given,
            or audio/l16, which is big-endian unless endian=little is given. A form in the manner
            of OpenAI goes to /v1/audio/transcriptions; its response_format is json, verbose_json,
            text, srt or vtt, with stream=true events have the text as it becomes final, and
            /v1/models names the recogniser.

            /v1/realtime is a WebSocket with the messages of OpenAI's realtime transcription. With
            --listen the endpoint is a recogniser of the desktop as well, at a Unix socket.

            A recording that comes again, whole, with the same Idempotency-Key is not recognised
            again: it gets the same text and Idempotent-Replayed: true. Another recording with
            this key gets 422.

            An upload that breaks off can be resumed, also after a restart on the same port: by
            tus 1.0, or by "Resumable Uploads for HTTP" with Upload-Draft-Interop-Version: 8 and
            Upload-Complete: ?1. The text is the answer of the request that completes the upload.
            It is kept for a day, its audio until the text is known, in
            $XDG_STATE_HOME/utter/endpoint.

            Recordings beyond --max-recognitions wait in order; when 16 wait the answer is 503 with
            Retry-After. It is 413 to a body above --max-body, 500 when the recogniser fails, and 422
            to a request that is not that of its cassette.

            Without --recogniser it uses what 'utter setup local' installed, and PocketSphinx where
            nothing is; its first line says which. --recogniser names another program. It reads sound
            and writes lines of JSON, as docs/recogniser.md says; it gets no tokens, is replaced when
            it crashes or hangs, and ends with the endpoint. language, prompt and words, in the query
            or a form, reach it.
            """)

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 lets the system choose.")
    var port = 8_517

    @Option(
        help: ArgumentHelp(
            "Listen at a Unix socket, too, as a recogniser of this person's desktop; unix: is "
                + "$XDG_RUNTIME_DIR/utter/recogniser.", valueName: "unix:path"))
    var listen: String?

    @Option(help: ArgumentHelp("Recognise only sentences of this JSGF grammar.", valueName: "file"))
    var grammar: String?

    @Option(
        help: ArgumentHelp(
            "Recognise with programs that this command of the shell starts.", valueName: "command"))
    var recogniser: String?

    @Option(
        help: ArgumentHelp(
            "The most memory for the data of such a program, in MiB.", valueName: "n"))
    var recogniserMemory = 8_192

    @Option(
        help: ArgumentHelp(
            "Try whether a recogniser's program does all that it has to, and end.",
            valueName: "command"))
    var checkRecogniser: String?

    @Flag(help: "Serve a page for browsers, too, and print its address.")
    var page = false

    @Option(help: ArgumentHelp("A file with the token that clients must show.", valueName: "file"))
    var tokenFile: String?

    @Option(
        help: ArgumentHelp(
            "The key of encrypted bodies, as 'utter key new' makes one.", valueName: "file"),
        completion: .file())
    var key: String?

    @Flag(help: "With --key, take bodies that are not encrypted, too.")
    var allowPlain = false

    @Option(help: "How many recordings are recognised at once.")
    var maxRecognitions = 2

    @Option(help: "The longest body in bytes.")
    var maxBody = 256 << 20

    @Flag(help: "Misbehave as a request's X-Misbehave asks, for tests (docs/recogniser.md).")
    var allowFaults = false

    @Option(
        help: ArgumentHelp(
            "Recognise nothing, and answer with what these cassettes hold: files, or folders of "
                + "them in the order of their names.", valueName: "file"), completion: .file())
    var cassette: [String] = []

    @Option(
        help: ArgumentHelp(
            "How fast the time of the cassettes passes: max, or a factor such as 1.",
            valueName: "speed"))
    var speed = CassetteServer.Speed.max

    @OptionGroup
    var metrics: MetricsOptions

    @Flag(name: .shortAndLong, help: "Do not print where the endpoint listens.")
    var quiet = false

    @Flag(
        name: .shortAndLong,
        help: "Print a line for each request: the client, the audio, the answer's status.")
    var verbose = false

    func validate() throws {
        guard (0...65_535).contains(port) else {
            throw ValidationError("--port must be from 0 to 65535.")
        }
        guard (1...256).contains(maxRecognitions) else {
            throw ValidationError("--max-recognitions must be from 1 to 256.")
        }
        for command in [recogniser, checkRecogniser].compactMap(\.self)
        where command.allSatisfy(\.isWhitespace) {
            throw ValidationError("--recogniser must name a command.")
        }
        guard recogniserMemory > 0 else {
            throw ValidationError("--recogniser-memory must be above zero.")
        }
        guard grammar == nil || recogniser == nil && checkRecogniser == nil else {
            throw ValidationError("--grammar is for the recogniser of this package alone.")
        }
        guard listen == "unix:" || listen?.hasPrefix("unix:/") != false else {
            throw ValidationError(
                "--listen must be unix: and a path from / on, or unix: alone for the usual one.")
        }
        guard maxBody > 0 else { throw ValidationError("--max-body must be above zero.") }
        let isPlain =
            listen == nil && grammar == nil && recogniser == nil && checkRecogniser == nil
            && tokenFile == nil
            && key == nil && !allowFaults && !page
        guard cassette.isEmpty || isPlain else {
            throw ValidationError(
                "--cassette cannot be used with --listen, --grammar, --recogniser, --token-file, --key, --page or --allow-faults."
            )
        }
        guard !page || !quiet else {
            throw ValidationError("--quiet would keep the address of --page from you.")
        }
        guard !page || key == nil || allowPlain else {
            throw ValidationError(
                "A browser sends no encrypted bodies: --page wants --allow-plain.")
        }
    }

    func run() async throws {
        guard cassette.isEmpty else { return try await replay() }
        let isUnnamed = recogniser == nil && checkRecogniser == nil && grammar == nil
        let installed = isUnnamed ? LocalSetup.installedCommand : nil
        let recogniser = try Recogniser.chosen(
            command: checkRecogniser ?? recogniser ?? installed, grammar: grammar,
            memory: recogniserMemory)
        guard checkRecogniser == nil else { return try await check(recogniser) }
        var configuration = RecognitionEndpointConfiguration(recogniser: recogniser)
        configuration.host = host
        configuration.port = port
        configuration.bearerToken = try token()
        configuration.bodyKey = try bodyKey()
        configuration.takesPlainBodies = allowPlain
        configuration.converter = .installed
        configuration.maximumConcurrentRecognitions = maxRecognitions
        configuration.maximumBodyByteCount = maxBody
        configuration.allowsFaults = allowFaults
        let endpointPage = page ? EndpointPage() : nil
        if let endpointPage { configuration.serve(endpointPage) }
        // A thread of their own for all exchanges, which do little between two waits.
        let executor = try ThreadExecutor()
        _ = try NamedThread(name: "exchange") { executor.run() }
        configuration.executor = executor
        let numbers = EndpointNumbers()
        configuration.onRequest = { [numbers, verbose] request in
            numbers.note(request)
            // A reader that is too slow misses lines; the server does not wait for it.
            guard verbose, StandardError.isWritable else { return }
            StandardError.line(RequestLine.text(request))
        }
        // A second endpoint has another port.
        configuration.uploadFolder = Environment.stateFolder + "/endpoint/\(port)"
        let socket = try localSocket()
        if let socket { configuration.listen(at: socket.listener) }
        defer { socket?.remove() }
        let endpoint = try Self.makeEndpoint(configuration)
        let readiness = Readiness()
        let server = try metrics.serve(
            MetricsServer.Source {
                numbers.families(of: endpoint)
            } obstacle: {
                readiness.obstacle
            })
        defer { server?.shutDown() }
        try await serve(endpoint, readiness) { [host, quiet, tokenFile] port in
            guard !quiet else { return }
            let origin =
                !isUnnamed
                ? ""
                : installed != nil
                    ? ", as utter setup local installed it"
                    : ", for trials only; utter setup local installs one for dictation"
            StandardError.line("the recogniser is \(endpoint.recogniserName)\(origin)")
            let url = Self.url(host, port) + "/recognize"
            let key = tokenFile.map { " --token-file \(ShellWord.quoted($0))" } ?? ""
            StandardError.line("listening on \(url)")
            if let socket { StandardError.line("listening on \(socket.address)") }
            if let endpointPage {
                // A name that leads to this machine from any other is not known.
                let isAll = ["0.0.0.0", "::"].contains(host)
                let address = Self.url(isAll ? "localhost" : host, port)
                StandardError.line("page for browsers: \(address)/#\(endpointPage.secret)")
            }
            StandardError.line("try it with: utter send --to \(url)\(key) FILE.wav")
        }
    }

    static func makeEndpoint(
        _ configuration: RecognitionEndpointConfiguration
    ) throws -> RecognitionEndpoint {
        do throws(RecognitionEndpointError) {
            return try RecognitionEndpoint(configuration)
        } catch {
            guard case .uploadFolderUnusable = error else { throw CommandFailure(error) }
            StandardError.line("uploads cannot be resumed: \(error.description)")
            var configuration = configuration
            configuration.uploadFolder = nil
            return try makeEndpoint(configuration)
        }
    }

    func serve(
        _ server: some LocalServer, _ readiness: Readiness = Readiness(),
        onReady: @escaping @Sendable (Int) async -> Void
    ) async throws {
        let early = EarlyEnd()
        do {
            try early.listen { request in
                // It has recordings, and waits for them while they last.
                guard request != .leaveNow else { return true }
                readiness.obstacle = Readiness.ending
                return server.shutdown()
            }
            try await server.run { port in
                readiness.obstacle = nil
                ServiceManager.tell("READY=1")
                await onReady(port)
            }
        } catch let error as RecognitionEndpointError {
            throw CommandFailure(error)
        } catch let error as SystemError {
            throw CommandFailure(error.description, status: .internalError)
        }
        try early.check()
    }

    static func url(_ host: String, _ port: Int) -> String {
        "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    /// The socket of `--listen`, or the one that systemd has made.
    private func localSocket() throws -> SocketOwner? {
        if let inherited = SocketOwner.inherited() { return inherited }
        guard let listen else { return nil }
        let owner: SocketOwner?
        do throws(ControlFailure) {
            owner = try SocketOwner.claim(SocketPlace(listen))
        } catch {
            throw CommandFailure(error)
        }
        guard let owner else {
            throw CommandFailure(
                "another program listens at \(listen)", hint: "end it, or name another path",
                status: .configuration)
        }
        return owner
    }

    private func bodyKey() throws -> EncryptionKey? {
        guard let key else { return nil }
        let text = try SecretFile.read(key)
        // A passphrase would cost its time for each body.
        guard text.hasPrefix("utter-key-") else {
            throw CommandFailure(
                "'\(key)' does not hold a random key", hint: "make one with: utter key new FILE",
                status: .configuration)
        }
        do throws(KeyError) {
            return try EncryptionKey(secret: Array(text.utf8))
        } catch {
            throw CommandFailure("'\(key)': \(error)", status: .configuration)
        }
    }

    private func token() throws -> BearerToken? {
        guard let tokenFile else { return nil }
        let text = try SecretFile.read(tokenFile)
        guard let token = BearerToken(text) else {
            throw CommandFailure(
                "the token in '\(tokenFile)' is empty or holds unusable characters",
                hint: "write letters, digits and -._~+/ into its first line",
                status: .configuration)
        }
        return token
    }
}

/// A request to end that came while there was nothing to finish, such as before a recogniser was there.
final class EarlyEnd: Sendable {
    private let request = Mutex<Request?>(nil)

    /// Hands each request to `body`, on the thread of the signals; it says whether something is finished
    /// first.
    @discardableResult
    func listen(
        _ body: @escaping @Sendable (Request) -> Bool
    ) throws(SystemError) -> Signals {
        let signals = try Signals(readingPipe: false)
        // Under the lock: what `body` ends may look at once.
        signals.handle { [self] new in request.withLock { if !body(new) { $0 = new } } }
        return signals
    }

    var hasCome: Bool { request.withLock { $0 != nil } }

    /// - Throws: the status to exit with, when one has come.
    func check() throws {
        if let request = request.withLock(\.self) { throw request.status.code }
    }
}

extension CommandFailure {
    init(_ error: RecognitionEndpointError) {
        let status: ExitStatus =
            switch error {
            case .recogniserUnusable, .cannotListen: .configuration
            default: .internalError
            }
        self.init(error.description, hint: error.hint, status: status)
    }
}

enum RequestLine {
    /// The request, and its answer, in one line.
    ///
    /// `127.0.0.1:51234 POST /recognize audio/wav, 89204 bytes, 2.79 s of audio: 200 in 0.61 s`
    static func text(_ request: ServedRequest) -> String {
        var words = [request.peer]
        if request.method.isEmpty {
            words.append("not HTTP")
        } else {
            words += [request.method, String(request.path.prefix(longestName))]
            if let type = request.mediaType { words.append(String(type.prefix(longestName))) }
        }
        var text = words.joined(separator: " ") + ", \(request.byteCount) bytes"
        if let audio = request.audioDuration { text += ", \(seconds(audio)) of audio" }
        text += ": \(request.status.map(String.init) ?? "no answer")"
        if request.status != nil, !request.isAnswered { text += ", broken off" }
        return text + (request.isAnswered ? " in " : " after ")
            + seconds(request.duration / .seconds(1))
    }

    private static func seconds(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction) s"
    }

    /// A path or a type that is longer tells nothing more.
    private static let longestName = 100
}
