// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// What `utter send` reads out of answers that are not one text.
@Suite struct AnswerTests {
    @Test func whatIsToldBesideTheTextIsInTheReport() async throws {
        // Numbers that JSON cannot say again would cost the whole report.
        let answer = #"""
            {"task":"transcribe","language":"english","duration":2.5,"text":"go on",
            "segments":[{"id":0,"start":0.0,"end":2.5,"text":" go on","speaker":"A"}],
            "words":[{"word":"go","start":0.1,"end":0.4,"speaker":1},{"word":"on","start":-1e400}],
            "confidence":0.9}
            """#
        let bench = try Bench(server: try RecordingServer(otherwise: .json(answer)))
        let report = try JSONText(try await bench.run("send", "--json", Clip.digits.path).output)
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
        #expect(report["words"]?[1]?["start"] == .null)
    }

    /// An answer that never ends: a body of 10 GiB in chunks, and a head.
    private static let floods: [(steps: [ServerStep], error: String)] = [
        (
            [
                .beginResponse(
                    status: 200, headers: [HeaderField("Content-Type", "application/json")]),
                .sendBodyChunk(text: #"{"text":"a","more":["#),
                .sendAgainAndAgain(
                    Array("8000\r\n\(String(repeating: "\"aaaaa\",", count: 4_096))\r\n".utf8),
                    times: 10 << 15),
            ], "the response is longer than 8388608 bytes"
        ),
        (
            [
                .sendRaw(Array("HTTP/1.1 200 OK\r\n".utf8)),
                .sendAgainAndAgain(Array("X-Field: 0123456789\r\n".utf8), times: 1 << 30),
            ], "the response's head is longer than 256 KiB or 200 lines"
        ),
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
    func anAnswerWithoutEndCostsLittleAndEndsInOneLine(
        _ steps: [ServerStep], _ error: String
    ) async throws {
        let server = try RecordingServer(otherwise: [.readHead, .readBodyToEnd] + steps)
        let bench = try Bench(server: server)
        let result = try await bench.startShell(
            Self.measured, ["send", "-c", "retry.never=true", Clip.digits.path]
        ).result()
        #expect(result.status != .exited(0))
        let peak = try #require(Int(result.outputText.dropLast()))
        let errors = result.errorText.split(separator: "\n").filter { $0.contains("error:") }
        #expect(errors.count == 1)
        #expect(errors.first?.contains(error) == true, "\(result.errorText)")
        #expect(peak < Self.mostMemory)
        #expect(try bench.onlyTake()?.manifest["state"] == .string("kept"))
    }
}
