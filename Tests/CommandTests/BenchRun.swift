// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// A running `utter`, which holds its bench: folder, server and microphone stay until it is gone.
final class BenchRun: Sendable {
    private let run: CommandRun
    private let bench: Bench

    init(_ run: CommandRun, on bench: Bench) {
        self.run = run
        self.bench = bench
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
