// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// What `utter send` reads out of answers that are not one text.
@Suite struct AnswerTests {
    private func json(_ result: CommandResult) throws -> JSONText { try JSONText(result.output) }

    @Test func aStreamOfEventsIsReadByItsType() async throws {
        let events =
            "data: {\"type\":\"transcript.text.delta\",\"delta\":\"go\"}\n\n"
            + "data: {\"type\":\"transcript.text.delta\",\"delta\":\" forward\"}\n\n"
            + "data: {\"type\":\"transcript.text.done\",\"text\":\"Go forward.\"}\n\ndata: [DONE]\n\n"
        let server = try RecordingServer(
            otherwise: .answer(
                headers: [HeaderField("Content-Type", "text/event-stream")], text: events))
        let bench = try Bench(server: server)
        for rule in ["auto", "events"] {
            let result = try await bench.run("send", "--answer", rule, Clip.digits.path)
            #expect(result.status == .exited(0))
            #expect(result.outputText == "Go forward.\n")
        }
    }

    @Test func whatIsToldBesideTheTextIsInTheReport() async throws {
        let body = #"""
            {"task":"transcribe","language":"english","duration":2.5,"text":"go on",
            "segments":[{"id":0,"start":0.0,"end":2.5,"text":" go on","speaker":"A"}],
            "words":[{"word":"go","start":0.1,"end":0.4,"speaker":1},{"word":"on"}],"confidence":0.9}
            """#
        let server = try RecordingServer(
            otherwise: .answer(
                headers: [HeaderField("Content-Type", "application/json")], text: body))
        let bench = try Bench(server: server)
        let report = try json(try await bench.run("send", "--json", Clip.digits.path))
        #expect(report["text"] == .string("go on"))
        #expect(report["language"] == .string("english"))
        #expect(report["heardMs"] == .number(2500))
        #expect(report["confidence"] == .number(0.9))
        #expect(
            report["segments"]
                == .array([
                    .object([
                        "text": .string(" go on"), "start": .number(0), "end": .number(2.5),
                        "speaker": .string("A"),
                    ])
                ]))
        #expect(report["words"]?[0]?["speaker"] == .string("1"))
        #expect(report["words"]?[1]?["speaker"] == .null)
    }

    /// Numbers that JSON cannot say again would cost the whole report.
    @Test func numbersWithoutMeasureAreLeftOut() async throws {
        let body = #"{"text":"a","duration":1e999,"words":[{"word":"a","start":-1e400,"end":1}]}"#
        let server = try RecordingServer(
            otherwise: .answer(
                headers: [HeaderField("Content-Type", "application/json")], text: body))
        let bench = try Bench(server: server)
        let report = try json(try await bench.run("send", "--json", Clip.digits.path))
        #expect(report["text"] == .string("a"))
        #expect(report["heardMs"] == .null)
        #expect(report["words"]?[0]?["start"] == .null)
    }

    @Test func anErrorInTheMiddleOfAStreamKeepsTheTake() async throws {
        let events =
            "data: {\"type\":\"transcript.text.delta\",\"delta\":\"go\"}\n\n"
            + "data: {\"type\":\"error\",\"error\":{\"message\":\"gone\\u001b[31m\",\"code\":\"E7\"}}\n\n"
        let server = try RecordingServer(
            otherwise: .answer(
                headers: [HeaderField("Content-Type", "text/event-stream")], text: events))
        let bench = try Bench(server: server)
        let result = try await bench.run("send", Clip.digits.path)
        #expect(result.output.isEmpty)
        #expect(
            result.errorText.contains("error: the service reported an error: gone[31m (E7)\n"))
        #expect(try bench.onlyTake()?.manifest["state"] == .string("kept"))
    }
}
