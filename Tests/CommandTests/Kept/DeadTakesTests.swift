// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Many takes whose programs died: what is asked for comes first.
@Suite struct DeadTakesTests {
    private let bench: Bench
    /// Their names, oldest first.
    private let ids = (10..<40).map { "20200101-0000\($0)-abcdefgh00\($0)" }

    /// Leaves what programs leave that are killed while they record.
    init() async throws {
        bench = try Bench()
        let take = try await bench.keep()
        let audio = try readFile(take.path + "/audio.wav")
        let manifest = String(decoding: try readFile(take.path + "/take.json"), as: UTF8.self)
        for id in ids {
            let text = manifest.replacing(take.id, with: id)
                .replacing(#""state" : "kept""#, with: #""state" : "recording""#)
            let folder = "state/utter/takes/" + id
            mkdir(bench.folder.path(folder), 0o700)
            try bench.folder.write(audio, to: folder + "/audio.wav")
            try bench.folder.write(Array(text.utf8), to: folder + "/take.json")
        }
        #expect(try await bench.run("rm", "--yes", take.id).status == .exited(0))
    }

    /// The takes that no process has brought to an end.
    private func dead() throws -> [String] {
        try bench.takes().filter { try $0.manifest["state"] == .string("recording") }.map(\.id)
    }

    @Test func theListIsPrintedFirstAndSaysWhatIsDone() async throws {
        #expect(try dead() == ids)
        let list = try await bench.run("list")
        #expect(list.status == .exited(0))
        let lines = list.outputText.split(separator: "\n")
        #expect(lines.count == ids.count)
        #expect(
            lines.allSatisfy {
                $0.contains("  recording  ")
                    && $0.hasSuffix("was recording when its program ended; being recovered")
            }, "\(list.outputText)")
        #expect(list.errorText == "utter: recovering 30 recordings whose program ended\n")
        #expect(try dead() == [])
        let again = try await bench.run("list")
        #expect(again.outputText.split(separator: "\n").allSatisfy { $0.contains("  kept  ") })
        #expect(!again.errorText.contains("recovering"))
    }

    @Test func aTakeThatIsShownIsRecoveredAlone() async throws {
        let show = try await bench.run("show", ids[7])
        #expect(show.outputText.contains("\nstate       kept\n"), "\(show.outputText)")
        #expect(try dead() == ids.filter { $0 != ids[7] })
    }

    @Test func theNewestIsSentAgainBeforeTheOthersAreRecovered() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "the newest"))
        #expect(try await bench.run("last").status == .exited(1))
        #expect(try dead() == ids)
        let retry = try await bench.run("retry", "--to", server.url())
        #expect(retry.outputText == "the newest\n")
        #expect(try dead() == ids.dropLast())
        #expect(try await bench.run("last").outputText == "the newest\n")
        #expect(try await bench.run("doctor").errorText.contains("recovering") == false)
        #expect(try dead() == ids.dropLast())
    }

    @Test func aFlushSendsAllOfThem() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let flush = try await bench.run("flush", "--max-age", "100000d", "--to", server.url())
        #expect(flush.status == .exited(0))
        #expect(flush.errorText.hasPrefix("utter: recovering recordings whose program ended\n"))
        #expect(flush.errorText.contains("30 of 30 answered\n"))
        #expect(try dead() == [])
    }
}

/// Folders of takes that a full disk has let be made, and not be filled.
@Suite struct HollowTakeTests {
    private static let takes = "state/utter/takes"
    private static let hollow = "20990101-000000-aaaaaaaaaaaa"

    /// A folder as it is left, or as another program is just making it.
    private func makeHollow(on bench: Bench, _ names: [String]) throws -> Int32 {
        let path = bench.folder.path("\(Self.takes)/\(Self.hollow)")
        try #require(mkdir(path, 0o700) == 0)
        for name in names { try bench.folder.write([], to: "\(Self.takes)/\(Self.hollow)/\(name)") }
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // No recovery takes it away.
        try #require(folder >= 0 && flock(folder, LOCK_EX | LOCK_NB) == 0)
        return folder
    }

    @Test(arguments: [[], ["audio.wav"], ["audio.wav", "take.json.new"]])
    func itIsNothingToAListAndIsNotTheLast(_ names: [String]) async throws {
        let bench = try Bench()
        let take = try await bench.keep()
        let held = try makeHollow(on: bench, names)
        defer { close(held) }
        let list = try await bench.run("list")
        #expect(list.outputText.split(separator: "\n").count == 1)
        #expect(!list.outputText.contains("unreadable"))
        #expect(try ParsedJSON(try await bench.run("list", "--json").output).array?.count == 1)
        let last = try await bench.run("show", "last", "--json")
        #expect(last.outputText.contains(take.id))
        // It stays: it may be another program's.
        #expect(try bench.takes().count == 2)
    }

    @Test func whatHoldsSomethingIsListed() async throws {
        let bench = try Bench()
        _ = try await bench.keep()
        let held = try makeHollow(on: bench, ["audio.wav", "notes.txt"])
        defer { close(held) }
        #expect(try await bench.run("list").outputText.contains("unreadable"))
    }

    @Test(arguments: [[], ["-c", "retry.never=true", "--to", "http://127.0.0.1:9/"]])
    func noneIsLeftByAProgramThatCouldWriteNothing(_ options: [String]) async throws {
        let disk = try SlowDisk()
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench(
            server: server,
            disk.environment.merging(["TMPDIR": disk.environment["UTTER_TEST_DISK"] ?? ""]) { $1 })
        try disk.begin(.full)
        let result = try await bench.start(["send", Clip.digits.path] + options).result()
        #expect(result.status == .exited(options.isEmpty ? 0 : 74))
        #expect(result.errorText.contains("not protected"))
        #expect(try bench.takes().allSatisfy { $0.names.contains("take.json") })
    }
}
