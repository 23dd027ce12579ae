// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// SIGKILL before and after every file operation.
@Suite(.serialized) struct KillTests {
    /// A share of the operations of one way to send a recording.
    struct Share: Sendable, CustomTestStringConvertible {
        var format: String
        var pace: String
        var part: Int

        static let count = 4
        static let all = [("pcm", "max"), ("ogg-opus", "realtime"), ("wav", "realtime")]
            .flatMap { format, pace in
                (0..<count).map { Share(format: format, pace: pace, part: $0) }
            }

        var testDescription: String { "\(format), \(pace), \(part + 1) of \(Self.count)" }

        var arguments: [String] { ["send", "-q", "--format", format, "--pace", pace] }
    }

    /// Where to kill: before every operation, and after those that change something.
    static func kills(in trace: [FileOperation], part: Int) -> [FileFaults.Kill] {
        let before = trace.map { FileFaults.Kill.before($0.number) }
        let after = trace.filter(\.isChange).map { FileFaults.Kill.after($0.number) }
        return (before + after).enumerated().filter { $0.offset % Share.count == part }
            .map(\.element)
    }

    @Test(arguments: Share.all)
    func aKillAtAnyFileOperationOfASendLosesNothing(_ share: Share) async throws {
        let rehearsal = try FaultBench()
        let whole = try await rehearsal.run(
            share.arguments + [rehearsal.recording], FileFaults())
        try #require(whole.outputText == FaultBench.transcript + "\n")
        let kills = Self.kills(in: try rehearsal.trace, part: share.part)
        #expect(kills.count > 8)

        let problems = try await inLanes(3, kills) { kill in
            let bench = try FaultBench()
            let result = try await bench.run(
                share.arguments + [bench.recording], FileFaults(kill: kill))
            // Threads interleave differently from run to run: the last ones may not be reached.
            guard [.signalled(SIGKILL), .exited(0)].contains(result.status) else {
                return ["\(kill): \(result.status) \(result.errorText)"]
            }
            var check = SurvivorCheck(bench: bench, written: try bench.trace.writtenAudio)
            if case .after(let number) = kill { check.asksPlayers = number % 8 == 0 }
            return try await check.problems().map { "\(kill): \($0)" }
        }
        #expect(problems == [])
    }
}
