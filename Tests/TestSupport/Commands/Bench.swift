// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TakeStore
internal import Testing

/// A place to run `utter` in: a home and a state folder of its own, and the service it talks to.
package final class Bench: Sendable {
    package let folder: TemporaryFolder
    package let environment: [String: String]
    /// Where `UTTER_URL` leads; it goes with its last reference, as the microphone does.
    package let server: RecordingServer?
    private let microphone: VirtualMicrophone?

    /// Prepares a place.
    ///
    /// - Parameters:
    ///   - server: where `UTTER_URL` leads; nowhere when nil.
    ///   - microphone: the default device.
    ///   - variables: more of the environment.
    /// - Throws: `SystemError` when there is no room for a folder.
    package init(
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
    package var requests: [RecordedRequest] { server?.requests ?? [] }

    /// Starts `utter`; `variables` come on top of the place's own.
    package func start(
        _ arguments: [String], input: CommandRun.Input = .nothing,
        terminal: PseudoTerminal? = nil, outputOnTerminal: Bool = false,
        variables: [String: String] = [:]
    ) throws -> CommandRun {
        try .product(
            "utter", arguments, environment: environment.merging(variables) { $1 },
            input: input, terminal: terminal, outputOnTerminal: outputOnTerminal, holding: self)
    }

    package func run(
        _ arguments: String..., input: CommandRun.Input = .nothing,
        terminal: PseudoTerminal? = nil
    ) async throws -> CommandResult {
        try await start(arguments, input: input, terminal: terminal).result()
    }

    /// Starts a line of shell in which `$0` is `utter`.
    ///
    /// With a terminal the shell has job control.
    package func startShell(
        _ script: String, _ arguments: [String], input: CommandRun.Input = .nothing,
        terminal: PseudoTerminal? = nil
    ) throws -> CommandRun {
        guard let utter = BuiltProducts.path(of: "utter") else {
            throw CommandError.notBuilt("utter")
        }
        return try CommandRun(
            terminal == nil ? "sh" : "bash",
            [terminal == nil ? "-c" : "-mc", script, utter] + arguments,
            environment: environment, input: terminal == nil ? input : .terminal,
            terminal: terminal, holding: self)
    }

    /// A file with the samples of a clip that no other file equals, so that what is kept of it is a
    /// take of its own.
    package func fresh(_ clip: Clip) throws -> String {
        let number = UInt64.random(in: .min ... .max)
        let chunk = Array("LIST".utf8) + [16, 0, 0, 0] + Array(String(number, radix: 16).utf8)
        let bytes =
            try readFile(clip.path) + (chunk + [UInt8](repeating: 0x20, count: 24)).prefix(24)
        return try folder.write(bytes, to: "\(number).wav")
    }

    /// The takes on the disk, oldest first.
    package func takes() throws -> [TakeOnDisk] {
        let takes = "state/utter/takes"
        // Without a take there is no folder.
        guard let ids = try? folder.names(in: takes) else { return [] }
        return try ids.map { id in
            TakeOnDisk(
                id: id, path: folder.path("\(takes)/\(id)"),
                names: try folder.names(in: "\(takes)/\(id)"))
        }
    }

    /// The only take on the disk, or nil.
    package func onlyTake() throws -> TakeOnDisk? {
        let takes = try takes()
        return takes.count == 1 ? takes.first : nil
    }

    /// Sends a recording to where nothing listens.
    ///
    /// - Returns: the take, which is kept.
    package func keep(_ clip: Clip = .goForward, _ arguments: String...) async throws -> TakeOnDisk
    {
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
    package func wait(untilSamples byteCount: Int) async -> Bool {
        await comesTrue {
            // It may be on its way.
            ((try? self.onlyTake()?.samples)?.count ?? 0) >= byteCount
        }
    }
}

extension Bench {
    /// A place with profiles of the person's own, by their names.
    package static func withProfiles(
        _ profiles: [String: String], server: RecordingServer? = nil,
        _ variables: [String: String] = [:]
    ) throws -> Bench {
        let bench = try Bench(server: server, variables)
        for (name, text) in profiles { try bench.writeProfile(text, to: name) }
        return bench
    }

    package func profilePath(_ name: String) -> String {
        folder.path(".config/utter/profiles/\(name).toml")
    }

    package func writeProfile(_ text: String, to name: String) throws {
        makeConfigurationFolder()
        mkdir(folder.path(".config/utter/profiles"), 0o700)
        try folder.write(Array(text.utf8), to: ".config/utter/profiles/\(name).toml")
        chmod(profilePath(name), 0o600)
    }
}

extension Bench {
    /// Where the settings are that a run on this bench reads.
    package var configurationPath: String { folder.path(".config/utter/config.toml") }

    package func makeConfigurationFolder() {
        for path in [folder.path(".config"), folder.path(".config/utter")] { mkdir(path, 0o700) }
    }

    @discardableResult
    package func configure(_ text: String) throws -> String {
        try configure(bytes: Array(text.utf8))
    }

    @discardableResult
    package func configure(bytes: [UInt8]) throws -> String {
        makeConfigurationFolder()
        return try folder.write(bytes, to: ".config/utter/config.toml")
    }
}

extension Bench {
    package static let grammar = SourceTree.path("samples/grammar/demo.gram")

    /// Starts an endpoint on a free port.
    ///
    /// - Returns: the running program and its URL.
    package func serve(_ options: String...) async throws -> (CommandRun, String) {
        let run = try start(["serve", "--port", "0"] + options)
        try #require(await run.wait(for: "/recognize\n", in: .error))
        let text = String(decoding: run.error, as: UTF8.self)
        let match = try #require(
            text.firstMatch(of: /listening on (http:\/\/127\.0\.0\.1:\d+\/\S+)/))
        return (run, String(match.1))
    }
}

/// A take's folder after `utter` has ended.
package struct TakeOnDisk {
    package let id: String
    package let path: String
    package let names: [String]

    /// The recording without the header of a WAV file, or nil when it is gone.
    package var samples: [UInt8]? {
        get throws {
            guard names.contains("audio.wav") else { return nil }
            return Array(try readFile(path + "/audio.wav").dropFirst(44))
        }
    }

    /// The part of its name by which a list shows it, where there are few others.
    package var shortName: String { String(id.dropFirst(16).prefix(4)) }

    package var manifest: ParsedJSON {
        get throws { try ParsedJSON(readFile(path + "/take.json")) }
    }

    package var manifestText: String {
        get throws { String(decoding: try readFile(path + "/take.json"), as: UTF8.self) }
    }
}

extension Clip {
    /// The samples of the file as they are sent.
    package var samples: [UInt8] {
        get throws {
            let bytes = try readFile(path)
            guard let start = bytes.ranges(of: Array("data".utf8)).first else { return [] }
            return Array(bytes[(start.upperBound + 4)...])
        }
    }
}

extension [ServerStep] {
    /// Reads the whole request, then answers in JSON.
    package static func json(_ text: String) -> [ServerStep] {
        .answer(headers: [HeaderField("Content-Type", "application/json")], text: text)
    }
}

extension CommandResult {
    /// Whether nothing but lines of ours is on standard error, and no escape codes.
    package var hasPlainErrors: Bool {
        !error.contains(0x1B) && !error.contains(0x0D)
            && errorText.split(separator: "\n").allSatisfy { $0.hasPrefix("utter: ") }
    }
}

extension RecordingServer {
    /// A server that answers every whole recording with `text`.
    package static func hearing(_ text: String) throws -> RecordingServer {
        try RecordingServer(otherwise: .answer(text: text))
    }
}

extension String {
    /// The name of a take as hints say it.
    package var asInHints: String { TakeID(self)?.shortName ?? self }
}
