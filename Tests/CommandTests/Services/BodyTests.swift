// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Recordings in forms and in JSON, from the command line to services that want them so.
@Suite struct BodyTests {
    /// A service in the style of OpenAI's that says what it has understood of a form.
    private static let transcriber: [ServerStep] = [
        .readHead, .readBodyToEnd,
        .respondBy { request in
            do {
                let form = try ForeignForm(
                    request.body, contentType: request["Content-Type"] ?? "")
                let text = form.parts.map { part in
                    part.fileName.map { "\(part.name ?? "")=@\($0):\(part.bytes.count)" }
                        ?? "\(part.name ?? "")=\(String(decoding: part.bytes, as: UTF8.self))"
                }
                return ServerAnswer(
                    headers: [HeaderField("Content-Type", "application/json")],
                    text: "{\"text\":\"\(text.joined(separator: " "))\"}")
            } catch {
                return ServerAnswer(status: 400, text: "\(error)")
            }
        },
    ]

    private let clip = Clip.goForward

    @Test func aFormHasItsFieldsFirstAndTheRecordingLast() async throws {
        let server = try RecordingServer(otherwise: Self.transcriber)
        let bench = try Bench(server: server, ["UTTER_TOKEN": "sesame"])
        let count = try clip.samples.count + 44
        let result = try await bench.run(
            "send", "-c", "body.fields.model=whisper-1", "-c", "body.fields.language=en", "-c",
            #"body.fields.granularities[]=["word", "segment"]"#, clip.path)
        #expect(
            result.outputText
                == "model=whisper-1 language=en granularities[]=word granularities[]=segment "
                + "file=@audio.wav:\(count)\n")
        let request = try #require(server.requests.first)
        #expect(request["Authorization"] == "Bearer sesame")
        #expect(request.body.ranges(of: Array("sesame".utf8)).isEmpty)
    }

    @Test func theWireIsCountedApartFromTheRecording() async throws {
        let bench = try Bench(server: .hearing("heard"))
        let result = try await bench.run(
            "send", "--json", "-c", #"body.template={"audio":"{audio}"}"#, clip.path)
        let count = try clip.samples.count + 44
        let object = try JSONText(result.output)
        #expect(object["bytes"]?["sent"] == .number(Double(count)))
        let wire = Double(12 + (count + 2) / 3 * 4)
        #expect(object["bytes"]?["wire"] == .number(wire))
        #expect(object["attempts"]?[0]?["wireBytes"] == .number(wire))
        #expect(object["imbalance"] == .null)
        #expect(bench.requests.first?["Content-Type"] == "application/json")
    }

    @Test(arguments: ["retry last", "flush"])
    func aKeptTakeRemembersItsForm(_ command: String) async throws {
        let server = try RecordingServer(
            scripts: [.answer(status: 503, text: "")], otherwise: Self.transcriber)
        let bench = try Bench()
        let first = try await bench.run(
            "send", "-c", "retry.never=true", "--to", server.url(), "-c", "body.fields.model=m",
            "-c", "body.file-field=f",
            "-c", "body.file-name=n.wav", "-c", "body.content-type=audio/x-wav", clip.path)
        #expect(first.status == .exited(75))
        #expect(try bench.onlyTake()?.manifest["version"] == .number(2))
        let words = command.split(separator: " ").map(String.init)
        let again = try await bench.start(words).result()
        #expect(again.outputText.contains("model=m f=@n.wav:"), "\(again.errorText)")
        let requests = server.requests
        #expect(requests.count == 2)
        #expect(requests.first?.body == requests.last?.body)
        #expect(requests.first?["Content-Type"] == requests.last?["Content-Type"])
        let body = try #require(requests.last?.body)
        #expect(!body.ranges(of: Array("Content-Type: audio/x-wav\r\n".utf8)).isEmpty)
    }

    @Test func retryMayChangeTheForm() async throws {
        let server = try RecordingServer(
            scripts: [.answer(status: 503, text: "")], otherwise: Self.transcriber)
        let bench = try Bench(server: server, ["UTTER_KEEP_AUDIO": "1d"])
        _ = try await bench.run(
            "send", "-c", "retry.never=true", "-c", "body.fields.model=m", "-c",
            "body.fields.language=en", clip.path)
        let other = try await bench.run(
            "retry", "last", "-c", "body.fields.language=de", "-c", "body.fields.prompt=x", "-c",
            "body.file-name=x.wav")
        #expect(
            other.outputText.hasPrefix("model=m language=de prompt=x file=@x.wav:"),
            "\(other.errorText)")
        // What was said last is what it remembers.
        let same = try await bench.run("retry", "last")
        #expect(same.outputText == other.outputText)
        let raw = try await bench.run("retry", "last", "-c", "body.kind=raw")
        #expect(raw.status == .exited(69))
        #expect(server.requests.last?["Content-Type"] == "audio/wav")
    }

