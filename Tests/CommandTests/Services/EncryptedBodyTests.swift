// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// A proxy or a store that has no key cannot read the recordings.
@Suite struct EncryptedBodyTests {
    private static let key = "utter-key-" + String(repeating: "0123456789abcdef", count: 4)
    private static let other = "utter-key-" + String(repeating: "fedcba9876543210", count: 4)

    private func bench(
        _ server: RecordingServer? = nil
    ) throws -> (Bench, key: String, other: String) {
        let bench = try Bench(server: server)
        return (
            bench, try bench.folder.write(Array((Self.key + "\n").utf8), to: "key"),
            try bench.folder.write(Array((Self.other + "\n").utf8), to: "other")
        )
    }

    @Test func theEndpointReadsItWithTheKeyAlone() async throws {
        let (bench, key, other) = try bench()
        let (server, url) = try await bench.serve("--grammar", Bench.grammar, "--key", key)
        for words in [
            ["--format", "pcm"], ["--format", "ogg-opus"], ["--format", "flac"],
            ["-c", "body.kind=form"], ["-c", "body.kind=form", "--format", "pcm"],
            ["--service", "resumable"],
            ["--service", "tus", "--format", "wav"],
        ] {
            let result = try await bench.start(
                ["send", "--to", url + "?language=de", "-c", "body.key-file=\(key)"] + words
                    + [Clip.goForward.path]
            ).result()
            #expect(result.outputText == "go forward ten meters\n", "\(words) \(result.errorText)")
        }
        let plain = try await bench.run("send", "--to", url, Clip.goForward.path)
        #expect(plain.status == .exited(69))
        #expect(plain.errorText.contains("takes encrypted ones"), "\(plain.errorText)")
        let wrong = try await bench.run(
            "send", "--to", url, "-c", "body.key-file=\(other)", Clip.goForward.path)
        #expect(wrong.status != .exited(0))
        #expect(wrong.errorText.contains("it is encrypted with another key"))
        server.signal(SIGTERM)
        #expect(!(try await server.result().errorText.contains("utter-key")))
    }

    @Test func aStoredBodyIsExportedWithTheKey() async throws {
        let store = try FileServer(keepsConnections: true)
        let (bench, key, other) = try bench(store.server)
        let sent = try await bench.run(
            "send", "--service", "webdav", "--to", store.server.url("/voices/one"), "--format",
            "wav", "-c", "body.key-file=\(key)", Clip.goForward.path)
        #expect(sent.status == .exited(0), "\(sent.errorText)")
        let object = try #require(store.files["/voices/one"])
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
}
