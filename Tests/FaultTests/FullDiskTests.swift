// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// A disk without room, and folders that go away.
@Suite(.serialized) struct FullDiskTests {
    /// Everything a take of one second writes, and some more.
    static let quotas = Array(stride(from: 0, through: 40 << 10, by: 4 << 10)).thinned {
        $0 / (16 << 10)
    }

    /// From too few for anything to more than it needs.
    private static let descriptors = Array(stride(from: 4, through: 60, by: 3)).thinned { $0 / 8 }

    private static let send = ["send", "-q", "--format", "pcm", "--pace", "realtime"]

    /// What is wrong with a run that the server has answered.
    private static func wrongs(_ result: CommandResult, on bench: FaultBench) -> [String] {
        var problems: [String] = []
        if result.status != .exited(0) || result.outputText != FaultBench.transcript + "\n" {
            problems.append("\(result.status) \(result.outputText) \(result.errorText)")
        }
        if bench.server.requests.first?.body != bench.samples {
            problems.append("\(bench.server.requests.first?.body.count ?? -1) bytes were sent")
        }
        if result.isRepetitive { problems.append("told more than once: \(result.errorText)") }
        return problems
    }

    /// What is wrong with a run that had no server: what it says to have kept can be sent.
    private static func wrongsOfKept(
        _ result: CommandResult, on bench: FaultBench
    ) async throws -> [String] {
        guard [.exited(75), .exited(74)].contains(result.status) else {
            return ["\(result.status) \(result.errorText)"]
        }
        for line in result.errorText.split(separator: "\n") {
            let path = line.split(separator: "it may be incomplete: ").last.map(String.init) ?? ""
            if path != line, access(path, F_OK) != 0 { return ["not there: \(line)"] }
        }
        guard result.errorText.contains("utter: kept: ") else {
            return result.warnings > 0 ? [] : ["there is no warning: \(result.errorText)"]
        }
        let problems = try await SurvivorCheck(bench: bench).problems()
        let sent = bench.server.requests.last?.body
        return sent == bench.samples
            ? problems : problems + ["\(sent?.count ?? -1) bytes kept: \(result.errorText)"]
    }

    @Test(arguments: [nil, 1, 3] as [Int?])
    func aFullDiskCostsNoSample(_ refusals: Int?) async throws {
        let problems = try await inLanes(4, Self.quotas) { quota in
            let bench = try FaultBench(milliseconds: 1_000)
            let result = try await bench.run(
                Self.send + [bench.recording], FileFaults(quota: quota, refusals: refusals))
            var problems = Self.wrongs(result, on: bench)
            let take = try bench.takes().first?.manifest
            if result.warnings == 0, take?.transcript != FaultBench.transcript {
                problems.append("\(take?.state ?? "nothing") on the disk, without a warning")
            }
            return problems.map { "\(quota) bytes: \($0)" }
        }
        #expect(problems == [])
    }

    @Test(arguments: [nil, 1, 3] as [Int?])
    func whatIsSaidToBeKeptOnAFullDiskIsThere(_ refusals: Int?) async throws {
        let problems = try await inLanes(4, Self.quotas) { quota in
            let bench = try FaultBench(milliseconds: 1_000)
            let result = try await bench.run(
                Self.send + FaultBench.noServer + [bench.recording],
                FileFaults(quota: quota, refusals: refusals))
            return try await Self.wrongsOfKept(result, on: bench).map { "\(quota) bytes: \($0)" }
        }
        #expect(problems == [])
    }

    @Test(
        .enabled(if: Namespaces.areAllowed, "needs a mount of its own"),
        arguments: [
            ("nr_inodes=", "", Array(1...10), 300), ("size=", "k", [4, 8, 16, 32, 64, 128], 1_000),
        ] as [(String, String, [Int], Int)])
    func aSmallFileSystemCostsNoSample(
        _ option: String, _ unit: String, _ sizes: [Int], _ milliseconds: Int
    ) async throws {
        let problems = try await inLanes(3, sizes) { size in
            let bench = try FaultBench(milliseconds: milliseconds)
            let result = try await bench.run(
                Self.send + [bench.recording], shell: Namespaces.shell("\(option)\(size)\(unit)"))
            return Self.wrongs(result, on: bench).map { "\(size)\(unit): \($0)" }
        }
        #expect(problems == [])
    }

