// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// What `utter send` reads out of answers that are not one text.
@Suite struct AnswerTests {
    private func json(_ result: CommandResult) throws -> JSONText { try JSONText(result.output) }

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
            result.errorText.contains("error: the service reported an error: gone (E7)\n"))
        #expect(try bench.onlyTake()?.manifest["state"] == .string("kept"))
    }

    /// An answer that never ends.
    struct Flood: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var type: String
        var beginning: String
        var piece: String
        var error: String
    }

    private static let floods = [
        Flood(
            testDescription: "10 GB of JSON", type: "application/json",
            beginning: #"{"text":"a","more":["#, piece: #""aaaaaaaaaaaaaaaa","#,
            error: "the response is longer than 8388608 bytes"),
        Flood(
            testDescription: "partials", type: "application/x-ndjson", beginning: "",
            piece: #"{"type":"partial","text":"so it goes on"}"# + "\n",
            error: "the response is longer than 8388608 bytes"),
        Flood(
            testDescription: "nesting", type: "application/json", beginning: "", piece: "[",
            error: "the answer nests JSON deeper than 64 levels at byte 64"),
        Flood(
            testDescription: "an event without a line end", type: "text/event-stream",
            beginning: "data: ", piece: "aaaaaaaa",
            error: "the response is longer than 8388608 bytes"),
        Flood(
            testDescription: "comments", type: "text/event-stream", beginning: "",
            piece: ": still here\n\n", error: "the response is longer than 8388608 bytes"),
    ]

    /// In KiB; 8 MiB of answer, what is read of them, and what a send takes without.
    private static let mostMemory = (Sanitizer.isUsed ? 1_600 : 160) << 10

    /// Runs `$0`, and prints the most memory that it had: a child of this process begins with ours.
    private static let measured = """
        exec python3 -c '
        import resource, subprocess, sys
        done = subprocess.run(sys.argv[1:])
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
        sys.exit(done.returncode)' "$0" "$@"
        """

    @Test(arguments: floods)
    func anAnswerWithoutEndCostsLittleAndEndsInOneLine(flood: Flood) async throws {
        let size = 64 << 10
        let count = size / flood.piece.utf8.count
        let text = String(repeating: flood.piece, count: count)
        let chunk = Array("\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n".utf8)
        let beginning: [ServerStep] =
            flood.beginning.isEmpty ? [] : [.sendBodyChunk(text: flood.beginning)]
        let begin = ServerStep.beginResponse(
            status: 200, headers: [HeaderField("Content-Type", flood.type)])
        let server = try RecordingServer(
            otherwise: [.readHead, .readBodyToEnd, begin] + beginning + [
                .sendAgainAndAgain(chunk, times: (10 << 30) / size), .endResponse,
            ])
        let bench = try Bench(server: server)
        let result = try await bench.startShell(
            Self.measured, ["send", "-c", "retry.never=true", Clip.digits.path]
        ).result()
        #expect(result.status != .exited(0))
        let peak = try #require(Int(result.outputText.dropLast()))
        let errors = result.errorText.split(separator: "\n").filter { $0.contains("error:") }
        #expect(errors.count == 1)
        #expect(errors.first?.contains(flood.error) == true, "\(result.errorText)")
        #expect(peak < Self.mostMemory)
        #expect(try bench.onlyTake()?.manifest["state"] == .string("kept"))
    }

    @Test func aHeadWithoutEndCostsLittleAndEndsInOneLine() async throws {
        let line = Array("X-Field: 0123456789\r\n".utf8)
        let server = try RecordingServer(
            otherwise: [
                .readHead, .readBodyToEnd, .sendRaw(Array("HTTP/1.1 200 OK\r\n".utf8)),
                .sendAgainAndAgain(line, times: 1 << 30),
            ])
        let bench = try Bench(server: server)
        let result = try await bench.startShell(
            Self.measured, ["send", "-c", "retry.never=true", Clip.digits.path]
        ).result()
        let peak = try #require(Int(result.outputText.dropLast()))
        let errors = result.errorText.split(separator: "\n").filter { $0.contains("error:") }
        #expect(errors.count == 1)
        #expect(
            errors.first?.contains("the response's head is longer than 256 KiB or 200 lines")
                == true)
        #expect(peak < Self.mostMemory)
    }
}
