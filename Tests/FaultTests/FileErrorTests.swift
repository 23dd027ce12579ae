// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Every file operation fails, once or from then on.
@Suite struct FileErrorTests {
    /// An error, and how often it comes.
    struct Fault: Sendable, CustomTestStringConvertible {
        let name: String
        let error: Int32?
        let kinds: [String]
        var onward = false
        /// Which of the operations; there are many that may fail with EIO.
        var part = 0

        var testDescription: String {
            name + (onward ? " from then on" : " once") + (part > 0 ? ", second half" : "")
        }

        private var partCount: Int { name == "EIO" ? 2 : 1 }

        private static let changes = [
            "create", "mkdir", "write", "fdatasync", "fsync", "rename", "unlink", "chmod",
            "truncate", "allocate", "link",
        ]
        private static let space = ["create", "mkdir", "write", "fdatasync", "fsync", "rename"]
        private static let once = [
            Fault(name: "EIO", error: EIO, kinds: changes + ["open", "stat", "lock", "list"]),
            Fault(name: "ENOSPC", error: ENOSPC, kinds: space + ["allocate"]),
            Fault(name: "EDQUOT", error: EDQUOT, kinds: space + ["allocate"]),
            Fault(name: "EROFS", error: EROFS, kinds: changes),
            Fault(name: "EMFILE", error: EMFILE, kinds: ["create", "open"]),
            Fault(
                name: "EINTR", error: EINTR,
                kinds: ["open", "create", "write", "read", "fdatasync", "fsync", "truncate"]),
            Fault(name: "short write", error: nil, kinds: ["write"]),
        ]
        static let all = once.flatMap { fault in
            [false, true].flatMap { onward in
                (0..<fault.partCount).map { part in
                    var fault = fault
                    (fault.onward, fault.part) = (onward, part)
                    return fault
                }
            }
        }
        /// Those that leave the program in different places.
        static let distinct = all.filter { !["EDQUOT", "EINTR"].contains($0.name) }
        static let inMidTake = all.filter { ["EIO", "ENOSPC", "short write"].contains($0.name) }

        /// The failures worth a run: a single one at every operation, and from then on where other
        /// things come first.
        ///
        /// Of operations in a row that do the same to the same file only the first and the last
        /// begin what goes on, and of a single failure the second stands for those between them.
        /// Errors that the program does not tell from others, or answers where it makes the call,
        /// come once at each kind of operation.
        func failures(in trace: [FileOperation]) -> [FileFaults.Failure] {
            let operations = trace.filter { kinds.contains($0.name) }
            let places = operations.map(\.place)
            let isAlike = ["EDQUOT", "EROFS", "EINTR"].contains(name) || FewFaults.areWanted
            var seen: Set<String> = []
            let chosen = operations.indices.filter { index in
                if isAlike { return seen.insert(places[index]).inserted }
                let row = places[max(0, index - (onward ? 1 : 2))..<min(index + 2, places.count)]
                let isWithin = row.count == (onward ? 3 : 4)
                return !isWithin || row.contains { $0 != places[index] }
            }
            return chosen.indices.filter { $0 % partCount == part }.map {
                FileFaults.Failure(
                    operation: operations[chosen[$0]].number, error: error, onward: onward,
                    kinds: kinds)
            }
        }
    }

    /// One run with one failure that the server answers.
    private static func problemsOfDelivered(
        _ arguments: [String], _ failure: FileFaults.Failure
    ) async throws -> [String] {
        let bench = try FaultBench()
        let result = try await bench.run(
            arguments + [bench.recording], FileFaults(failure: failure))
        var problems: [String] = []
        if result.status != .exited(0) || result.outputText != FaultBench.transcript + "\n" {
            problems.append("\(result.status) \(result.outputText) \(result.errorText)")
        }
        if bench.server.requests.map(\.isComplete) != [true] {
            // It was a second attempt, or a program of a test that had this port before.
            let requests = bench.server.requests.map {
                "\($0.requestLine) \($0["Idempotency-Key"] ?? "") \($0.body.count) \($0.isComplete)"
            }
            problems.append("requests: \(requests): \(result.errorText)")
        }
        if arguments.contains("pcm"), bench.server.requests.first?.body != bench.samples {
            problems.append("not every byte was sent")
        }
        if result.isRepetitive { problems.append("told more than once: \(result.errorText)") }
        let take = try bench.takes().first
        if result.warnings == 0, take?.manifest?.transcript != FaultBench.transcript {
            problems.append(
                "\(take?.manifest?.state ?? "nothing") on the disk, without a warning")
        }
        // What looks as it does without a fault is listed as it is then.
        if take?.names != ["take.json"] || take?.manifest?.state != "answered" {
            let list = try await bench.run(["list"])
            if list.status != .exited(0) { problems.append("list: \(list.errorText)") }
        }
        return problems
    }

