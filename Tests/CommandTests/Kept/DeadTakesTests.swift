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
