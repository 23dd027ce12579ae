// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import TestSupport
import Testing

@testable import UtterCommands

/// What is kept under a person's key, and what happens without it.
@Suite struct EncryptionTests {
    private static let digits = "0123456789abcdef0123456789abcdef"
    private static let key = "utter-key-" + digits + digits

    private let server: RecordingServer
    private let bench: Bench
    private let key: String

    init() throws {
        server = try .hearing("between us")
        bench = try Bench(server: server)
        key = try bench.folder.write(Array((Self.key + "\n").utf8), to: "key")
    }

    /// Everything below the state folder, names included.
    private func state(of bench: Bench) throws -> [UInt8] {
        try bench.takes().flatMap { take in
            try Array(take.path.utf8)
                + take.names.flatMap { try Array($0.utf8) + readFile("\(take.path)/\($0)") }
        }
    }

    @Test(arguments: ["pcm", "ogg-opus", "flac"])
    func nothingOnTheDiskTellsWhatWasSaid(_ format: String) async throws {
        let server = try RecordingServer(
            scripts: [.answer(text: "a sentence between us")],
            otherwise: .answer(status: 500, text: "the shape of words"))
        let bench = try Bench(server: server)
        let words = ["send", "-c", "retry.never=true", "--keep-audio", "1d", "--format", format]
        for _ in 0..<2 {
            _ = try await bench.start(
                words + ["--encrypt-key", key, Clip.goForward.path]
            ).result()
        }
        #expect(try bench.takes().count == 2)
        let state = try state(of: bench)
        let samples = try Clip.goForward.samples
        let loud = Array(samples[40_000..<40_032])
        // Each is longer than what ciphertext says by chance, as four bytes in some 100 KB do.
        for part in [
            loud, Array("WAVEfmt ".utf8), Array("OggS\0\u{2}\0\0".utf8), Array("OpusHead".utf8),
            Array("fLaC\0\0\0\u{22}".utf8),
            Array("sentence".utf8), Array("shape of".utf8), Array("go-forward".utf8),
            Array(Self.digits.utf8), Array("\"sha256\"".utf8),
        ] {
            #expect(state.ranges(of: part).isEmpty, "\(String(decoding: part, as: UTF8.self))")
        }
        // The search would have found it.
        _ = try await bench.start(words + [Clip.goForward.path]).result()
        let plain = try self.state(of: bench)
        #expect(!plain.ranges(of: Array("shape of".utf8)).isEmpty)
        let beginning = ["pcm": "WAVEfmt ", "flac": "fLaC\0\0\0\u{22}"][format]
        #expect(!plain.ranges(of: Array((beginning ?? "OggS\0\u{2}\0\0").utf8)).isEmpty)
        if format == "pcm" { #expect(!plain.ranges(of: loud).isEmpty) }
    }

    /// The text of the service, that of the rules and that of the person are in the box; a file for the
    /// editor or the filter is in memory, and gone.
    @Test func allTextsOfATakeAreEncrypted() async throws {
        let server = try RecordingServer.hearing(
            #"{"text": "Um, a riddle between us", "language": "english"}"#)
        let bench = try Bench(server: server)
        let memory = try TemporaryFolder()
        let seen = bench.folder.path("seen")
        let variables = [
            "XDG_RUNTIME_DIR": memory.path, "EDITOR": "sed -i s/between/among/",
        ]
        let sent = try await bench.start(
            [
                "send", "--encrypt-key", key, "--keep-audio", "1d", "-c", "text.fillers=true", "-c",
                "output.filter=stat -c '%a %n' $UTTER_TAKE > \(seen); cat",
                Clip.goForward.path,
            ], variables: variables
        ).result()
        #expect(sent.outputText == "A riddle between us\n", "\(sent.errorText)")
        let file = String(decoding: try readFile(seen), as: UTF8.self)
        #expect(file.hasPrefix("600 \(memory.path)/utter-"))
        let edited = try await bench.start(
            ["edit", "last", "--encrypt-key", key], variables: variables
        ).result()
        #expect(edited.outputText == "A riddle among us\n", "\(edited.errorText)")
        let raw = try await bench.here("last", "--raw", "--encrypt-key", key)
        #expect(raw.outputText == "Um, a riddle between us\n")
        let all = try await bench.here("last", "--explain", "--encrypt-key", key)
        #expect(all.outputText.hasSuffix("edit: “A riddle between us” → “A riddle among us”\n"))
        let state = try state(of: bench)
        for word in ["riddle", "between", "among", "Um,"] {
            #expect(state.ranges(of: Array(word.utf8)).isEmpty, "\(word)")
        }
        #expect(try memory.names(in: ".").allSatisfy { !$0.hasPrefix("utter-") })
        let without = try await bench.start(
            ["edit", "last", "--encrypt-key", key],
            variables: ["XDG_RUNTIME_DIR": "", "EDITOR": "true"]
        ).result()
        #expect(without.status == .exited(78))
        #expect(without.errorText.contains("there is no folder in memory"))
        let suggested = try await bench.run("words", "suggest")
        #expect(suggested.outputText == "")
    }

    @Test func withTheKeyATakeIsLikeAnyOther() async throws {
        let take = try await bench.keep(.goForward, "--encrypt-key", key)
        #expect(take.names == ["audio.wav.encrypted", "take.json"])
        let list = try await bench.here("list", "--encrypt-key", key)
        #expect(list.outputText.contains("  kept  0:02.7  cannot connect to "))
        let path = bench.folder.path("out.wav")
        #expect(
            try await bench.here("export", "last", path, "--encrypt-key", key).status
                == .exited(0))
        #expect(try Array(readFile(path)[44...]) == Clip.goForward.samples)
        let retry = try await bench.run(
            "retry", "last", "--encrypt-key", key, "--to", server.url())
        #expect(retry.outputText == "between us\n")
        #expect(try server.requests.first?.body == Clip.goForward.samples)
        #expect(try bench.takes().first?.names == ["take.json"])
        #expect(try await bench.here("last", "--encrypt-key", key).outputText == "between us\n")
        let show = try await bench.here("show", "last", "--encrypt-key", key)
        #expect(show.outputText.contains("transcript  between us"))
        // A take in the clear stays usable with a key, too.
        #expect(try await bench.keep().names == ["audio.wav", "take.json"])
        let clear = try await bench.run(
            "retry", "last", "--encrypt-key", key, "--to", server.url())
        #expect(clear.outputText == "between us\n")
    }

    @Test func withoutTheRightKeyTakesAreListedAndNothingElse() async throws {
        _ = try await bench.run("send", "--encrypt-key", key, Clip.digits.path)
        let take = try await bench.keep(.goForward, "--encrypt-key", key)
        let other = try bench.folder.write(Array("another word to pass".utf8), to: "other")
        for (option, reason) in [
            ([], "no key was given"), (["--encrypt-key", other], "encrypted under another key"),
        ] as [([String], String)] {
            let list = try await bench.here(["list"] + option)
            #expect(list.status == .exited(0))
            #expect(list.outputText.contains(take.shortName + "  "))
            #expect(list.outputText.contains("  kept      0:02.7  "))
            #expect(list.outputText.contains(reason))
            #expect(!list.outputText.contains("between us"))
            #expect(try await bench.here(["show", "last"] + option).status == .exited(0))
            for command in [["export", take.id, "-"], ["retry", take.id], ["flush"], ["last"]] {
                let result = try await bench.start(command + option).result()
                #expect(result.status == .exited(78), "\(command)")
                #expect(result.errorText.contains(reason), "\(command)")
                #expect(result.output.isEmpty, "\(command)")
            }
        }
        #expect(server.requests.count == 1)
        // New takes go on under the new key, and the old ones are as they were.
        _ = try await bench.keep(.goForward, "--encrypt-key", other)
        let retry = try await bench.run(
            "retry", take.id, "--encrypt-key", key, "--to", server.url())
        #expect(retry.outputText == "between us\n")
    }

    @Test func theEnvironmentNamesTheKeyForAllCommands() async throws {
        let bench = try Bench(
            server: server,
            [
                "UTTER_ENCRYPT_KEY_COMMAND": "test -z \"$UTTER_TOKEN\" && echo \(Self.key)",
                "UTTER_TOKEN": "sesame",
            ])
        #expect(try await bench.keep().names == ["audio.wav.encrypted", "take.json"])
        let flush = try await bench.run("flush", "--to", server.url())
        #expect(flush.outputText == "between us\n")
        #expect(try await bench.run("last").outputText == "between us\n")
        // The same key from a file.
        #expect(try await bench.run("last", "--encrypt-key", key).outputText == "between us\n")
    }

    @Test func aKeyThatAnotherOwnsIsRefused() async throws {
        // Only root can give a file away.
        guard geteuid() == 0, chown(key, 65_534, 65_534) == 0 else { return }
        let foreign = try await bench.here("list", "--encrypt-key", key)
        #expect(foreign.status == .exited(78))
        #expect(foreign.errorText.contains("belongs to another user"))
    }

    @Test func aKeyIsNamedInOneWay() throws {
        let both = [
            "UTTER_ENCRYPT_KEY_FILE": "/dev/null/key", "UTTER_ENCRYPT_KEY_COMMAND": "false",
        ]
        try bench.within(both) {
            let error = #expect(throws: CommandFailure.self) {
                _ = try EncryptionOptions.parse([]).source.key()
            }
            #expect(error?.status == .configuration)
            #expect(error?.message.contains("are both set") == true)
            let file = ["--encrypt-key", key]
            #expect(throws: (any Error).self) {
                try EncryptionOptions.parse(file + ["--encrypt-key-command", "true"])
            }
            // An option goes before the variables.
            let named = try EncryptionOptions.parse(file).source.key()
            #expect(named != nil)
        }
    }

    @Test(arguments: [[:], ["UTTER_ENCRYPT_KEY_COMMAND": "exit 3"]] as [[String: String]])
    func withNoKeepNothingTouchesTheDiskAndNoKeyIsAskedFor(
        _ variables: [String: String]
    ) async throws {
        let bench = try Bench(server: .hearing("gone"), variables)
        let result = try await bench.run("send", "--no-keep", Clip.digits.path)
        #expect(result.outputText == "gone\n")
        #expect(!result.errorText.contains("warning"))
        #expect(try !bench.folder.names().contains("state"))
    }

    @Test func anAlteredPartIsNamedAndTheRestIsSent() async throws {
        let take = try await bench.keep(.goForward, "--encrypt-key", key, "--pace", "8")
        let name = "audio.wav.encrypted"
        var bytes = try readFile("\(take.path)/\(name)")
        bytes[bytes.count / 2] ^= 1
        _ = try bench.folder.write(bytes, to: "state/utter/takes/\(take.id)/\(name)")
        let path = bench.folder.path("out.wav")
        let export = try await bench.run("export", take.id, path, "--encrypt-key", key)
        #expect(export.status == .exited(0))
        #expect(export.errorText.contains("bytes of its audio were altered or damaged"))
        let whole = try Clip.goForward.samples
        let found = try Array(readFile(path)[44...])
        #expect(found.count == whole.count)
        let differing = whole.indices.filter { whole[$0] != found[$0] }
        let (first, last) = (try #require(differing.first), try #require(differing.last))
        #expect(found[first...last].allSatisfy { $0 == 0 })
        #expect(last - first < 65_535)
        let retry = try await bench.run(
            "retry", take.id, "--encrypt-key", key, "--to", server.url())
        #expect(retry.errorText.contains("warning: not whole: "))
        #expect(retry.outputText == "between us\n")
        #expect(server.requests.first?.body == found)
    }
}
