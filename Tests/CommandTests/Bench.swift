// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// A place to run `utter` in: a home and a state folder of its own, and the service it talks to.
final class Bench: Sendable {
    let folder: TemporaryFolder
    let environment: [String: String]
    /// Where `UTTER_URL` leads; it goes with its last reference, as the microphone does.
    let server: RecordingServer?
    private let microphone: VirtualMicrophone?

    /// Prepares a place.
    ///
    /// - Parameters:
    ///   - server: where `UTTER_URL` leads; nowhere when nil.
    ///   - microphone: the default device.
    ///   - variables: more of the environment.
    /// - Throws: `SystemError` when there is no room for a folder.
    init(
        server: RecordingServer? = nil, microphone: VirtualMicrophone? = nil,
        _ variables: [String: String] = [:]
    ) throws {
        // A recorder in the background may end after its test.
        folder = try variables["UTTER_FOREGROUND"] == "false" ? .forProcess() : TemporaryFolder()
        (self.server, self.microphone) = (server, microphone)
        var environment = CommandRun.cleanEnvironment
        environment["HOME"] = folder.path
        // Recordings that no disk would keep are rescued there.
        environment["TMPDIR"] = folder.path
        environment["XDG_STATE_HOME"] = folder.path("state")
        // Port 9 is discard: no program listens there.
        environment["UTTER_URL"] = server?.url() ?? "http://127.0.0.1:9/"
        environment["TERM"] = "xterm"
        // Most tests want to see that what is answered leaves the disk.
        environment["UTTER_KEEP_AUDIO"] = "0"
        environment["ALSA_CONFIG_PATH"] = "/dev/null"
        environment.merge(microphone?.environment ?? [:]) { $1 }
        environment.merge(variables) { $1 }
        self.environment = environment
    }

    /// What the server has been asked so far.
    var requests: [RecordedRequest] { server?.requests ?? [] }

    /// Starts `utter`; `variables` come on top of the place's own.
    func start(
        _ arguments: [String], input: CommandRun.Input = .nothing,
        terminal: PseudoTerminal? = nil, outputOnTerminal: Bool = false,
        variables: [String: String] = [:]
    ) throws -> BenchRun {
        BenchRun(
            try .product(
                "utter", arguments, environment: environment.merging(variables) { $1 },
                input: input, terminal: terminal, outputOnTerminal: outputOnTerminal), on: self)
    }

    func run(
        _ arguments: String..., input: CommandRun.Input = .nothing,
        terminal: PseudoTerminal? = nil
    ) async throws -> CommandResult {
        try await start(arguments, input: input, terminal: terminal).result()
    }

    /// Starts a line of shell in which `$0` is `utter`.
    ///
    /// With a terminal the shell has job control.
    func startShell(
        _ script: String, _ arguments: [String], input: CommandRun.Input = .nothing,
        terminal: PseudoTerminal? = nil
    ) throws -> BenchRun {
        guard let utter = BuiltProducts.path(of: "utter") else {
            throw CommandError.notBuilt("utter")
        }
        return BenchRun(
            try CommandRun(
                terminal == nil ? "sh" : "bash",
                [terminal == nil ? "-c" : "-mc", script, utter] + arguments,
                environment: environment, input: terminal == nil ? input : .terminal,
                terminal: terminal), on: self)
    }

    /// A file with the samples of a clip that no other file equals, so that what is kept of it is a
    /// take of its own.
    func fresh(_ clip: Clip) throws -> String {
        let number = UInt64.random(in: .min ... .max)
        let chunk = Array("LIST".utf8) + [16, 0, 0, 0] + Array(String(number, radix: 16).utf8)
        let bytes =
            try readFile(clip.path) + (chunk + [UInt8](repeating: 0x20, count: 24)).prefix(24)
        return try folder.write(bytes, to: "\(number).wav")
    }

    /// The takes on the disk, oldest first.
    func takes() throws -> [KeptTake] {
        let takes = "state/utter/takes"
        // Without a take there is no folder.
        guard let ids = try? folder.names(in: takes) else { return [] }
        return try ids.map { id in
            KeptTake(
                id: id, path: folder.path("\(takes)/\(id)"),
                names: try folder.names(in: "\(takes)/\(id)"))
        }
    }

    /// The only take on the disk, or nil.
    func onlyTake() throws -> KeptTake? {
        let takes = try takes()
        return takes.count == 1 ? takes.first : nil
    }

