// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

/// The power of a real file system fails in the middle of a take, and after it.
@Suite(
    .disabled(if: LoopDisk.obstacle != nil, "\(LoopDisk.obstacle ?? "")"), .serialized)
struct RealPowerCutTests {
    enum Moment: Sendable, CustomTestStringConvertible {
        /// The server has this many bytes.
        case sent(Int)
        /// The server has three quarters of a second, three times what a power cut may cost.
        case spoken
        /// The server has everything, and keeps the answer back.
        case sealed
        /// The transcript has been printed.
        case answered
        case ended

        var testDescription: String {
            switch self {
            case .sent(let count): "after \(count) bytes"
            case .spoken: "in mid-speech"
            case .sealed: "after the seal"
            case .answered: "after the answer"
            case .ended: "after the end"
            }
        }
    }

    private struct Remains {
        /// A place whose home is what was on the disk.
        var bench: FaultBench
        /// What was durable of the audio, and what was written of it, by the take's id.
        var durable, written: [String: [UInt8]]
        var trace: [FileOperation]

        /// How long the sync thread was busy with the disk, from the begin of the last sync of the
        /// audio that ended to the last byte that was written.
        var diskTime: Duration {
            let audio = trace.filter { $0.path.contains("/audio.") && $0.result >= 0 }
            guard let end = audio.last(where: { $0.name == "write" })?.time.upperBound else {
                return .zero
            }
            // A sync that began after the last write owes nothing.
            let sync = audio.last { $0.name == "fdatasync" }?.time.lowerBound ?? .zero
            let begin = min(sync, end)
            return trace.filter { $0.thread == "sync" }.map { $0.time.clamped(to: begin..<end) }
                .reduce(.zero) { $0 + $1.upperBound - $1.lowerBound }
        }
    }

    /// Sends two seconds of speech, cuts the power, kills the program and mounts the disk again.
    private static func remains(of moment: Moment, _ format: String) async throws -> Remains {
        let (process, traced) = (Observed<Int32>(0), Observed<[UInt8]>([]))
        let folder = try TemporaryFolder()
        // On the server's thread: the moment passes quickly.
        let cut = ServerStep.perform { _ in Self.cutPower(in: folder, process, traced) }
        let answer: [ServerStep] =
            switch moment {
            case .sent(let count): [.readHead, .readBody(bytes: count), cut]
            case .spoken: [.readHead, .readBody(bytes: format == "wav" ? 24_000 : 4_000), cut]
            case .sealed: [.readHead, .readBodyToEnd, cut]
            case .answered, .ended: .answer(text: FaultBench.transcript)
            }
        let bench = try FaultBench(milliseconds: 2_000, answer: answer, in: folder)
        let disk = try LoopDisk(in: folder)
        let run = try bench.start(
            ["send", "-q", "--pace", "realtime", "--format", format, bench.recording],
            FileFaults(), shell: disk.shell)
        process.update { $0 = run.processIdentifier }
        if case .answered = moment {
            try #require(await run.wait(for: FaultBench.transcript + "\n", in: .output))
            Self.cutPower(in: folder, process, traced)
        } else if case .ended = moment {
            try #require(await run.wait(for: "ended with 0\n", in: .error))
            Self.cutPower(in: folder, process, traced)
        }
        // The shell that holds the disk would wait for a minute.
        #expect(try await run.result().status == .signalled(SIGKILL))

        var (random, model) = (SeededRandom(), LostPower(folder: bench.home))
        for operation in FileOperation.trace(traced.value) { model.apply(operation) }
        let trace = try bench.trace
        let left = try FaultBench()
        try await onOwnThread { Result { try disk.copy(to: left.home, by: bench.home) } }.get()
        return Remains(
            bench: left,
            durable: model.remains(mixtures: 0, using: &random).first?.durable ?? [:],
            written: trace.writtenAudio, trace: trace)
    }

    /// Cuts the power, and kills the program with the shell that holds the disk.
    ///
    /// `traced` is what had been done before: a sync that is under way may then return a success
    /// that is none. The server may be ahead of the disk: the cut waits for the first bytes of audio
    /// that the program has written, at most for `patience`.
    private static func cutPower(
        in folder: TemporaryFolder, _ process: Observed<Int32>, _ traced: Observed<[UInt8]>
    ) {
        let number = process.waitBlocking(within: .patience) { $0 > 0 ? $0 : nil } ?? 0
        do {
            var trace: [UInt8] = []
            _ = try comesTrueBlocking {
                trace = try folder.read("trace")
                return !FileOperation.trace(trace).writtenAudio.isEmpty
            }
            // The last line may be on its way.
            traced.update { $0 = Array(trace[..<(trace.lastIndex(of: 10) ?? 0)]) }
            try LoopDisk.cutPower(at: folder.path("home"), of: number)
        } catch {
            Issue.record(error)
        }
        if number > 0 { kill(-number, SIGKILL) }
    }

