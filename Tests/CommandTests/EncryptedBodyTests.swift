// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// What crosses a proxy or lies in a store is read only by those who have the key.
@Suite struct EncryptedBodyTests {
    private static let key = "utter-key-" + String(repeating: "0123456789abcdef", count: 4)
    private static let other = "utter-key-" + String(repeating: "fedcba9876543210", count: 4)
    private let grammar = SourceTree.path("samples/grammar/demo.gram")

    private func bench(
        _ server: RecordingServer? = nil
    ) throws -> (Bench, key: String, other: String) {
        let bench = try Bench(server: server)
        return (
            bench, try bench.folder.write(Array((Self.key + "\n").utf8), to: "key"),
            try bench.folder.write(Array((Self.other + "\n").utf8), to: "other")
        )
    }

    private func serve(_ bench: Bench, _ options: String...) async throws -> (BenchRun, String) {
        let run = try bench.start(["serve", "--port", "0", "--grammar", grammar] + options)
        try #require(await run.wait(for: "/recognize\n", in: .error))
        let text = String(decoding: run.error, as: UTF8.self)
        let match = try #require(
            text.firstMatch(of: /listening on (http:\/\/127\.0\.0\.1:\d+\/\S+)/))
        return (run, String(match.1))
    }

    @Test func theEndpointReadsItWithTheKeyAlone() async throws {
        let (bench, key, other) = try bench()
        let (server, url) = try await serve(bench, "--key", key)
        for words in [
            ["--format", "pcm"], ["--format", "ogg-opus"], ["--format", "flac"],
            ["-c", "body.kind=form"], ["--service", "resumable"],
            ["--service", "tus", "--format", "wav"],
        ] {
            let result = try await bench.start(
                ["send", "--to", url + "?language=de", "-c", "body.key-file=\(key)"] + words
                    + [Clip.goForward.path]
            ).result()
            #expect(result.outputText == "go forward ten meters\n", "\(words) \(result.errorText)")
        }
        let plain = try await bench.run("send", "--to", url, Clip.goForward.path)
        #expect(plain.outputText == "go forward ten meters\n")
        let wrong = try await bench.run(
            "send", "--to", url, "-c", "body.key-file=\(other)", Clip.goForward.path)
        #expect(wrong.status != .exited(0))
        #expect(wrong.errorText.contains("it is encrypted with another key"))
        server.signal(SIGTERM)
        #expect(!(try await server.result().errorText.contains("utter-key")))
    }

    @Test func anEndpointWithoutTheKeySaysSo() async throws {
        let (bench, key, _) = try bench()
        let (server, url) = try await serve(bench)
        let result = try await bench.run(
            "send", "--to", url, "-c", "body.key-file=\(key)", Clip.goForward.path)
        #expect(result.status != .exited(0))
        #expect(result.errorText.contains("the body is encrypted, and this endpoint has no key"))
        server.signal(SIGTERM)
        _ = try await server.result()
        let passphrase = try bench.folder.write(
            Array("a long passphrase of mine\n".utf8), to: "passphrase")
        let refused = try await bench.run("serve", "--port", "0", "--key", passphrase)
        #expect(refused.status == .exited(78))
        #expect(refused.errorText.contains("holds no random key"))
    }

    @Test func neitherTheWordsNorTheQueryAreOnTheWire() async throws {
        let server = try RecordingServer(
            scripts: [.answer(status: 503, text: "")], otherwise: .answer(text: "well said"))
        let (bench, key, _) = try bench(server)
        let result = try await bench.run(
            "send", "--to", server.url("/listen?language=de&api_key=sesame"), "-c",
            "body.key-file=\(key)", "-c", "body.kind=form", "-c", "body.fields.prompt=Heilbronn",
            Clip.goForward.path)
        #expect(result.outputText == "well said\n", "\(result.errorText)")
        let target = "/listen?api_key=sesame"
        #expect(server.requests.map(\.target) == [target, target])
        let samples = try Clip.goForward.samples[40_000..<40_016].flatMap { sample in
            [UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8)]
        }
        for request in server.requests {
            #expect(request["Content-Type"] == "application/vnd.utter.encrypted")
            #expect(request.body.starts(with: Array("utterenc".utf8)))
            for bytes in [Array("Heilbronn".utf8), Array("language".utf8), samples] {
                #expect(request.body.firstRange(of: bytes) == nil)
            }
        }
        // A retry sends the same bytes.
        #expect(server.requests.first?.body == server.requests.last?.body)
        #expect(!result.errorText.contains("utter-key"))
    }

    @Test func aStoredBodyIsExportedWithTheKey() async throws {
        let store = try ObjectServer()
        let (bench, key, other) = try bench(store.server)
        let sent = try await bench.run(
            "send", "--service", "webdav", "--to", store.server.url("/voices/one"), "--format",
            "wav", "-c", "body.key-file=\(key)", Clip.goForward.path)
        #expect(sent.status == .exited(0), "\(sent.errorText)")
        let object = try #require(store.objects["/voices/one"])
        let file = try bench.folder.write(object, to: "one")
        let (wrong, right) = (bench.folder.path("wrong.wav"), bench.folder.path("right.wav"))
        let refused = try await bench.run("export", "--encrypt-key", other, file, wrong)
        #expect(refused.status != .exited(0))
        #expect(access(wrong, F_OK) != 0)
        let result = try await bench.run("export", "--encrypt-key", key, file, right)
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(try readFile(right) == readFile(Clip.goForward.path))
        // Half of it is copied as far as it goes, and said to be half.
        let half = try bench.folder.write(Array(object.prefix(30_000)), to: "half")
        let part = try await bench.run(
            "export", "--encrypt-key", key, half, bench.folder.path("half.wav"))
        #expect(part.errorText.contains("the end of it is missing"))
    }

    @Test func aTakeThatWaitsIsSentEncryptedLater() async throws {
        let server = try RecordingServer(
            scripts: [.answer(status: 500, text: "")], otherwise: .answer(text: "well said"))
        let (bench, key, _) = try bench(server)
        let result = try await bench.run(
            "send", "-c", "retry.never=true", "-c", "body.key-file=\(key)", Clip.goForward.path)
        #expect(result.status == .exited(75), "\(result.errorText)")
        let again = try await bench.run("retry", "last")
        #expect(again.outputText == "well said\n", "\(again.errorText)")
        #expect(server.requests.count == 2)
        #expect(server.requests.allSatisfy { $0.body.starts(with: Array("utterenc".utf8)) })
        #expect(server.requests.first?.body == server.requests.last?.body)
    }

    @Test func withoutTheKeyNothingIsSent() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "well said"))
        let (bench, key, _) = try bench(server)
        unlink(key)
        let missing = try await bench.run(
            "send", "-c", "body.key-file=\(key)", Clip.goForward.path)
        #expect(missing.status != .exited(0))
        #expect(missing.errorText.contains(key))
        let passphrase = try bench.folder.write(
            Array("a long passphrase of mine\n".utf8), to: "passphrase")
        let typed = try await bench.run(
            "send", "-c", "body.key-file=\(passphrase)", Clip.goForward.path)
        #expect(typed.status != .exited(0))
        #expect(typed.errorText.contains("a body's key is random, and not a passphrase"))
        let job = try await bench.run(
            "send", "--service", "assemblyai-batch", "-c", "body.key-file=\(passphrase)",
            Clip.goForward.path)
        #expect(job.errorText.contains("the requests of a job travel unencrypted"))
        #expect(server.requests.isEmpty)
    }
}
