// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import Utter
@testable import UtterControl

/// A place with a runtime folder of its own, in which `utter start` and the others meet.
struct ControlBench: Sendable {
    let bench: Bench
    let card: VirtualMicrophone
    let server: RecordingServer
    let place: SocketPlace

    init(
        _ server: RecordingServer, _ variables: [String: String] = [:],
        card: VirtualMicrophone? = nil
    ) throws {
        self.server = server
        self.card = try card ?? VirtualMicrophone()
        // Short: the path of a socket has a limit.
        let runtime = try TemporaryFolder()
        self.runtime = runtime
        // Most tests follow what the recorder does.
        var all = ["XDG_RUNTIME_DIR": runtime.path, "UTTER_FOREGROUND": "true"]
        all.merge(variables) { $1 }
        bench = try Bench(server: server, microphone: self.card, all)
        place = try SocketPlace(user: geteuid()) { [all] in all[$0] }
    }

    /// A bench whose service answers with a text once a gate is open.
    init(_ text: String, after gate: Gate) throws {
        try self.init(RecordingServer(otherwise: .answer(text: text, after: gate)))
    }

    private let runtime: TemporaryFolder

    /// Starts a command.
    func start(_ arguments: String..., variables: [String: String] = [:]) throws -> CommandRun {
        try bench.start(arguments, variables: variables)
    }

    func run(_ arguments: String...) async throws -> CommandResult {
        try await bench.start(arguments).result()
    }

    /// Starts a recorder, and waits until so many bytes of the next request have come.
    func record(_ arguments: String..., bytes: Int = 6_400) async throws -> CommandRun {
        let number = server.requests.count
        let run = try bench.start(["start"] + arguments)
        _ = try #require(await server.wait(untilBytes: bytes, ofRequest: number))
        return run
    }

    /// Has a take recorded by those who were started before, until so many bytes have come.
    ///
    /// - Returns: what `stop` has said.
    func dictate(_ number: Int = 0, bytes: Int = 8_000) async throws -> CommandResult {
        let start = try await run("start")
        #expect(start.status == .exited(0) && start.outputText == "", "\(start.errorText)")
        _ = try #require(await server.wait(untilBytes: bytes, ofRequest: number))
        return try await run("stop")
    }

    /// Starts a daemon, and waits until it answers.
    func daemon(
        _ arguments: String..., variables: [String: String] = [:]
    ) async throws -> CommandRun {
        let run = try bench.start(["daemon"] + arguments, variables: variables)
        #expect(await isAnswered())
        return run
    }

    /// Waits until a process answers at the socket; false when none did in time.
    func isAnswered() async -> Bool {
        await comesTrue { [place] in
            // Not yet.
            (try? LocalSocket.connect(to: place.path, within: .seconds(1))) != nil
        }
    }

    /// The status that the process with the socket tells; idle where there is none.
    func status() async throws -> ControlStatus {
        let status = try await onOwnThread { [place] in
            Result { () throws(ControlFailure) in
                try ControlClient.ask(ControlRequest(.status), at: place)?.first.status
            }
        }.get()
        return status ?? ControlStatus()
    }

    /// Waits until the process that has the socket, or will have it, is in this phase.
    func reaches(_ phase: Dictation.Phase) async throws -> Bool {
        guard await isAnswered() else { return false }
        return try await ask("follow").hears(#""phase":"\#(phase.rawValue)""#)
    }

    func connect() throws -> RawControlClient { try RawControlClient(place.path) }

    /// A client that has given a command, with more members of its request.
    func ask(_ command: String, _ more: String = "") throws -> RawControlClient {
        try RawControlClient(place.path, command, more)
    }

    var hasSocket: Bool { Folder.mayExist(at: place.path) }
}

extension [ServerStep] {
    /// Reads the whole request, then answers once a gate is open.
    static func answer(text: String, after gate: Gate) -> [ServerStep] {
        [.readHead, .readBodyToEnd, .stallUntil(gate), .respond(status: 200, text: text)]
    }
}

extension CommandRun {
    /// Ends a daemon as its manager does.
    @discardableResult
    func terminate() async throws -> CommandResult {
        signal(SIGTERM)
        let ended = try await result()
        #expect(ended.status == .exited(0), "\(ended.errorText)")
        return ended
    }
}

final class RawControlClient: Sendable {
    private let socket: OwnedDescriptor

    init(_ path: String) throws { socket = try LocalSocket.connect(to: path, within: .seconds(5)) }

    convenience init(_ path: String, _ command: String, _ more: String = "") throws {
        try self.init(path)
        try say(#"{"version":1,"command":"\#(command)"\#(more)}"# + "\n")
    }

    /// Says something, of which the other side must take all at once.
    func say(_ text: String) throws {
        let bytes = Array(text.utf8)
        #expect(try LocalSocket.send(bytes[...], to: socket.number) == bytes.count)
    }

    func finish() { shutdown(socket.number, Int32(SHUT_WR)) }

    func next() async throws -> String {
        try await onOwnThread { [self] in
            Result { () throws(SystemError) in
                _ = WorkerPause.until(.now + .patience).wait(for: socket.number)
                return String(
                    decoding: try LocalSocket.receive(from: socket.number) ?? [], as: UTF8.self)
            }
        }.get()
    }

    /// Waits until it is told a text; false when the other side closes the connection before, or the
    /// text does not come in time.
    func hears(_ text: String) async throws -> Bool {
        let deadline = ContinuousClock.now + .patience
        var told = ""
        while !told.contains(text) {
            let more = try await next()
            if more.isEmpty || deadline < .now { return false }
            told += more
        }
        return true
    }

    /// All that it is told until the other side closes the connection.
    func rest() async throws -> String {
        try await onOwnThread { [self] in
            Result { () throws(SystemError) in
                var bytes: [UInt8] = []
                let deadline = ContinuousClock.now + .patience
                while deadline > .now {
                    guard WorkerPause.until(deadline).wait(for: socket.number) else { break }
                    guard let more = try LocalSocket.receive(from: socket.number) else { continue }
                    if more.isEmpty { return String(decoding: bytes, as: UTF8.self) }
                    bytes += more
                }
                throw SystemError(call: "wait for the end", code: ETIMEDOUT)
            }
        }.get()
    }

    /// The answers that it is told until the other side closes the connection.
    func answers() async throws -> [ParsedJSON] {
        try await rest().split(separator: "\n").map { try ParsedJSON(Array($0.utf8)) }
    }
}