    @Test func aTakeThatWasMeantRawCanBeSentInAForm() async throws {
        let server = try RecordingServer(
            scripts: [.answer(status: 503, text: "")], otherwise: Self.transcriber)
        let bench = try Bench(server: server)
        _ = try await bench.run(
            "send", "-c", "retry.never=true", "-H", "Content-Type: audio/x-own", clip.path)
        #expect(server.requests.first?["Content-Type"] == "audio/x-own")
        let count = try clip.samples.count + 44
        let form = try await bench.run("retry", "last", "-c", "body.fields.model=m")
        // Without its header, no such service would know what it is.
        #expect(form.outputText == "model=m file=@audio.wav:\(count)\n", "\(form.errorText)")
        // The type that was given was that of the samples.
        let body = try #require(server.requests.last?.body)
        #expect(!body.ranges(of: Array("Content-Type: audio/wav\r\n".utf8)).isEmpty)
    }

    @Test func aServiceWithoutChunksGetsTheFormWithItsLength() async throws {
        let bench = try Bench(
            server: RecordingServer(
                scripts: [[.readHead, .respond(status: 411, text: ""), .readOn]],
                otherwise: Self.transcriber))
        let run = try bench.start(["send", "-v", "-c", "body.fields.model=m", "-"], input: .pipe)
        run.write(try clip.samples)
        #expect(await run.wait(for: "wants the recording's length", in: .error))
        run.closeInput()
        let result = try await run.result()
        let count = try clip.samples.count + 44
        #expect(result.outputText == "model=m file=@audio.wav:\(count)\n", "\(result.errorText)")
        #expect(!result.errorText.contains("warning"))
        let last = try #require(bench.requests.last)
        #expect(bench.requests.first?["Transfer-Encoding"] == "chunked")
        #expect(last["Content-Length"] == "\(last.body.count)")
    }

    /// The whole way, with a recogniser.
    @Test(arguments: ["pcm", "wav", "ogg-opus"], ["chunked", "length"])
    func theEndpointRecognisesWhatAFormHolds(_ format: String, _ framing: String) async throws {
        let bench = try Bench()
        let (server, url) = try await bench.serve("--grammar", Bench.grammar)
        let result = try await bench.run(
            "send", "--to", url.replacing("/recognize", with: "/v1/audio/transcriptions"), "-c",
            "body.fields.model=any", "--format", format, "-c", "transfer.framing=\(framing)",
            clip.path)
        #expect(result.outputText == "go forward ten meters\n", "\(result.errorText)")
        server.signal(SIGTERM)
        _ = try await server.result()
    }
}

/// What crosses a proxy or lies in a store is read only by those who have the key.
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

    /// A file whose first line is no random key.
    private func passphrase(_ bench: Bench) throws -> String {
        try bench.folder.write(Array("a long passphrase of mine\n".utf8), to: "passphrase")
    }

    @Test func theEndpointReadsItWithTheKeyAlone() async throws {
        let (bench, key, other) = try bench()
        let (server, url) = try await bench.serve("--grammar", Bench.grammar, "--key", key)
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
        #expect(plain.status == .exited(69))
        #expect(plain.errorText.contains("takes encrypted ones"), "\(plain.errorText)")
        let wrong = try await bench.run(
            "send", "--to", url, "-c", "body.key-file=\(other)", Clip.goForward.path)
        #expect(wrong.status != .exited(0))
        #expect(wrong.errorText.contains("it is encrypted with another key"))
        server.signal(SIGTERM)
        #expect(!(try await server.result().errorText.contains("utter-key")))
    }

    @Test func anEndpointWithoutTheKeySaysSo() async throws {
        let (bench, key, _) = try bench()
        let (server, url) = try await bench.serve("--grammar", Bench.grammar)
        let result = try await bench.run(
            "send", "--to", url, "-c", "body.key-file=\(key)", Clip.goForward.path)
        #expect(result.status != .exited(0))
        #expect(result.errorText.contains("the body is encrypted, and this endpoint has no key"))
        server.signal(SIGTERM)
        _ = try await server.result()
        let refused = try await bench.run("serve", "--port", "0", "--key", try passphrase(bench))
        #expect(refused.status == .exited(78))
        #expect(refused.errorText.contains("does not hold a random key"))
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
        let passphrase = try passphrase(bench)
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
