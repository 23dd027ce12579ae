// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

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
        #expect(try JSONText(try await bench.run("list", "--json").output).array?.count == 1)
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
