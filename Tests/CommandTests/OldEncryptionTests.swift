// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Takes that an older program has encrypted (`Tests/OldTakes`), under a key that is a passphrase
/// by now.
@Suite struct OldEncryptionTests {
    private static let fixtures = SourceTree.path("Tests/OldTakes")
    /// In the order of their names: kept as PCM and Opus, answered, answered at length, answered
    /// with what no rule reads, and one whose program died.
    private static let names = ["egah", "hj7m", "met5", "pdwf", "qdyn", "f526"]

    private let bench: Bench
    private let key: String
    private let samples: [UInt8]

    init() throws {
        bench = try Bench()
        samples = try readFile(Self.fixtures + "/samples.raw")
        key = try bench.folder.write(try readFile(Self.fixtures + "/key"), to: "key")
        let takes = Self.fixtures + "/takes"
        for name in ["", "/utter", "/utter/takes"] {
            try #require(mkdir(bench.folder.path("state" + name), 0o700) == 0)
        }
        for take in try Self.entries(of: takes) {
            try #require(mkdir(bench.folder.path("state/utter/takes/\(take)"), 0o700) == 0)
            for name in try Self.entries(of: "\(takes)/\(take)") {
                _ = try bench.folder.write(
                    try readFile("\(takes)/\(take)/\(name)"),
                    to: "state/utter/takes/\(take)/\(name)")
            }
        }
    }

    private static func entries(of folder: String) throws -> [String] {
        let stream = try #require(opendir(folder))
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    @Test func allOfThemAreListedAndRead() async throws {
        let list = try await bench.run("list", "--encrypt-key", key).outputText
        let lines = list.split(separator: "\n")
        #expect(lines.map { String($0.prefix(4)) } == Self.names)
        #expect(lines[0].contains("  kept  ") && lines[1].contains("  kept  "))
        #expect(lines[2].hasSuffix("answered  0:00.1  an old secret"))
        #expect(lines[3].contains("a long old secret a long old secret a"))
        #expect(lines[4].contains("a web page, not a transcript: 'odd'"))
        #expect(lines[5].contains("the program ended while it was recording"))
        let last = try await bench.run("last", "--encrypt-key", key)
        let words = Array(repeating: "a long old secret", count: 5).joined(separator: " ")
        #expect(last.outputText == words + "\n")
    }

    @Test(arguments: ["egah", "met5", "pdwf", "qdyn"])
    func theirAudioIsWhatWasRecorded(_ name: String) async throws {
        let path = bench.folder.path("out.wav")
        let export = try await bench.run("export", name, path, "--encrypt-key", key)
        #expect(export.status == .exited(0) && export.errorText.isEmpty)
        #expect(Array(try readFile(path)[44...]) == samples)
    }

    @Test func theOneWhoseProgramDiedIsRecovered() async throws {
        let path = bench.folder.path("out.wav")
        let export = try await bench.run("export", "f526", path, "--encrypt-key", key)
        #expect(export.status == .exited(0) && export.errorText.isEmpty)
        let found = Array(try readFile(path)[44...])
        // Each append was a frame, with 28 bytes of its own, behind 88 of the file.
        #expect(found.count > 3_500 && samples.starts(with: found))
    }

    @Test func theyAreSentAndWrittenInTheNewForm() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "new words"))
        let flush = try await bench.start(
            ["flush", "--encrypt-key", key, "--to", server.url()],
            variables: ["UTTER_KEEP_AUDIO": "1d"]
        ).result()
        // What was refused goes along, since it goes to another service now.
        #expect(flush.outputText == String(repeating: "new words\n", count: 4))
        #expect(server.requests.contains { $0.body == samples })
        let take = try #require(try bench.takes().first)
        let manifest = String(decoding: try readFile("\(take.path)/take.json"), as: UTF8.self)
        #expect(!manifest.contains("sha256"))
        let show = try await bench.run("show", "egah", "--encrypt-key", key)
        #expect(show.outputText.contains("transcript  new words"))
        let export = try await bench.run("export", "egah", "-", "--encrypt-key", key)
        #expect(Array(export.output[44...]) == samples)
    }

    @Test func anotherKeyOpensNone() async throws {
        let other = try bench.folder.write(Array("correct horse battery staple".utf8), to: "other")
        let list = try await bench.run("list", "--encrypt-key", other).outputText
        #expect(!list.contains("secret") && list.contains("encrypted under another key"))
        for name in Self.names {
            let export = try await bench.run("export", name, "-", "--encrypt-key", other)
            #expect(export.status == .exited(78) && export.output.isEmpty)
        }
    }

    @Test func anAlteredFrameIsNamedAndTheRestIsHeard() async throws {
        let take = try #require(try bench.takes().first)
        var bytes = try readFile("\(take.path)/audio.wav.encrypted")
        // In the second frame: the first holds the header of the WAV file.
        bytes[88 + 72 + 100] ^= 1
        _ = try bench.folder.write(
            bytes, to: "state/utter/takes/\(take.id)/audio.wav.encrypted")
        let path = bench.folder.path("out.wav")
        let export = try await bench.run("export", "egah", path, "--encrypt-key", key)
        #expect(export.errorText.contains("bytes of its audio were altered or damaged"))
        let found = Array(try readFile(path)[44...])
        #expect(found.count == samples.count && found.suffix(1_000) == samples.suffix(1_000))
    }
}
