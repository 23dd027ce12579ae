// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport

/// A place to run `utter` in while its files go wrong: a state folder, a server, a short recording.
final class FaultBench: Sendable {
    static let transcript = "well heard"

    let folder: TemporaryFolder
    let server: RecordingServer
    /// What the recording says, as samples.
    let samples: [UInt8]

    /// Prepares a place.
    ///
    /// - Parameters:
    ///   - milliseconds: the length of the recording.
    ///   - first: what the server does with the first requests, one after the other.
    ///   - answer: what it does with each other request.
    ///   - folder: where; a new folder when nil.
    /// - Throws: `SystemError` when there is no room for a folder or a server.
    init(
        milliseconds: Int = 300, first: [[ServerStep]] = [],
        answer: [ServerStep] = .answer(text: FaultBench.transcript),
        in folder: TemporaryFolder? = nil
    ) throws {
        self.folder = try folder ?? TemporaryFolder()
        server = try RecordingServer(scripts: first, otherwise: answer)
        mkdir(self.folder.path("home"), 0o700)
        // From the middle of a spoken sentence: no two frames of it are alike.
        let clip = try readFile(Clip.speech.path).dropFirst(64_000)
        samples = Array(clip.prefix(milliseconds * 32))
        try self.folder.write(WAVBytes.whole(samples), to: "voice.wav")
    }

    /// The words for a recording that no service takes.
    static let noServer = ["-c", "retry.never=true", "--to", "http://127.0.0.1:9/"]

    /// What the program does with a recording when no operation fails.
    static func trace(
        of arguments: [String], milliseconds: Int = 300
    ) async throws -> [FileOperation] {
        let bench = try FaultBench(milliseconds: milliseconds)
        _ = try await bench.run(arguments + [bench.recording], FileFaults())
        return try bench.trace
    }

    var recording: String { folder.path("voice.wav") }

    /// The home of a person who has never run the program: the folder whose operations are seen.
    var home: String { folder.path("home") }

    var stateFolder: String { home + "/.local/state/utter" }

    /// Where the takes are, seen from the bench's folder.
    static let takes = "home/.local/state/utter/takes"

    func start(
        _ arguments: [String], _ faults: FileFaults? = nil, shell: String? = nil,
        microphone: VirtualMicrophone? = nil
    ) throws -> CommandRun {
        var environment = CommandRun.cleanEnvironment
        environment["HOME"] = home
        // Rescued recordings go there: operations on it do not fail.
        environment["TMPDIR"] = folder.path
        environment["UTTER_URL"] = server.url()
        environment["ALSA_CONFIG_PATH"] = "/dev/null"
        environment["UTTER_KEEP_AUDIO"] = "0"
        environment.merge(microphone?.environment ?? [:]) { $1 }
        let more = try faults?.environment(folder: home, trace: folder.path("trace"))
        environment.merge(more ?? [:]) { $1 }
        guard let shell else {
            return try .product("utter", arguments, environment: environment)
        }
        guard let utter = BuiltProducts.path(of: "utter") else {
            throw CommandError.notBuilt("utter")
        }
        return try CommandRun("sh", ["-c", shell, utter] + arguments, environment: environment)
    }

    func run(
        _ arguments: [String], _ faults: FileFaults? = nil, shell: String? = nil
    ) async throws -> CommandResult {
        try await start(arguments, faults, shell: shell).result()
    }

    /// The operations of the last traced run on files of takes; a run after it starts a new trace by
    /// `forgetTrace`.
    ///
    /// Settings that cannot be read are refused before there is a take.
    var trace: [FileOperation] {
        get throws {
            guard access(folder.path("trace"), R_OK) == 0 else { return [] }
            return FileOperation.trace(try folder.read("trace")).filter {
                !$0.path.contains("/.config/")
            }
        }
    }

    func forgetTrace() { unlink(folder.path("trace")) }

    /// Everything below the home.
    func snapshot() throws -> [String: [UInt8]?] { try contents(of: home) }

    /// Makes the home what another was when it was looked at.
    func restore(_ snapshot: [String: [UInt8]?]) throws { try fill(home, with: snapshot) }

    /// The takes on the disk, oldest first; each `take.json` has to be whole.
    func takes() throws -> [TakeOnDisk] {
        try names().compactMap { try take($0) { try JSONDecoder().decode(from: $0) } }
    }

    /// The same after a death: the first `take.json` is not waited for, and a power cut may leave it
    /// torn.
    func remains() throws -> [TakeOnDisk] {
        // What it says is not known then.
        try names().compactMap { try take($0) { try? JSONDecoder().decode(from: $0) } }
    }

    private func names() throws -> [String] {
        guard access(folder.path(Self.takes), R_OK) == 0 else { return [] }
        return try folder.names(in: Self.takes)
    }

    private func take(
        _ entry: String, _ read: ([UInt8]) throws -> TakeOnDisk.Manifest?
    ) throws -> TakeOnDisk? {
        let path = "\(Self.takes)/\(entry)"
        let names = try folder.names(in: path)
        let audio = names.first { $0.hasPrefix("audio.") }
        // What was just being made is a take when a power cut has left its audio.
        let isUnborn = entry.hasPrefix(".new-")
        if isUnborn && audio == nil { return nil }
        let id = isUnborn ? String(entry.dropFirst(5)) : entry
        return TakeOnDisk(
            id: id, names: names, audioName: audio ?? "",
            audio: try audio.map { try folder.read("\(path)/\($0)") },
            manifest: try names.contains("take.json") ? read(folder.read("\(path)/take.json")) : nil
        )
    }

    /// The requests for one take.
    func requests(for id: String) -> [RecordedRequest] {
        // What follows the id tells one body of a take from another.
        server.requests.filter { $0["Idempotency-Key"]?.hasPrefix("\"\(id)") == true }
    }
}

/// A take's folder.
struct TakeOnDisk: Sendable {
    /// What `take.json` says.
    struct Manifest: Decodable, Sendable {
        var state: String
        var format: String
        var byteCount: Int?
        var frames: Int?
        var transcript: String?
        var attempts: Int?
        var progress: Progress?

        struct Progress: Decodable, Sendable { var values: [String: String] }
    }

    let id: String
    let names: [String]
    let audioName: String
    let audio: [UInt8]?
    let manifest: Manifest?
}

extension WAVBytes {
    /// A file of these bytes of sound.
    static func whole(_ sound: [UInt8]) -> [UInt8] {
        file([chunk("fmt ", format()), chunk("data", sound)])
    }
}

extension CommandResult {
    var warnings: Int { warningLines.count }

    /// Whether the same was said twice; a disk that is nearly full, and then fails, are two things.
    var isRepetitive: Bool {
        Set(warningLines.map { $0.prefix(25) }).count < warnings
    }

    private var warningLines: [Substring] {
        errorText.split(separator: "\n").filter { $0.contains("warning:") }
    }
}

extension JSONDecoder {
    fileprivate func decode(from bytes: [UInt8]) throws -> TakeOnDisk.Manifest {
        try decode(TakeOnDisk.Manifest.self, from: Data(bytes))
    }
}
