// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// SIGKILL before and after every file operation, and at any moment.
@Suite struct KillTests {
    /// A share of the operations of one way to send a recording.
    struct Share: Sendable, CustomTestStringConvertible {
        var format: String
        var pace: String
        var part: Int

        static let count = 4
        static let all = [
            ("pcm", "max"), ("ogg-opus", "realtime"), ("wav", "realtime"), ("flac", "realtime"),
        ]
        .flatMap { format, pace in
            (0..<count).map { Share(format: format, pace: pace, part: $0) }
        }

        var testDescription: String { "\(format), \(pace), \(part + 1) of \(Self.count)" }

        var arguments: [String] { ["send", "-q", "--format", format, "--pace", pace] }
    }

    /// Where to kill: before every operation that changes something, which is after the one before
    /// it as well, since operations wait for each other; and once more after each of them.
    ///
    /// Threads interleave differently from run to run: a few numbers beyond the last are tried.
    static func kills(
        in trace: [FileOperation], twice: Bool = true, part: Int = 0, of count: Int = 1
    ) -> [FileFaults.Kill] {
        let changes = trace.filter(\.isChange).thinned { $0.place }.map(\.number)
        let before = (changes + (1...3).map { trace.count + $0 }).map { FileFaults.Kill.before($0) }
        let after = twice ? changes.map { FileFaults.Kill.after($0) } : []
        return (before + after).enumerated().filter { $0.offset % count == part }.map(\.element)
    }

    /// What is wrong after a program was killed, or had ended before it could be.
    private static func problems(
        _ bench: FaultBench, _ arguments: [String], _ kill: FileFaults.Kill,
        written: [String: [UInt8]] = [:]
    ) async throws -> [String] {
        bench.forgetTrace()
        let result = try await bench.run(arguments, FileFaults(kill: kill))
        guard [.signalled(SIGKILL), .exited(0)].contains(result.status) else {
            return ["\(kill): \(result.status) \(result.errorText)"]
        }
        let known = written.merging(try bench.trace.writtenAudio) { known, _ in known }
        var check = SurvivorCheck(bench: bench, written: known)
        switch kill {
        case .before(let number): check.asksProgram = number % 4 == 0
        case .after(let number):
            (check.asksProgram, check.asksPlayers) = (number % 4 == 2, number % 12 == 0)
        }
        return try await check.problems().map { "\(kill): \($0)" }
    }

    @Test(arguments: Share.all)
    func aKillAtEveryFileOperationOfASendLosesNothing(_ share: Share) async throws {
        let rehearsal = try FaultBench()
        let whole = try await rehearsal.run(
            share.arguments + [rehearsal.recording], FileFaults())
        try #require(whole.outputText == FaultBench.transcript + "\n")
        let kills = Self.kills(
            in: try rehearsal.trace, twice: share.pace == "max", part: share.part, of: Share.count)
        #expect(kills.count > 8 || FewFaults.areWanted && !kills.isEmpty)
        let problems = try await inLanes(2, kills) { kill in
            let bench = try FaultBench()
            return try await Self.problems(bench, share.arguments + [bench.recording], kill)
        }
        report(harms: kills.count, "kills", lost: problems.count)
        #expect(problems == [])
    }

    /// A place with one take whose program died in the middle, and half a frame or page behind
    /// its last whole one.
    private static func dead(_ format: String) async throws -> FaultBench {
        // Long enough for a write that is neither the first nor the last.
        let bench = try FaultBench(milliseconds: 900)
        let arguments = ["send", "-q", "--format", format, "--pace", "realtime", bench.recording]
        let rehearsal = try await bench.run(arguments, FileFaults())
        try #require(rehearsal.status == .exited(0))
        let writes = try bench.trace.filter { $0.path.contains("/audio.") && $0.name == "write" }
        let middle = try #require(writes.dropFirst(writes.count / 2).first)
        for take in try bench.takes() { _ = try await bench.run(["rm", take.id]) }
        bench.forgetTrace()
        _ = try await bench.run(arguments, FileFaults(kill: .after(middle.number)))
        let take = try #require(try bench.takes().first)
        let audio = try #require(take.audio)
        let torn = audio + (format == "pcm" ? [7] : Array(audio.suffix(30)))
        try bench.folder.write(torn, to: "\(FaultBench.takes)/\(take.id)/\(take.audioName)")
        return bench
    }

    @Test(arguments: ["pcm", "ogg-opus", "flac"])
    func aKillAtEveryFileOperationOfARecoveryLosesNothing(_ format: String) async throws {
        let dead = try await Self.dead(format)
        let (before, written) = (try dead.snapshot(), try dead.trace.writtenAudio)
        #expect(!written.isEmpty)
        dead.forgetTrace()
        #expect(try await dead.run(["list"], FileFaults()).status == .exited(0))
        let trace = try dead.trace
        // Without a take to recover the list would change nothing at all.
        #expect(trace.contains { $0.name == "truncate" } && trace.contains { $0.name == "rename" })
        let kills = Self.kills(in: trace)
        let problems = try await inLanes(2, kills) { kill in
            let bench = try FaultBench()
            try bench.restore(before)
            return try await Self.problems(bench, ["list"], kill, written: written)
        }
        report(harms: kills.count, "kills", lost: problems.count)
        #expect(problems == [])
    }

    @Test(arguments: 0..<6)
    func aKillAtEveryFileOperationOfARetryLosesNothing(_ part: Int) async throws {
        let format = ["pcm", "ogg-opus", "flac"][part / 2]
        let kept = try FaultBench()
        _ = try await kept.run(
            ["send", "-q", "--format", format] + FaultBench.noServer + [kept.recording],
            FileFaults())
        let (before, written) = (try kept.snapshot(), try kept.trace.writtenAudio)
        #expect(!written.isEmpty)
        kept.forgetTrace()
        let sent = try await kept.run(
            ["retry", "last", "--to", kept.server.url()], FileFaults())
        #expect(sent.status == .exited(0))
        let kills = Self.kills(in: try kept.trace, part: part % 2, of: 2)
        let problems = try await inLanes(2, kills) { kill in
            let bench = try FaultBench()
            try bench.restore(before)
            return try await Self.problems(
                bench, ["retry", "last", "--to", bench.server.url()], kill, written: written)
        }
        report(harms: kills.count, "kills", lost: problems.count)
        #expect(problems == [])
    }

    @Test(arguments: 0..<10)
    func aKillAtAnyMomentLosesNothing(_ part: Int) async throws {
        var random = SeededRandom()
        let deaths = Array(0..<20).thinned(to: 3).map { number in
            // 300 ms are spoken; what comes before and after takes about as long.
            (
                Int.random(in: 0..<600, using: &random),
                ["pcm", "wav", "ogg-opus", "flac"][number % 4], asksProgram: number % 5 == 0
            )
        }
        let problems = try await inLanes(2, deaths) { milliseconds, format, asksProgram in
            let bench = try FaultBench()
            let run = try bench.start([
                "send", "-q", "--pace", "realtime", "--format", format, bench.recording,
            ])
            try await Task.sleep(for: .milliseconds(milliseconds))
            run.signal(SIGKILL)
            _ = try await run.result()
            let check = SurvivorCheck(bench: bench, asksProgram: asksProgram)
            return try await check.problems().map {
                "\(format) after \(milliseconds) ms: \($0)"
            }
        }
        report(harms: deaths.count, "kills", lost: problems.count)
        #expect(problems == [], "seed \(random.seed)")
    }
}
