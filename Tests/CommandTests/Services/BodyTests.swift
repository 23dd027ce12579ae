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
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench(server: server)
        let result = try await bench.run(
            "send", "--json", "-c", #"body.template={"audio":"{audio}"}"#, clip.path)
        let count = try clip.samples.count + 44
        let object = try JSONText(result.output)
        #expect(object["bytes"]?["sent"] == .number(Double(count)))
        let wire = Double(12 + (count + 2) / 3 * 4)
        #expect(object["bytes"]?["wire"] == .number(wire))
        #expect(object["attempts"]?[0]?["wireBytes"] == .number(wire))
        #expect(object["imbalance"] == .null)
        #expect(server.requests.first?["Content-Type"] == "application/json")
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
        #expect(try bench.onlyTake()?.manifest["version"] == .number(1))
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
        let server = try RecordingServer(
            scripts: [[.readHead, .respond(status: 411, text: ""), .readOn]],
            otherwise: Self.transcriber)
        let bench = try Bench(server: server)
        let run = try bench.start(["send", "-v", "-c", "body.fields.model=m", "-"], input: .pipe)
        run.write(try clip.samples)
        #expect(await run.wait(for: "wants the recording's length", in: .error))
        run.closeInput()
        let result = try await run.result()
        let count = try clip.samples.count + 44
        #expect(result.outputText == "model=m file=@audio.wav:\(count)\n", "\(result.errorText)")
        let last = try #require(server.requests.last)
        #expect(server.requests.first?["Transfer-Encoding"] == "chunked")
        #expect(last["Content-Length"] == "\(last.body.count)")
    }

    /// The whole way, with a recogniser.
    @Test(arguments: ["pcm", "wav", "ogg-opus"], ["chunked", "length"])
    func theEndpointRecognisesWhatAFormHolds(_ format: String, _ framing: String) async throws {
        let bench = try Bench()
        let server = try bench.start([
            "serve", "--port", "0", "--grammar", SourceTree.path("samples/grammar/demo.gram"),
        ])
        try #require(await server.wait(for: "/recognize\n", in: .error))
        let text = String(decoding: server.error, as: UTF8.self)
        let match = try #require(text.firstMatch(of: /(http:\/\/127\.0\.0\.1:\d+)\/recognize/))
        let result = try await bench.run(
            "send", "--to", "\(match.1)/v1/audio/transcriptions", "-c", "body.fields.model=any",
            "--format", format, "-c", "transfer.framing=\(framing)", clip.path)
        #expect(result.outputText == "go forward ten meters\n", "\(result.errorText)")
        server.signal(SIGTERM)
        _ = try await server.result()
    }
}
