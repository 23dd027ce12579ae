// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Keys and passphrases, from `utter key new` to the recording that is heard again.
@Suite struct KeyTests {
    private let bench: Bench

    init() throws { bench = try Bench() }

    @Test func aNewKeyIsWrittenOnceAndForItsOwnerAlone() async throws {
        let path = bench.folder.path("my key")
        let made = try await bench.run("key", "new", path)
        #expect(made.status == .exited(0) && made.output.isEmpty)
        #expect(
            made.errorText == """
                utter: a new key is in '\(path)'; keep a copy of it elsewhere: without \
                it, takes cannot be opened
                utter: hint: encrypt takes with: utter --encrypt-key '\(path)', or \
                UTTER_ENCRYPT_KEY_FILE='\(path)'

                """)
        var status = stat()
        try #require(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        let key = try readFile(path)
        #expect(key.count == 75 && key.starts(with: Array("utter-key-".utf8)))
        #expect(!made.errorText.contains(String(decoding: key[10..<20], as: UTF8.self)))
        let again = try await bench.here("key", "new", path)
        #expect(again.status == .exited(74))
        #expect(again.errorText.contains("exists already"))
        #expect(try readFile(path) == key)
        let link = bench.folder.path("link")
        try #require(symlink(bench.folder.path("nothing"), link) == 0)
        #expect(try await bench.here("key", "new", link).status == .exited(74))
        #expect(access(bench.folder.path("nothing"), F_OK) != 0)
        let other = bench.folder.path("other")
        #expect(try await bench.here("key", "new", other).status == .exited(0))
        #expect(try readFile(other) != key)
        let nowhere = try await bench.here("key", "new", bench.folder.path("no/such/key"))
        #expect(nowhere.status == .exited(74))
        #expect(try await bench.here("key", "new").status == .exited(64))
    }

    private func secret(_ kind: String) async throws -> String {
        let path = bench.folder.path("secret")
        if kind == "words" {
            return try bench.folder.write(
                Array("correct horse battery staple\n".utf8), to: "secret")
        }
        let options = kind == "key" ? [] : ["--passphrase"]
        let made = try await bench.start(["key", "new"] + options + [path]).result()
        #expect(made.status == .exited(0))
        if kind == "passphrase" {
            #expect(
                made.errorText.contains("a new passphrase of 100 random bits is in '\(path)'"))
            #expect(try readFile(path).count == 25)
        }
        return path
    }

    @Test(arguments: ["key", "passphrase", "words"], ["pcm", "ogg-opus", "flac"])
    func whatWasRecordedBeforeAKillIsRecoveredSentAndHeard(
        _ kind: String, _ format: String
    ) async throws {
        let secret = try await secret(kind)
        let server = try RecordingServer(otherwise: [.readHead, .readOn])
        // Its input does not end, and so neither does the recording.
        let run = try bench.start(
            [
                "send", "--pace", "max", "--format", format, "--encrypt-key", secret, "--to",
                server.url(), "-",
            ], input: .pipe)
        run.write(Array(try Clip.speech.samples.prefix(96_000)))
        let sent = ["pcm": 32_000, "flac": 16_000][format] ?? 3_000
        #expect(await server.wait(untilBytes: sent) != nil)
        let limits = String(
            decoding: try readFile("/proc/\(run.processIdentifier)/limits"), as: UTF8.self)
        #expect(limits.contains(#/\nMax core file size +0 +0 /#))
        run.signal(9)
        _ = try await run.result()

        // Without its key it is listed, and left alone.
        let locked = try await bench.run("list")
        #expect(
            locked.outputText.contains(
                "  kept  -  was recording when its program ended; encrypted"))
        let words = try bench.folder.write(
            Array("correct horse battery stable\n".utf8), to: "wrong")
        let key = bench.folder.path("wrong key")
        #expect(try await bench.run("key", "new", key).status == .exited(0))
        for wrong in [words, key] {
            let list = try await bench.run("list", "--encrypt-key", wrong)
            #expect(list.outputText.contains("encrypted under another key"))
            let export = try await bench.run("export", "last", "-", "--encrypt-key", wrong)
            #expect(export.status != .exited(0) && export.output.isEmpty)
            let retry = try await bench.run(
                "retry", "last", "--encrypt-key", wrong, "--to", server.url())
            #expect(retry.status == .exited(78))
        }
        let take = try #require(try bench.onlyTake())
        #expect(take.names.filter { ["audio.wav", "audio.ogg", "audio.flac"].contains($0) } == [])

        let list = try await bench.run("list", "--encrypt-key", secret)
        #expect(list.outputText.contains("  kept  "))
        #expect(list.outputText.contains("the program ended while it was recording"))
        let heard = try RecordingServer(otherwise: .answer(text: "what was said"))
        let retry = try await bench.run(
            "retry", "last", "--encrypt-key", secret, "--to", heard.url(), "--keep-audio", "1d")
        #expect(retry.outputText == "what was said\n")
        let path = bench.folder.path("out.wav")
        let export = try await bench.run("export", "last", path, "--encrypt-key", secret)
        #expect(export.status == .exited(0) && export.errorText.isEmpty)
        let samples = Array(try readFile(path)[44...])
        // 3,000 bytes of Opus are more than half a second.
        #expect(samples.count >= (format == "pcm" ? sent : 16_000))
        if format != "ogg-opus" { #expect(try Clip.speech.samples.starts(with: samples)) }
        if format == "pcm" { #expect(heard.requests.first?.body == samples) }
    }

    @Test func takesOfOnePassphraseShareTheirSaltAndNothingElseInTheClear() async throws {
        let secret = try await secret("passphrase")
        func salts(_ bench: Bench) async throws -> [[UInt8]] {
            for _ in 0..<2 { _ = try await bench.keep(.digits, "--encrypt-key", secret) }
            return try bench.takes().map {
                // The salt of scrypt, in the box at byte 16.
                Array(try readFile("\($0.path)/audio.wav.encrypted")[32..<48])
            }
        }
        let (here, there) = (try await salts(bench), try await salts(try Bench()))
        #expect(here[0] == here[1] && there[0] == there[1])
        #expect(here[0] != there[0] && Set(here[0]).count > 4)
        // In the clear there is neither a name of the key, nor a hash of the recording.
        let manifest = try #require(try bench.takes().last).manifestText
        #expect(!manifest.contains("sha256") && manifest.contains("\"secret\""))
        let show = try await bench.run("show", "-v", "last")
        #expect(!show.outputText.contains("sha256"))
        let open = try await bench.run("show", "-v", "last", "--encrypt-key", secret)
        #expect(open.outputText.contains("sha256"))
        // The note can be lost.
        try #require(unlink(bench.folder.path("state/utter/passphrase-salt")) == 0)
        let again = try await salts(bench)
        #expect(Array(again[..<2]) == here && again[2] == again[3] && again[2] != here[0])
        let server = try RecordingServer(otherwise: .answer(text: "all"))
        let flush = try await bench.run(
            "flush", "--encrypt-key", secret, "--to", server.url())
        #expect(flush.outputText == "all\nall\nall\nall\n")
    }
}