    @Test(arguments: Fault.all)
    func aFailingFileOperationCostsNoSample(_ fault: Fault) async throws {
        let arguments = ["send", "-q", "--format", "pcm", "--pace", "max"]
        let problems = try await problems(arguments, fault) { $0 }
        #expect(problems == [])
    }

    @Test(arguments: Fault.inMidTake)
    func aFailingFileOperationInTheMiddleOfATakeCostsNoSample(_ fault: Fault) async throws {
        let arguments = ["send", "-q", "--format", "ogg-opus", "--pace", "realtime"]
        // What comes before and after is the same at any pace.
        let problems = try await problems(arguments, fault) { trace in
            let isSound = { (operation: FileOperation) in
                operation.name == "write" && operation.path.contains("/audio.")
            }
            let first = trace.firstIndex(where: isSound) ?? 0
            return Array(trace[first...(trace.lastIndex(where: isSound) ?? first)])
        }
        #expect(problems == [])
    }

    private func problems(
        _ arguments: [String], _ fault: Fault,
        within part: ([FileOperation]) -> [FileOperation]
    ) async throws -> [String] {
        let trace = try await FaultBench.trace(of: arguments)
        let failures = fault.failures(in: part(trace))
        #expect(!failures.isEmpty)
        return try await inLanes(2, failures) { failure in
            try await Self.problemsOfDelivered(arguments, failure).map {
                "operation \(failure.operation): \($0)"
            }
        }
    }

    /// One run with one failure and no server.
    ///
    /// What is said to be kept is there and can be sent; what is not there is said to be lost.
    private static func problemsOfKept(
        _ failure: FileFaults.Failure, on bench: FaultBench
    ) async throws -> [String] {
        let result = try await bench.run(
            ["send", "-q"] + FaultBench.noServer + [bench.recording], FileFaults(failure: failure))
        guard [.exited(75), .exited(74)].contains(result.status) else {
            return ["\(result.status) \(result.errorText)"]
        }
        guard result.errorText.contains("utter: kept: ") else {
            let saysSo =
                result.errorText.contains("not protected") || result.errorText.contains("not saved")
            if saysSo { return [] }
            // What the disk has not confirmed is saved elsewhere, whole.
            let lines = result.errorText.split(separator: "\n")
            let saved = lines.first { $0.hasPrefix("utter: saved: ") }?.dropFirst(14)
            guard let saved, result.errorText.contains("it may be incomplete") else {
                return ["not kept, and not told: \(result.errorText)"]
            }
            defer { unlink(String(saved)) }
            let audio = try readFile(String(saved)).dropFirst(WholeAudio.headerByteCount)
            return audio == bench.samples[...] ? [] : ["not whole: \(saved)"]
        }
        // What looks as it does without a fault can be sent as it can then.
        let take = try bench.takes().first
        if take?.names == ["audio.wav", "take.json"], take?.manifest?.state == "kept",
            take?.manifest?.byteCount == take?.audio?.count,
            take?.audio?.dropFirst(WholeAudio.headerByteCount) == bench.samples[...]
        {
            return []
        }
        let check = SurvivorCheck(bench: bench, asksProgram: failure.operation % 4 == 0)
        var problems = try await check.problems()
        if bench.server.requests.last?.body != bench.samples {
            problems.append(
                "\(bench.server.requests.last?.body.count ?? -1) bytes of what was said to be kept: \(result.errorText)"
            )
        }
        return problems
    }

    @Test(arguments: Fault.distinct)
    func whatIsSaidToBeKeptIsThere(_ fault: Fault) async throws {
        let rehearsal = try FaultBench()
        _ = try await rehearsal.run(
            ["send", "-q"] + FaultBench.noServer + [rehearsal.recording], FileFaults())
        let failures = fault.failures(in: try rehearsal.trace)
        #expect(try await SurvivorCheck(bench: rehearsal).problems() == [])
        let problems = try await inLanes(2, failures) { failure in
            try await Self.problemsOfKept(failure, on: FaultBench()).map {
                "operation \(failure.operation): \($0)"
            }
        }
        #expect(problems == [])
    }