    /// Something else fills a real file system in the middle of a take, and perhaps frees it again.
    @Test(
        .enabled(if: Namespaces.areAllowed, "needs a mount of its own"),
        arguments: ["", #"read line < "$2"; rm $HOME/.local/big; "#])
    func aDiskThatFillsUpInMidTakeKeepsWhatItSaysToKeep(_ freeing: String) async throws {
        let bench = try FaultBench(milliseconds: 2_000)
        let busy = try BusyService(in: bench.folder, tellsAt: [8_000, 32_000])
        let script = """
            (read line < "$2"; head -c 90m /dev/zero > $HOME/.local/big; \(freeing)true) 2>/dev/null & \
            "$0" \(Self.send.joined(separator: " ")) -c retry.never=true --to \(busy.url) "$1"; status=$?; \
            wait; rm -f $HOME/.local/big; \
            "$0" retry -q --to \(bench.server.url()) all >/dev/null; exit $status
            """
        let result = try await bench.run(
            [bench.recording, busy.pipePath], shell: Namespaces.shell("size=80m", script))
        #expect([.exited(75), .exited(74)].contains(result.status))
        #expect(!result.isRepetitive)
        if result.errorText.contains("utter: kept: ") {
            #expect(bench.server.requests.last?.body == bench.samples)
        } else {
            #expect(result.warnings > 0)
        }
        // Something is left in either case.
        let sent = bench.server.requests.last?.body ?? []
        #expect(bench.samples.starts(with: sent))
        #expect(sent.count >= 8_000, "\(result.errorText)")
    }

    /// Nothing is freed: delivering the take is what frees the disk.
    @Test(.enabled(if: Namespaces.areAllowed, "needs a mount of its own"))
    func whatWasKilledOnAFullDiskIsDelivered() async throws {
        let bench = try FaultBench(milliseconds: 2_000)
        let busy = try BusyService(in: bench.folder, tellsAt: [8_000])
        let script = """
            "$0" \(Self.send.joined(separator: " ")) -c retry.never=true --to \(busy.url) "$1" & \
            read line < "$2"; cat /dev/zero >$HOME/.local/big 2>/dev/null; kill -9 $!; wait; \
            cat /dev/zero >>$HOME/.local/big 2>/dev/null; \
            "$0" retry -q --to \(bench.server.url()) last && "$0" list --json
            """
        let result = try await bench.run(
            [bench.recording, busy.pipePath], shell: Namespaces.shell("size=80m", script))
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.outputText.contains(#""state" : "answered""#))
        let sent = try #require(bench.server.requests.last).body
        #expect(bench.samples.starts(with: sent))
        #expect(sent.count >= 8_000)
    }

    @Test(.enabled(if: Namespaces.areAllowed, "needs a mount of its own"))
    func aReadOnlyStateFolderCostsNoSampleAndIsSaid() async throws {
        let bench = try FaultBench()
        let result = try await bench.run(
            Self.send + [bench.recording], shell: Namespaces.shell("ro"))
        #expect(Self.wrongs(result, on: bench) == [])
        #expect(result.warnings > 0)
        let required = try await bench.run(
            Self.send + ["-c", "keep.required=true", bench.recording], shell: Namespaces.shell("ro")
        )
        #expect(required.status == .exited(74))
        #expect(bench.server.requests.count == 1)
    }

    @Test(arguments: [true, false])
    func aFolderThatIsRemovedInMidTakeCostsNoSample(_ isDelivered: Bool) async throws {
        // Whatever becomes of the folder, all is there at the end, or the person is told.
        let answer: [ServerStep] =
            isDelivered
            ? .answer(text: FaultBench.transcript)
            : [.readHead, .readBodyToEnd, .respond(status: 503, text: "")]
        let bench = try FaultBench(milliseconds: 1_000, answer: answer)
        let run = try bench.start(Self.send + ["-c", "retry.never=true", bench.recording])
        _ = try #require(await bench.server.wait(untilBytes: 8_000))
        try FileManager.default.removeItem(atPath: bench.folder.path("home/.local"))
        let result = try await run.result()
        if isDelivered {
            #expect(Self.wrongs(result, on: bench) == [])
        } else {
            #expect([.exited(75), .exited(74)].contains(result.status))
            #expect(bench.server.requests.first?.body == bench.samples)
            let kept = result.errorText.contains("utter: kept: ")
            let audio = try bench.takes().first?.audio?.dropFirst(WholeAudio.headerByteCount)
            #expect(kept ? audio == bench.samples[...] : result.warnings > 0, "\(result.errorText)")
        }
    }

    /// Not with a sanitizer, which writes to files of its own.
    @Test(.disabled(if: Sanitizer.isUsed))
    func aFileSizeLimitCostsNoSample() async throws {
        let problems = try await inLanes(3, [0, 1, 2, 8, 16, 40]) { blocks in
            let bench = try FaultBench(milliseconds: 1_000)
            let result = try await bench.run(
                Self.send + [bench.recording],
                shell: #"ulimit -f \#(blocks); exec "$0" "$@""#)
            return Self.wrongs(result, on: bench).map { "\(blocks) blocks: \($0)" }
        }
        #expect(problems == [])
    }

    @Test func withoutDescriptorsItEndsWithWords() async throws {
        let problems = try await inLanes(3, Self.descriptors) { count in
            let bench = try FaultBench()
            let result = try await bench.run(
                Self.send + ["-c", "retry.never=true", bench.recording],
                shell: #"ulimit -n \#(count); exec "$0" "$@""#)
            if result.status == .exited(0) {
                return Self.wrongs(result, on: bench).map { "\(count): \($0)" }
            }
            guard case .exited = result.status, !result.error.isEmpty else {
                return ["\(count) descriptors: \(result.status) \(result.errorText)"]
            }
            return []
        }
        #expect(problems == [])
    }
}