    /// Sends a recording to where nothing listens.
    ///
    /// - Returns: the take, which is kept.
    func keep(_ clip: Clip = .goForward, _ arguments: String...) async throws -> KeptTake {
        let before = try takes().map(\.id)
        let result = try await start(
            ["send", "-q", "-c", "retry.never=true", "--to", "http://127.0.0.1:9/"] + arguments
                + [try fresh(clip)]
        ).result()
        #expect(result.status == .exited(75))
        return try #require(try takes().first { !before.contains($0.id) })
    }

    /// Waits until the only take holds so many bytes of samples.
    ///
    /// The file system has no event that a take's first folder would be part of.
    ///
    /// - Returns: false when that was not so in time.
    func wait(untilSamples byteCount: Int) async -> Bool {
        await comesTrue {
            // It may be on its way.
            ((try? self.onlyTake()?.samples)?.count ?? 0) >= byteCount
        }
    }
}

extension Bench {
    /// A place with profiles of the person's own, by their names.
    static func withProfiles(
        _ profiles: [String: String], server: RecordingServer? = nil,
        _ variables: [String: String] = [:]
    ) throws -> Bench {
        let bench = try Bench(server: server, variables)
        for (name, text) in profiles { try bench.writeProfile(text, to: name) }
        return bench
    }

    func profilePath(_ name: String) -> String {
        folder.path(".config/utter/profiles/\(name).toml")
    }

    func writeProfile(_ text: String, to name: String) throws {
        makeConfigurationFolder()
        mkdir(folder.path(".config/utter/profiles"), 0o700)
        try folder.write(Array(text.utf8), to: ".config/utter/profiles/\(name).toml")
        chmod(profilePath(name), 0o600)
    }
}

/// A running `utter`, which holds its bench: folder, server and microphone stay until it is gone.
final class BenchRun: Sendable {
    private let run: CommandRun
    private let bench: Bench

    init(_ run: CommandRun, on bench: Bench) {
        (self.run, self.bench) = (run, bench)
    }

    var processIdentifier: Int32 { run.processIdentifier }

    var error: [UInt8] { run.error }

    var screen: [UInt8] { run.screen }

    var status: CommandResult.Status? { run.status }

    func write(_ bytes: [UInt8]) { run.write(bytes) }

    func closeInput() { run.closeInput() }

    func signal(_ number: Int32) { run.signal(number) }

    func hangUp() { run.hangUp() }

    func wait(
        for text: String, in stream: CommandCollector.Stream, within limit: Duration = .patience
    ) async -> Bool {
        await run.wait(for: text, in: stream, within: limit)
    }

    func wait(
        in stream: CommandCollector.Stream, until condition: @escaping @Sendable ([UInt8]) -> Bool
    ) async -> Bool {
        await run.wait(in: stream, until: condition)
    }

    func result() async throws -> CommandResult {
        defer { withExtendedLifetime(bench) {} }
        return try await run.result()
    }
}

/// A take's folder after `utter` has ended.
struct KeptTake {
    let id: String
    let path: String
    let names: [String]

    /// The recording without the header of a WAV file, or nil when it is gone.
    var samples: [UInt8]? {
        get throws {
            guard names.contains("audio.wav") else { return nil }
            return Array(try readFile(path + "/audio.wav").dropFirst(44))
        }
    }

    /// The part of its name by which a list shows it, where there are few others.
    var shortName: String { String(id.dropFirst(16).prefix(4)) }

    var manifest: JSONText {
        get throws { try JSONText(readFile(path + "/take.json")) }
    }

    var manifestText: String {
        get throws { String(decoding: try readFile(path + "/take.json"), as: UTF8.self) }
    }
}

extension Clip {
    /// The samples of the file as they are sent.
    var samples: [UInt8] {
        get throws {
            let bytes = try readFile(path)
            guard let start = bytes.ranges(of: Array("data".utf8)).first else { return [] }
            return Array(bytes[(start.upperBound + 4)...])
        }
    }
}

extension [ServerStep] {
    /// Reads the whole request, then answers in JSON.
    static func json(_ text: String) -> [ServerStep] {
        .answer(headers: [HeaderField("Content-Type", "application/json")], text: text)
    }
}

extension CommandResult {
    /// Whether nothing but lines of ours is on standard error, and no escape codes.
    var hasPlainErrors: Bool {
        !error.contains(0x1B) && !error.contains(0x0D)
            && errorText.split(separator: "\n").allSatisfy { $0.hasPrefix("utter: ") }
    }
}