    @Test(
        arguments: ["create", "write", "fdatasync", "fsync", "rename", "truncate", "open", "read"])
    func aCallThatIsInterruptedForEverFailsAsAnyOther(_ kind: String) async throws {
        var seen: Set<String> = []
        let operations = try await FaultBench.trace(of: ["send", "-q"] + FaultBench.noServer)
            .filter { $0.name == kind && seen.insert($0.place).inserted }
        let problems = try await inLanes(2, operations) { operation in
            let failure = FileFaults.Failure(
                operation: operation.number, error: EINTR, onward: true, isEndless: true,
                kinds: [kind])
            let bench = try FaultBench()
            var problems = try await Self.problemsOfKept(failure, on: bench)
            let rows = try bench.trace.rowsOfInterrupts
            // A name is given at once or not at all.
            if let longest = rows.max(), longest < 100, kind != "rename" {
                problems.append("not tried again: \(rows)")
            }
            // Calls in a row for the same may be several; what spins makes millions.
            if let longest = rows.max(), longest > 1_000 { problems.append("\(longest) tries") }
            return problems.map { "operation \(operation.number): \($0)" }
        }
        #expect(problems == [])
    }

    @Test(arguments: [
        (EMFILE, 74, "ulimit -n 256"), (ENFILE, 74, "end other programs"),
        (ENOMEM, 74, "ulimit -v unlimited"), (ENOENT, 66, "check the name"),
    ])
    func aLimitIsToldFromAFileThatIsMissing(
        _ error: Int32, _ status: Int32, _ hint: String
    ) async throws {
        let bench = try FaultBench()
        let recording = try bench.folder.write(
            try readFile(bench.recording), to: "home/voice.wav")
        let rehearsal = try await bench.run(["send", "-q", "--no-keep", recording], FileFaults())
        #expect(rehearsal.status == .exited(0))
        let opened = try #require(
            bench.trace.first { $0.name == "open" && $0.path.hasSuffix("voice.wav") })
        let result = try await bench.run(
            ["send", "-q", "--no-keep", recording],
            FileFaults(
                failure: .init(operation: opened.number, error: error, kinds: ["open"])))
        #expect(result.status == .exited(status), "\(result.errorText)")
        #expect(result.errorText.contains("utter: hint: "))
        #expect(result.errorText.contains(hint), "\(result.errorText)")
    }

    @Test func aReadThatFailsOnceIsTriedAgain() async throws {
        let arguments = ["send", "-q", "--format", "pcm"]
        let reads = try await FaultBench.trace(of: arguments).filter {
            $0.name == "read" && $0.path.contains("audio")
        }
        let problems = try await inLanes(2, reads.thinned { $0.place }) { read in
            let bench = try FaultBench()
            let result = try await bench.run(
                arguments + [bench.recording],
                FileFaults(failure: .init(operation: read.number, error: EIO, kinds: ["read"])))
            // Either it is read again, or the take is kept whole and sent later.
            if result.status == .exited(0) { return [] }
            guard result.status == .exited(75) || result.status == .exited(74) else {
                return ["\(result.status) \(result.errorText)"]
            }
            return try await SurvivorCheck(bench: bench).problems()
        }
        #expect(problems == [])
    }

    @Test func aSyncThatDoesNotEndHoldsNothingBack() async throws {
        let bench = try FaultBench()
        let run = try bench.start(
            ["send", "-q", "--pace", "realtime", "--format", "pcm", bench.recording],
            FileFaults(syncDelay: .ages))
        #expect(await run.wait(for: FaultBench.transcript + "\n", in: .output))
        #expect(bench.server.requests.first?.body == bench.samples)
        #expect(try !bench.trace.contains { $0.name == "fdatasync" })
        run.signal(SIGKILL)
        _ = try await run.result()
        #expect(try await SurvivorCheck(bench: bench).problems() == [])
    }

    @Test func anAttemptBehindASlowDiskKeepsItsNumber() async throws {
        // The third one is on its way when the program is killed, the disk still at its first sync.
        let later: [ServerStep] = .answer(status: 503, text: "later")
        let bench = try FaultBench(first: [later, later, [.readHead, .readOn]])
        let run = try bench.start(
            ["send", "-q", bench.recording], FileFaults(syncDelay: .ages))
        _ = try #require(await bench.server.waitForRequest(2))
        #expect(try !bench.trace.contains { $0.name == "fdatasync" })
        run.signal(SIGKILL)
        _ = try await run.result()
        #expect(try await bench.run(["retry", "last"]).status == .exited(0))
        #expect(bench.server.requests.map { $0["Utter-Attempt"] } == ["1", "2", "3", "4"])
        #expect(try bench.takes().map(\.names) == [["take.json"]])
    }

    @Test func aFileWhoseSyncHasFailedIsNotAskedAgain() async throws {
        let arguments = ["send", "-q", "--pace", "realtime"] + FaultBench.noServer
        let syncs = try await FaultBench.trace(of: arguments, milliseconds: 500).filter {
            $0.name == "fdatasync" && $0.path.contains("/audio.")
        }
        #expect(syncs.count > 1)
        let problems = try await inLanes(2, syncs) { sync in
            let bench = try FaultBench(milliseconds: 500)
            _ = try await bench.run(
                arguments + [bench.recording],
                FileFaults(
                    failure: .init(operation: sync.number, error: EIO, kinds: ["fdatasync"])))
            let trace = try bench.trace.drop { $0.name != "fdatasync" || $0.error == 0 }
            guard let failed = trace.first, failed.path.contains("/audio.") else { return [] }
            let replaced = trace.firstIndex { $0.name == "rename" && $0.other == failed.path }
            return trace[..<(replaced ?? trace.endIndex)].dropFirst()
                .filter { $0.name == "fdatasync" && $0.path == failed.path }
                .map { "operation \($0.number) trusts what \(failed.number) has lost" }
        }
        #expect(problems == [])
    }

    @Test func aHomeThatMayNotBeWrittenIsTheCauseOfAllThatIsMissingInIt() async throws {
        let (rehearsal, bench) = (try FaultBench(), try FaultBench())
        for bench in [rehearsal, bench] {
            try fill(
                bench.home,
                with: [
                    ".config": nil, ".config/utter": nil,
                    ".config/utter/config.toml": Array("[keep]\nrequired = true\n".utf8),
                ])
        }
        _ = try await rehearsal.run(["send", rehearsal.recording], FileFaults())
        let made = try #require(
            rehearsal.trace.first { $0.name == "mkdir" && $0.path.hasSuffix("/home/.local") })
        let result = try await bench.run(
            ["send", bench.recording],
            FileFaults(failure: .init(operation: made.number, error: EROFS, kinds: ["mkdir"])))
        #expect(result.status == .exited(74))
        let words = "mkdir \(bench.home)/.local: Read-only file system"
        #expect(result.errorText.contains(words), "\(result.errorText)")
    }

    @Test func withoutAFolderOfTakesThereAreNone() async throws {
        let faults = FileFaults(
            failure: .init(operation: 1, error: ENOSPC, onward: true, kinds: ["mkdir"]))
        for (command, status) in [
            (["list"], 0), (["list", "--json"], 0), (["flush"], 0), (["retry", "all"], 0),
            (["rm", "--answered"], 0), (["last"], 1), (["show", "last"], 66), (["rm", "2026"], 66),
            (["retry", "last"], 66), (["export", "last", "-"], 66),
        ] as [([String], Int32)] {
            let bench = try FaultBench()
            let result = try await bench.run(command, faults)
            #expect(result.status == .exited(status), "\(command): \(result.errorText)")
            #expect(result.outputText == (command.contains("--json") ? "[\n\n]\n" : ""))
        }
    }
}

extension [FileOperation] {
    /// How often each thread has repeated a call, whatever the others did meanwhile.
    fileprivate var rowsOfInterrupts: [Int] {
        var rows: [Int] = []
        for operations in Dictionary(grouping: self, by: \.thread).values {
            var place: String?
            for operation in operations {
                if operation.error != EINTR {
                    place = nil
                } else if operation.place == place {
                    rows[rows.count - 1] += 1
                } else {
                    rows.append(1)
                    place = operation.place
                }
            }
        }
        return rows
    }
}
