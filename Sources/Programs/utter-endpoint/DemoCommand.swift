// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import LinuxPlatform
import RecognitionEndpoint
import Utter
import UtterCommands
internal import UtterTerminal

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Replay a recording in real time to an endpoint in the same process.",
        discussion: """
            The recording is sent while it is being replayed, over a real connection;
            partial texts appear while the voice still speaks. The account at the end says where
            the time went. It is sent twice: by an upload, and over a WebSocket at a Unix socket.
            With --json, or another format than PCM, it is the upload alone.
            """)

    @Argument(help: "A WAV or Ogg Opus file; a sample of speech unless given.")
    var file: String?

    @Option(help: "How the audio travels: \(AudioCodec.names).")
    var format = AudioCodec.pcm

    @Option(
        help: "How fast the file is replayed: realtime, a factor such as 2, or max.",
        transform: PaceArgument.init(parsing:))
    var pace: PaceArgument = .realTime

    @Option(help: ArgumentHelp("Recognise only sentences of this JSGF grammar.", valueName: "file"))
    var grammar: String?

    @Option(help: ArgumentHelp("Recognise with this program.", valueName: "command"))
    var recogniser: String?

    @Flag(help: "Print one JSON object with the transcript and the account of every sample.")
    var json = false

    func run() async throws {
        let file = try file ?? Self.sample()
        var configuration = RecognitionEndpointConfiguration(
            recogniser: try .chosen(command: recogniser, grammar: grammar))
        let path = (Environment[filled: "TMPDIR"] ?? "/tmp") + "/utter-demo-\(getpid())"
        let socket = try localSocket(at: path)
        configuration.listen(at: socket.number)
        defer {
            withExtendedLifetime(socket) {}
            _ = unsafe unlink(path.cPath)
        }
        let endpoint = try ServeCommand.makeEndpoint(configuration)
        StandardError.line("loading the recogniser")
        let early = EarlyEnd()
        let signals = try early.listen { _ in endpoint.shutdown() }
        let (ports, port) = AsyncStream<Int>.makeStream()
        let server = Task {
            defer { port.finish() }
            try await endpoint.run { port.yield($0) }
        }
        defer { endpoint.shutdown() }
        guard let number = await ports.first(where: { _ in true }) else {
            do {
                try await server.value
            } catch let error as RecognitionEndpointError {
                throw CommandFailure(error)
            }
            try early.check()
            throw CommandFailure("the endpoint ended early", status: .internalError)
        }
        try await replay(file, port: number, at: path, signals)
    }

    private func localSocket(at path: String) throws -> OwnedDescriptor {
        do throws(SystemError) {
            return try LocalSocket.listen(at: path)
        } catch {
            throw CommandFailure(error.description, status: .localIO)
        }
    }

    private func replay(
        _ file: String, port: Int, at path: String, _ signals: Signals
    ) async throws {
        // Whatever options there are, they have their usual values.
        let output = try OutputOptions.parse(["--verbose"] + (json ? ["--json"] : []))
        // It is not the person's recording, and has no place among the takes.
        var keep = KeepOptions.standard
        keep.noKeep = true
        try await Launch.takes(output: output, keep: keep, readsPipe: false, signals: signals) {
            session throws(CommandFailure) in
            let service: RecognitionService
            do throws(ServiceError) {
                service = try RecognitionService(
                    url: try ServiceURL("http://127.0.0.1:\(port)/recognize"))
            } catch {
                throw CommandFailure(error.description, status: .internalError)
            }
            let upload = DeliveryPlan(service: service, format: format)
            let others =
                try json || format != .pcm ? [] : [NamedServices.delivery(at: "unix:\(path)")]
            var status = ExitStatus.textPrinted
            for delivery in [upload] + others where status == .textPrinted {
                let plan = TakePlan(
                    source: FileReplay(path: file, pace: pace.pace), delivery: delivery)
                status = await session.run(plan, as: .sending)
            }
            return status
        }
    }

    /// The sample that comes with the package: installed, or in the source tree.
    static func sample() throws -> String {
        let name = "go-forward.wav"
        for folder in ["samples"] + Launch.sharedFolders
        where unsafe access("\(folder)/\(name)", R_OK) == 0 {
            return "\(folder)/\(name)"
        }
        throw CommandFailure(
            "the sample \(name) is not installed",
            hint: "name a WAV or Ogg Opus file: utter demo FILE", status: .noInput)
    }
}

/// The program behind `utter serve` and `utter demo`.
@main
struct EndpointMain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "utter",
        abstract: "The built-in recognition endpoint of utter, and its demonstration.",
        version: "utter \(UtterVersion.text)",
        subcommands: [ServeCommand.self, DemoCommand.self])

    static func main() { Program.run(EndpointMain.self) }
}
