// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Cassettes

@Suite struct CassetteCommandTests {
    @Test func whatIsRecordedIsReplayed() async throws {
        let server = try RecordingServer(
            otherwise: .json(#"{"text":"go forward","note":"sesame-token"}"#))
        let bench = try Bench(server: server, ["UTTER_TOKEN": "sesame-token"])
        let tape = bench.folder.path("tape")
        let sent = try await bench.run(
            "send", "--to", server.url("/v1/asr?lang=en"), "--cassette", tape, Clip.goForward.path)
        #expect(sent.outputText == "go forward\n", "\(sent.errorText)")
        let cassette = try #require(try Cassette.load(tape).first)
        #expect(cassette.request.headers.value(of: "Authorization") == "Bearer …")
        #expect(!String(decoding: cassette.json, as: UTF8.self).contains("sesame"))
        let (replay, origin) = try await bench.replay([tape])
        let again = try await bench.run(
            "send", "--to", origin + "/v1/asr?lang=en", "--token-command", "echo other",
            Clip.goForward.path)
        #expect(again.outputText == "go forward\n", "\(again.errorText)")
        let wrong = try await bench.run("send", "--to", origin + "/v2", Clip.goForward.path)
        #expect(wrong.status == .exited(69))
        #expect(wrong.errorText.contains("the path is /v2, not /v1/asr"), "\(wrong.errorText)")
        replay.signal(SIGTERM)
        let said = try await replay.result()
        #expect(said.errorText.contains("the path is /v2, not /v1/asr"))
        #expect(said.errorText.contains("POST /v1/asr?lang=en: answered"))
    }

    /// Over a WebSocket: each service's messages, and those before the audio.
    @Test(arguments: ["deepgram", "openai", "assemblyai", "soniox"])
    func aSessionIsRecordedAndReplayed(_ dialect: String) async throws {
        let service = try await SocketService()
        let bench = try Bench()
        let speech = try bench.folder.write(
            WAVBytes.speech(SocketService.samples([3, 5, 7])), to: "speech.wav")
        func send(_ url: String, _ token: String, _ more: String...) async throws -> CommandResult {
            let options = ["send", "--service", dialect, "--to", url]
            return try await bench.start(
                options + ["--token-command", "echo \(token)"] + more + [speech]
            ).result()
        }
        let tape = bench.folder.path("tape")
        let sent = try await send(service.url(dialect), "sesame", "--cassette", tape)
        #expect(sent.outputText == "w3 w5 w7\n", "\(sent.errorText)")
        let cassette = try #require(try Cassette.load(tape).first)
        #expect(cassette.request.method == "GET")
        #expect(cassette.request.url.hasPrefix("ws://"))
        #expect(cassette.response?.status == 101)
        #expect(cassette.request.finish?.isEmpty == false)
        #expect(!String(decoding: cassette.json, as: UTF8.self).contains("sesame"))
        let (replay, origin) = try await bench.replay([tape])
        let url = origin.replacing("http", with: "ws") + "/" + dialect
        // Another text in the first message is another client's.
        if cassette.request.open?.isEmpty == false {
            let other = try await send(url, "other", "--set", "live-model=other")
            #expect(other.status == .exited(76))
            #expect(
                other.errorText.contains("message 1 is not the cassette's"), "\(other.errorText)")
        }
        let again = try await send(url, "other")
        #expect(again.outputText == "w3 w5 w7\n", "\(again.errorText)")
        replay.signal(SIGTERM)
        let said = try await replay.result()
        #expect(said.errorText.contains("GET /\(dialect)"), "\(said.errorText)")
        #expect(said.errorText.contains("answered"))
    }

    @Test func whatIsWrongWithACassetteIsSaid() async throws {
        let bench = try Bench()
        let bad = try bench.folder.write(Array("{\"version\": 1}".utf8), to: "bad.json")
        let result = try await bench.run("serve", "--cassette", bad)
        #expect(result.status == .exited(78))
        #expect(result.errorText.contains("bad.json' is not a cassette: 'request' is missing"))
        let absent = try await bench.run("serve", "--cassette", "nothere")
        #expect(absent.errorText.hasSuffix("check the name, and that its folder is there\n"))
        let both = try await bench.run("serve", "--cassette", bad, "--grammar", "x")
        #expect(both.status == .exited(64))
        let speed = try await bench.run("serve", "--cassette", bad, "--speed", "0")
        #expect(speed.status == .exited(64))
        let folder = try await bench.here("send", "--cassette", bad, Clip.goForward.path)
        #expect(folder.status == .exited(78))
    }

    @Test func aCassetteThatCannotBeWrittenIsSaidAndCostsNoText() async throws {
        let gate = Gate()
        let server = try RecordingServer(otherwise: [
            .readHead, .readBodyToEnd, .stallUntil(gate), .respond(status: 200, text: "whole"),
        ])
        let bench = try Bench(server: server)
        let place = bench.folder.path("cassettes")
        let run = try bench.start(["send", "--cassette", place, Clip.goForward.path])
        _ = try #require(await server.wait(untilBytes: Clip.goForward.samples.count))
        #expect(rmdir(place) == 0)
        gate.open()
        let result = try await run.result()
        #expect(result.outputText == "whole\n")
        #expect(result.status == .exited(0))
        #expect(result.errorText.contains("utter: warning: a cassette is missing: "))
    }
}

extension Bench {
    /// Starts to play cassettes.
    ///
    /// - Returns: the running program and its origin.
    func replay(_ paths: [String]) async throws -> (CommandRun, String) {
        let options = paths.flatMap { ["--cassette", $0] }
        let run = try start(["serve", "-v", "--port", "0"] + options)
        try #require(await run.wait(for: "listening on http://127.0.0.1:", in: .error))
        try #require(await run.wait(in: .error) { $0.last == 0x0A })
        let text = String(decoding: run.error, as: UTF8.self)
        let match = try #require(text.firstMatch(of: /listening on (http:\/\/127\.0\.0\.1:\d+)/))
        return (run, String(match.1))
    }
}
