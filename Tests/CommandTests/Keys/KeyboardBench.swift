// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

/// A machine with keyboards on which `utter keys --evdev` runs.
final class KeyboardBench: Sendable {
    let control: ControlBench
    let keyboards: VirtualKeyboards
    /// Held, because it goes with its last reference.
    private let running = Mutex<BenchRun?>(nil)

    init(_ server: RecordingServer, _ variables: [String: String] = [:]) throws {
        control = try ControlBench(server, variables)
        keyboards = try VirtualKeyboards()
    }

    var server: RecordingServer { control.server }

    /// Starts a daemon, which is there as long as the bench is.
    func daemon(_ arguments: String...) async throws {
        let run = try control.bench.start(["daemon"] + arguments)
        running.withLock { $0 = run }
        #expect(await control.isAnswered())
    }

    var hasDaemonEnded: Bool { running.withLock { $0?.status != nil } }

    /// Starts `utter keys --evdev`, and waits until it watches the key.
    func watch(_ arguments: String...) async throws -> BenchRun {
        let run = try start(arguments)
        #expect(await run.wait(for: "and speak, or tap it", in: .error), "\(run.errorText)")
        return run
    }

    func start(_ arguments: [String]) throws -> BenchRun {
        try control.bench.start(
            ["keys", "--evdev"] + arguments, variables: keyboards.environment)
    }

    /// Waits until so many bytes of a request have come: something is recorded.
    func isHeard(request: Int = 0, bytes: Int = 8_000) async throws {
        _ = try #require(await server.wait(untilBytes: bytes, ofRequest: request))
    }

    /// Ends `utter keys` by Ctrl-C.
    func end(_ run: BenchRun) async throws -> CommandResult {
        run.signal(SIGINT)
        return try await run.result()
    }
}

extension BenchRun {
    var errorText: String { String(decoding: error, as: UTF8.self) }
}
