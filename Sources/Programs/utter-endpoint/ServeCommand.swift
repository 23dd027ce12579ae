// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LinuxPlatform
import RecognitionEndpoint
import Utter
import UtterCommands
internal import UtterTerminal

/// `utter serve`: runs the recognition endpoint until a signal.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run a local speech-recognition endpoint until Ctrl-C.",
        discussion: """
            POST audio (WAV, Ogg Opus, FLAC or raw PCM), alone or in a form, to /recognize;
            partial texts come back as JSON lines while the upload runs. Without --grammar it recognises
            free speech in US English, with many mistakes.
            """)

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 lets the system choose.")
    var port = 8_517

    @Option(help: ArgumentHelp("Recognise only sentences of this JSGF grammar.", valueName: "file"))
    var grammar: String?

    @Option(help: ArgumentHelp("A file with the token that clients must show.", valueName: "file"))
    var tokenFile: String?

    @Option(help: "How many recordings are recognised at once.")
    var maxRecognitions = 2

    @Option(help: "The longest body in bytes.")
    var maxBody = 64 << 20

    @Flag(help: "Misbehave when a request asks for it with X-Misbehave; for tests of clients.")
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
    var speed = ReplaySpeed.max

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
        guard maxBody > 0 else { throw ValidationError("--max-body must be above zero.") }
        guard cassette.isEmpty || grammar == nil && tokenFile == nil && !allowFaults else {
            throw ValidationError(
                "--cassette excludes --grammar, --token-file and --allow-faults.")
        }
    }

    func run() async throws {
        guard cassette.isEmpty else { return try await replay() }
        var configuration = RecognitionEndpointConfiguration(
            model: grammar.map { .grammar($0) } ?? .languageModel)
        configuration.host = host
        configuration.port = port
        configuration.bearerToken = try token()
        configuration.maximumConcurrentRecognitions = maxRecognitions
        configuration.maximumBodyByteCount = maxBody
        configuration.allowsFaults = allowFaults
        if verbose {
            configuration.onRequest = { request in
                // A reader that is too slow misses lines; the server does not wait for it.
                guard StandardError.isWritable else { return }
                StandardError.line(RequestLine.text(request))
            }
        }
        let endpoint: RecognitionEndpoint
        do throws(RecognitionEndpointError) {
            endpoint = try RecognitionEndpoint(configuration)
        } catch {
            throw CommandFailure(error)
        }
        try await serve(endpoint) { [host, quiet, tokenFile] port in
            guard !quiet else { return }
            let url = Self.url(host, port) + "/recognize"
            let key = tokenFile.map { " --token-file \(ShellWord.quoted($0))" } ?? ""
            StandardError.line("listening on \(url)")
            StandardError.line("try it with: utter send --to \(url)\(key) FILE.wav")
        }
    }

    /// Runs a server until a signal.
    func serve(
        _ server: some LocalServer, onReady: @escaping @Sendable (Int) async -> Void
    ) async throws {
        do {
            let signals = try Signals(readingPipe: false)
            signals.handle { _ in server.shutdown() }
            // Many exchanges at once, on more than this thread.
            try await withTaskExecutorPreference(globalConcurrentExecutor) {
                try await server.run(onReady: onReady)
            }
        } catch let error as RecognitionEndpointError {
            throw CommandFailure(error)
        } catch let error as SystemError {
            throw CommandFailure(error.description, status: .internalError)
        }
    }

    static func url(_ host: String, _ port: Int) -> String {
        "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
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

extension CommandFailure {
    /// A failure of the endpoint, with the status that fits.
    init(_ error: RecognitionEndpointError) {
        let status: ExitStatus =
            switch error {
            case .modelFileUnreadable, .grammarMalformed, .modelRefused, .cannotListen:
                .configuration
            default: .internalError
            }
        self.init(error.description, hint: error.hint, status: status)
    }
}
