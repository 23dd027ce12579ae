// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite struct DoctorTests {
    private func microphone(in folder: TemporaryFolder) throws -> VirtualMicrophone {
        let samples = (0..<16_000).map { Int16($0 % 32 < 16 ? 4_096 : -4_096) }
        var card = VirtualCard()
        card.content = .loop(path: try folder.write(WAVBytes.pcm(samples), to: "content"))
        return try VirtualMicrophone(card)
    }

    @Test func whatIsAsItShouldBeIsOk() async throws {
        let folder = try TemporaryFolder()
        let server = try RecordingServer(otherwise: .answer(text: #"{"text": ""}"#))
        let bench = try Bench(server: server, microphone: try microphone(in: folder))
        let result = try await bench.run(
            "doctor", "microphone", "service", "settings", "recordings")
        #expect(result.status == .exited(0), "\(result.outputText)")
        let lines = result.outputText.split(separator: "\n").map(String.init)
        #expect(lines.contains { $0.hasPrefix("microphone    ok       default: ") })
        #expect(lines.contains("microphone    ok       peak -18 dBFS, floor -18 dBFS"))
        #expect(lines.contains { $0.hasPrefix("service       ok       http://127.0.0.1:") })
        #expect(lines.contains { $0.hasPrefix("service       ok       it answered ") })
        #expect(lines.contains { $0.hasPrefix("settings      ok       ") })
        #expect(lines.contains { $0.hasPrefix("recordings    ok       recordings are kept in ") })
        #expect(lines.allSatisfy { $0.contains("    ok       ") })
        // The tone alone went out, and nothing of it stays.
        #expect(server.requests.count == 1)
        #expect(try bench.takes().isEmpty)
    }

    @Test func whatIsBrokenIsStatus78WithWhatToDo() async throws {
        let folder = try TemporaryFolder()
        let silence = try folder.write([UInt8](repeating: 0, count: 3_200), to: "silence")
        var card = VirtualCard()
        card.content = .loop(path: silence)
        let bench = try Bench(microphone: try VirtualMicrophone(card))
        let result = try await bench.run(
            "doctor", "microphone", "service", "--to", "http://127.0.0.1:9/", "--json")
        #expect(result.status == .exited(78))
        let object = try JSONText(result.output)
        #expect(object["isGood"] == .bool(false))
        let checks = try #require(object["checks"]?.array)
        #expect(checks.compactMap { $0["check"]?.string } == ["microphone", "service"])
        let found = try #require(checks[0]["findings"]?.array?.last)
        #expect(found["verdict"] == .string("bad"))
        #expect(
            found["text"] == .string("the microphone delivers only digital silence; is it muted?"))
        #expect(found["hint"]?.string?.contains("alsamixer") == true)
        #expect(checks[1]["findings"]?.array?.last?["verdict"] == .string("bad"))
    }

    @Test func aTokenThatIsRefusedIsSaid() async throws {
        let server = try RecordingServer(otherwise: .answer(status: 401, text: "no"))
        let result = try await Bench(server: server).run("doctor", "service")
        #expect(result.status == .exited(78))
        #expect(
            result.outputText.contains(
                "broken   the service wants a token, and none was given: 401"))
    }

    @Test func aServiceThatAnswersEarlyReadsWhileOneSpeaks() async throws {
        let server = try RecordingServer(
            otherwise: [
                .readHead, .readBody(bytes: 1_600), .beginResponse(status: 200),
                .sendBodyChunk(Array("early".utf8)), .readBodyToEnd, .endResponse,
            ])
        let result = try await Bench(server: server).run("doctor", "service")
        #expect(result.outputText.contains("it reads while you speak"))
    }

    @Test func aHeldMicrophoneIsBroken() async throws {
        let card = try VirtualMicrophone()
        card.setBusy()
        let result = try await Bench(microphone: card).run("doctor", "microphone")
        #expect(result.status == .exited(78))
        #expect(result.outputText.hasPrefix("microphone    broken   cannot record from 'default'"))
    }

    @Test func aProgramThatIsNotInstalledIsAWarning() async throws {
        let result = try await Bench().run("doctor", "installation")
        #expect(result.status == .exited(0))
        #expect(result.outputText.contains("installation  warning  utter runs from "))
    }

    @Test func anUnknownCheckIsAMistake() async throws {
        let result = try await Bench().run("doctor", "keys")
        #expect(result.status == .exited(64))
        #expect(result.errorText.contains("there is no check 'keys'"))
    }
}