    private static let moments = [1_600, 9_600, 19_200, 28_800, 38_400, 48_000, 57_600]
        .map { Moment.sent($0) }

    /// Cuts the power at seven moments of a take.
    ///
    /// - Returns: what each has cost beyond what the disk itself took, in milliseconds: a sync begins
    ///   every 200 ms, but no sooner than the one before it, or that of a manifest, has ended.
    private func cutPowerInATake() async throws -> [Int] {
        let losses = Mutex<[Int]>([])
        let problems = try await inLanes(Self.moments.count, Self.moments) { moment in
            let remains = try await Self.remains(of: moment, "pcm")
            let left = try remains.bench.remains()
            for (id, bytes) in remains.written {
                let audio = left.first { $0.id == id }?.audio ?? []
                let loss = (bytes.count - audio.count) / 32
                losses.withLock { $0.append(loss - Int(remains.diskTime / .milliseconds(1))) }
            }
            let check = SurvivorCheck(bench: remains.bench, written: remains.durable)
            var problems = try await check.problems()
            let body = remains.bench.server.requests.last?.body ?? []
            let said = remains.written.values.first?.dropFirst(WholeAudio.headerByteCount) ?? []
            if !said.starts(with: body) {
                problems.append("what was sent of it is not what was said")
            }
            return problems.map { "\(moment.testDescription): \($0)" }
        }
        #expect(problems == [])
        return losses.withLock { $0.sorted() }
    }

    @Test func aPowerCutInATakeLosesNothingThatWasDurable() async throws {
        #expect(try await cutPowerInATake().count == Self.moments.count)
    }

    @Test(.enabled(if: getenv("UTTER_SOAK") != nil, "measures time"))
    func aPowerCutInATakeCostsAQuarterOfASecondAtMost() async throws {
        let losses = try await cutPowerInATake()
        print("a power cut costs \(losses) ms")
        try #require(losses.count == Self.moments.count)
        // A machine that is busy with other things syncs later now and then.
        #expect(losses[losses.count / 2] <= 250, "\(losses) ms")
        #expect(losses[losses.count - 1] <= 1_000, "\(losses) ms")
    }

    @Test(
        arguments: [Moment.sent(2_000), .spoken, .sealed, .answered, .ended],
        ["ogg-opus", "wav", "flac"])
    func whatWasDurableIsThereAfterAPowerCut(_ moment: Moment, _ format: String) async throws {
        let remains = try await Self.remains(of: moment, format)
        switch moment {
        case .spoken, .sealed: #expect(!remains.durable.isEmpty)
        // Less than a power cut may cost; what is durable all the same must be there.
        case .sent: break
        // The audio may be gone by then.
        case .answered: break
        case .ended:
            #expect(try remains.bench.takes().map(\.manifest?.state) == ["answered"])
            // The disk was asked to make it durable, however fast all went.
            let syncs = remains.trace.filter { $0.name == "fdatasync" && $0.result == 0 }
            #expect(syncs.contains { $0.path.contains("/audio.") })
        }
        let check = SurvivorCheck(bench: remains.bench, written: remains.durable)
        let problems = try await check.problems()
        #expect(problems == [])
    }

    @Test func bytesThatHadOnlyTheirLengthOnTheDiskAreNotSent() async throws {
        // The file system's own journal is written by whichever sync comes next, here that of
        // another file: with the new length of ours, and without its bytes.
        let id = "20261121-060000-abcdefghjkmn"
        let script = #"""
            umask 077 && cd "$HOME" && mkdir -p .local/state/utter/takes/\#(id) && sync \
            && cd .local/state/utter/takes/\#(id) \
            && head -c 6444 "$1" > audio.wav && sync \
            && tail -c +6445 "$1" | head -c 640 >> audio.wav \
            && echo > "$HOME/other" && sync "$HOME/other"
            """#
        let bench = try FaultBench(milliseconds: 500)
        let disk = try LoopDisk(in: bench.folder)
        let run = try bench.start([bench.recording], shell: disk.shell(running: script))
        try #require(await run.wait(for: "ended with 0\n", in: .error))
        try LoopDisk.cutPower(at: bench.home, of: run.processIdentifier)
        kill(-run.processIdentifier, SIGKILL)
        _ = try await run.result()

        let left = try FaultBench()
        try await onOwnThread { Result { try disk.copy(to: left.home, by: bench.home) } }.get()
        // Both lengths are right: it depends on the file system.
        #expect([6_444, 7_084].contains(try left.remains().first?.audio?.count))
        #expect(try await left.run(["list"]).status == .exited(0))
        let take = try #require(try left.takes().first)
        #expect(take.audio == Array(try readFile(bench.recording).prefix(6_444)))
        #expect(take.manifest?.byteCount == 6_444)
    }
}
