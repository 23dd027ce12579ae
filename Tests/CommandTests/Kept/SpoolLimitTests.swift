// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import UtterCommands
@testable import UtterSettings

/// What a full, foreign or damaged spool means to the person.
@Suite struct SpoolLimitTests {
    @Test(arguments: [["UTTER_MAX_TAKES": "1"], ["UTTER_MAX_BYTES": "10k"]])
    func aFullSpoolStreamsLiveAndSaysSoOnce(_ variables: [String: String]) async throws {
        let server = try RecordingServer(otherwise: .answer(text: "live"))
        let bench = try Bench(server: server, variables)
        _ = try await bench.keep()
        let result = try await bench.run("send", Clip.goForward.path)
        #expect(result.status == .exited(0))
        #expect(result.outputText == "live\n")
        let name = try #require(variables.keys.first)
        let warnings = result.errorText.split(separator: "\n").filter { $0.contains("warning") }
        #expect(warnings.count == 1)
        #expect(warnings.first?.hasSuffix(" is the limit") == true)
        #expect(
            result.errorText.contains(
                "utter: hint: send them with 'utter retry all', or remove some with 'utter rm'; "
                    + "\(name) is the limit\n"))
        #expect(try bench.takes().count == 1)
        let strict = try await bench.run("send", "-c", "keep.required=true", Clip.goForward.path)
        #expect(strict.status == .exited(74))
        #expect(strict.errorText.contains("\nutter: hint: send them with 'utter retry all'"))
        #expect(server.requests.count == 1)
        // An option goes before the variable.
        let option = try await bench.run(
            "send", "-c", "limits.takes=5", "-c", "limits.bytes=1G", Clip.goForward.path)
        #expect(!option.errorText.contains("warning"))
    }

    @Test func theLimitsHoldWithinOneRun() async throws {
        let server = try RecordingServer(otherwise: .answer(status: 413, text: "too big"))
        let folder = try TemporaryFolder()
        let bench = try Bench(server: server, ["TMPDIR": folder.path])
        // Each is a little less than 89 kB.
        let files = try (0..<6).map { number in
            try bench.folder.write(
                try readFile(Clip.goForward.path) + [0, 0], to: "\(number).wav")
        }
        let result = try await bench.start(
            ["send", "-c", "retry.never=true", "--jobs", "1", "-c", "limits.bytes=200k"] + files
        ).result()
        #expect(result.errorText.ranges(of: "\nutter: kept: ").count == 3, "\(result.errorText)")
        #expect(try bench.takes().count == 3)
        // The others would have been in memory only.
        #expect(try folder.names().count == 3)
    }

    @Test func roomThatMustStayFreeIsLeftFree() async throws {
        let bench = try Bench(server: .hearing("live"))
        let result = try await bench.run("send", "-c", "limits.free=1000000G", Clip.goForward.path)
        #expect(result.outputText == "live\n")
        #expect(result.errorText.contains("the disk has only "))
        #expect(try bench.takes().isEmpty)
    }

    @Test(arguments: [
        ("UTTER_MAX_TAKES", "0"), ("UTTER_MAX_TAKES", "many"), ("UTTER_MAX_BYTES", "4Q"),
        ("UTTER_MAX_BYTES", "x"), ("UTTER_MIN_FREE", "-1"), ("UTTER_MIN_FREE", "5Q"),
        ("UTTER_KEEP_TRANSCRIPTS", "forever"), ("UTTER_KEEP_TRANSCRIPTS", "30"),
        ("UTTER_KEEP_CANCELLED", "7x"), ("UTTER_KEEP_AUDIO", "yes"), ("UTTER_KEEP_AUDIO", "7"),
        ("UTTER_KEEP_AUDIO_BYTES", "1.5G"), ("UTTER_MAX_AGE", "30"), ("UTTER_MAX_AGE", "0"),
        ("UTTER_MAX_AGE", "old"),
    ])
    func aWrongValueIsNone(_ variable: String, _ text: String) throws {
        let settings = KnownSettings.catalogue.all
        #expect(try !#require(settings.first { $0.variable == variable }).accepts(text))
    }

    @Test func aFolderThatAllMayWriteInIsRefused() async throws {
        let bench = try Bench()
        _ = try await bench.keep()
        try #require(chmod(bench.folder.path("state/utter/takes"), 0o777) == 0)
        for command in [["send", Clip.goForward.path], ["list"], ["retry", "last"]] {
            let result = try await bench.start(command).result()
            #expect(result.status == .exited(78))
            #expect(result.errorText.contains("others may write in it (mode 0777)"))
        }
    }

    @Test func whatCannotBeUsedIsNamedAndNeverBlocksTheRest() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "good"))
        let bench = try Bench()
        _ = try await bench.keep()
        let takes = "state/utter/takes"
        try bench.folder.write([1], to: "\(takes)/notes.txt")
        let names = ["20200101-000000-aaaaaaaaaaaa", "20200102-000000-aaaaaaaaaaaa"]
        for name in names { try #require(mkdir(bench.folder.path("\(takes)/\(name)"), 0o700) == 0) }
        try bench.folder.write(
            Array(#"{"version": 9}"#.utf8), to: "\(takes)/\(names[0])/take.json")
        try bench.folder.write(Array("{".utf8), to: "\(takes)/\(names[1])/take.json")
        try bench.folder.write([1], to: "\(takes)/20200103-000000-aaaaaaaaaaaa")
        let list = try await bench.here("list")
        #expect(list.status == .exited(0))
        for words in [
            "  later             -  was written by a later utter (version 9",
            "  unreadable        -  cannot be read: ",
            "  foreign           -  notes.txt: not a take", "  quarantined       -  \(names[1]): ",
        ] { #expect(list.outputText.contains(words), "\(list.outputText)") }
        let json = try ParsedJSON(try await bench.here("list", "--json").output)
        #expect(json[1]?["state"] == .string("quarantined"))
        let flush = try await bench.run("flush", "--to", server.url())
        #expect(flush.outputText == "good\n")
        #expect(flush.status == .exited(0))
    }
}
