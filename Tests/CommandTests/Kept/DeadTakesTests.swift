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
        // The first of them takes its place.
        #expect(rename(take.path, bench.folder.path("state/utter/takes/\(ids[0])")) == 0)
        for id in ids {
            let text = manifest.replacing(take.id, with: id)
                .replacing(#""state" : "kept""#, with: #""state" : "recording""#)
            let folder = "state/utter/takes/" + id
            mkdir(bench.folder.path(folder), 0o700)
            try bench.folder.write(audio, to: folder + "/audio.wav")
            try bench.folder.write(Array(text.utf8), to: folder + "/take.json")
        }
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

    @Test func whatIsAskedForIsRecoveredAloneAndAFlushSendsTheRest() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "the newest"))
        let show = try await bench.run("show", ids[7])
        #expect(show.outputText.contains("\nstate       kept\n"), "\(show.outputText)")
        var others = ids.filter { $0 != ids[7] }
        #expect(try dead() == others)
        #expect(try await bench.run("last").status == .exited(1))
        #expect(try dead() == others)
        // The newest is sent again before the others are recovered.
        let retry = try await bench.run("retry", "--to", server.url())
        #expect(retry.outputText == "the newest\n")
        others.removeLast()
        #expect(try dead() == others)
        #expect(try await bench.run("last").outputText == "the newest\n")
        #expect(try await bench.run("doctor").errorText.contains("recovering") == false)
        #expect(try dead() == others)
        let flush = try await bench.run("flush", "--max-age", "100000d", "--to", server.url())
        #expect(flush.status == .exited(0))
        #expect(flush.errorText.hasPrefix("utter: recovering recordings whose program ended\n"))
        #expect(flush.errorText.contains("29 of 29 answered\n"))
        #expect(try dead() == [])
    }
}

/// Folders of takes that a full disk has let be made, and not be filled.
@Suite struct HollowTakeTests {
    @Test func itIsNothingToAListUnlessItHoldsSomething() async throws {
        let bench = try Bench()
        let take = try await bench.keep()
        // A folder as it is left, or as another program is just making it.
        let hollow = "state/utter/takes/20990101-000000-aaaaaaaaaaaa"
        try #require(mkdir(bench.folder.path(hollow), 0o700) == 0)
        let folder = open(bench.folder.path(hollow), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(folder) }
        // No recovery takes it away.
        try #require(folder >= 0 && flock(folder, LOCK_EX | LOCK_NB) == 0)
        for name in [nil, "audio.wav", "take.json.new"] {
            if let name { try bench.folder.write([], to: "\(hollow)/\(name)") }
            let json = try ParsedJSON(try await bench.here("list", "--json").output)
            #expect(json.array?.count == 1)
            let last = try await bench.here("show", "last", "--json")
            #expect(last.outputText.contains(take.id))
            // It stays: it may be another program's.
            #expect(try bench.takes().count == 2)
        }
        let list = try await bench.here("list")
        #expect(list.outputText.split(separator: "\n").count == 1)
        #expect(!list.outputText.contains("unreadable"))
        #expect(unlink(bench.folder.path("\(hollow)/take.json.new")) == 0)
        try bench.folder.write([], to: "\(hollow)/notes.txt")
        #expect(try await bench.here("list").outputText.contains("unreadable"))
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
