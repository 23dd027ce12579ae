// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// What `utter send` reads out of answers that are not one text.
@Suite struct AnswerTests {
    /// Sends a recording, and returns the report of `send --json` on this answer.
    private func report(of answer: String) async throws -> ParsedJSON {
        let bench = try Bench(server: try RecordingServer(otherwise: .json(answer)))
        return try ParsedJSON(try await bench.run("send", "--json", Clip.digits.path).output)
    }

    @Test func whatIsToldBesideTheTextIsInTheReport() async throws {
        let report = try await report(
            of: #"""
                {"task":"transcribe","language":"english","duration":2.5,"text":"go on",
                "segments":[{"id":0,"start":0.0,"end":2.5,"text":" go on","speaker":"A"}],
                "words":[{"word":"go","start":0.1,"end":0.4,"speaker":1},{"word":"on"}],
                "confidence":0.9}
                """#)
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
        let report = try await report(
            of: #"{"text":"a","duration":1e999,"words":[{"word":"a","start":-1e400,"end":1}]}"#)
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
        /// The server's steps after it has received the recording.
        var steps: [ServerStep]
        var error: String

        /// A body whose pieces come in chunks of 64 KiB, 10 GiB of them.
        static func body(
            _ name: String, _ type: String, _ beginning: String = "", pieces: String,
            _ error: String = "the response is longer than 8388608 bytes"
        ) -> Flood {
            let size = 64 << 10
            let text = String(repeating: pieces, count: size / pieces.utf8.count)
            let chunk = Array("\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n".utf8)
            let head = HeaderField("Content-Type", type)
            let begin: [ServerStep] = [.beginResponse(status: 200, headers: [head])]
            let first: [ServerStep] = beginning.isEmpty ? [] : [.sendBodyChunk(text: beginning)]
            let rest: [ServerStep] = [
                .sendAgainAndAgain(chunk, times: (10 << 30) / size), .endResponse,
            ]
            return Flood(testDescription: name, steps: begin + first + rest, error: error)
        }
    }

    private static let floods: [Flood] = [
        .body(
            "10 GB of JSON", "application/json", #"{"text":"a","more":["#,
            pieces: #""aaaaaaaaaaaaaaaa","#),
        .body(
            "partials", "application/x-ndjson",
            pieces: #"{"type":"partial","text":"so it goes on"}"# + "\n"),
        .body(
            "nesting", "application/json", pieces: "[",
            "the answer nests JSON deeper than 64 levels at byte 64"),
        .body("an event without a line end", "text/event-stream", "data: ", pieces: "aaaaaaaa"),
        .body("comments", "text/event-stream", pieces: ": still here\n\n"),
        Flood(
            testDescription: "a head",
            steps: [
                .sendRaw(Array("HTTP/1.1 200 OK\r\n".utf8)),
                .sendAgainAndAgain(Array("X-Field: 0123456789\r\n".utf8), times: 1 << 30),
            ], error: "the response's head is longer than 256 KiB or 200 lines"),
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
        let server = try RecordingServer(otherwise: [.readHead, .readBodyToEnd] + flood.steps)
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
}
