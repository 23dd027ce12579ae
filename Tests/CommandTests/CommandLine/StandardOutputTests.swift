// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Standard output carries the transcript, or one JSON object, and nothing else.
@Suite struct StandardOutputTests {
    @Test func aTranscriptIsOneLineWithoutControls() async throws {
        let bench = try Bench(server: .hearing("a \u{1B}[31mred\u{1B}[0m\nline\u{7}"))
        let result = try await bench.run("send", Clip.digits.path)
        #expect(result.outputText == "a red line\n")
        #expect(result.hasPlainErrors)
    }

    @Test func quietIsSilentOnSuccess() async throws {
        let bench = try Bench(server: .hearing("quiet"))
        let result = try await bench.run("send", "-q", "--keep-audio", "1d", Clip.digits.path)
        #expect(result.status == .exited(0))
        #expect(result.error.isEmpty)
        let nothing = try await Bench(server: .hearing(#"{"text": ""}"#)).run(
            "send", "-q", Clip.digits.path)
        #expect(nothing.status == .exited(1))
        #expect(nothing.error.isEmpty)
    }

    @Test func quietStillSaysErrorsAndWhatIsKept() async throws {
        let bench = try Bench()
        let result = try await bench.run("send", "-q", "-c", "retry.never=true", Clip.digits.path)
        let lines = result.errorText.split(separator: "\n")
        #expect(lines.first?.hasPrefix("utter: error: cannot connect") == true)
        #expect(lines.contains { $0.hasPrefix("utter: kept: \(bench.folder.path)") })
    }

    @Test func verboseTellsEachStepOnStandardError() async throws {
        let bench = try Bench(server: .hearing("loud"))
        let result = try await bench.run("send", "-v", Clip.digits.path)
        #expect(result.outputText == "loud\n")
        for step in ["connected", "recording ended", "heard: loud", "answer complete"] {
            #expect(result.errorText.contains(step), "\(result.errorText)")
        }
        #expect(!result.error.contains(0x1B))
    }

    static let members: Set = [
        "version", "id", "exit", "durationMs", "frames", "gaps", "pauses", "bytes", "sha256",
        "attempts", "stretches", "mayBeDoubled", "notices", "file", "text", "raw", "words", "error",
        "answerDelayMs", "answeredAfterMs", "peakDecibels", "imbalance", "kept", "unprotected",
        "cutShort", "segments", "confidence", "language", "heardMs", "retries", "redirects",
        "times", "voiceHeard", "device",
    ]

    @Test func jsonIsOneObjectWithTheAccountOfEverySample() async throws {
        let line = #"{"type":"final","text":"two","words":[{"word":"two","start":0.1,"end":0.4}]}"#
        let server = try RecordingServer.hearing(line + "\n")
        let bench = try Bench(server: server)
        let result = try await bench.run("send", "-q", "--json", Clip.digits.path)

        #expect(result.status == .exited(0))
        #expect(result.error.isEmpty)
        #expect(result.output.filter { $0 == 0x0A }.count == 1)
        let object = try ParsedJSON(result.output)
        #expect(object.names == Self.members)
        #expect(object["version"] == .number(1))
        #expect(object["exit"] == .number(0))
        #expect(object["text"] == .string("two"))
        #expect(object["words"]?[0]?["word"] == .string("two"))
        #expect(object["words"]?[0]?["start"] == .number(0.1))
        let byteCount = Double(try Clip.digits.samples.count)
        #expect(
            object["frames"]
                == .object([
                    "captured": .number(byteCount / 2), "gaps": .number(0),
                    "encoded": .number(byteCount / 2),
                ]))
        #expect(
            object["bytes"]
                == .object([
                    "encoded": .number(byteCount + 44), "journaled": .number(byteCount + 44),
                    "bodyOffset": .number(44), "sent": .number(byteCount),
                    "wire": .number(byteCount), "resent": .number(0),
                ]))
        #expect(object["gaps"] == .array([]))
        #expect(object["sha256"]?.string?.count == 64)
        let attempt = try #require(object["attempts"]?[0])
        #expect(attempt["ending"] == .string("answered"))
        #expect(attempt["status"] == .number(200))
        #expect(attempt["bodyComplete"] == .bool(true))
        #expect(attempt["url"] == .string(server.url()))
        #expect(try bench.onlyTake()?.path.hasSuffix(object["id"]?.string ?? "?") == true)
    }

    @Test func jsonOfAFailureSaysWhyAndWhatIsKept() async throws {
        let bench = try Bench()
        let result = try await bench.run(
            "send", "--json", "-c", "retry.never=true", Clip.digits.path)
        #expect(result.status == .exited(75))
        let object = try ParsedJSON(result.output)
        #expect(object.names == Self.members)
        #expect(object["text"] == .null)
        #expect(object["exit"] == .number(75))
        let message = try #require(object["error"]?["message"]?.string)
        #expect(message.hasPrefix("cannot connect to http://127.0.0.1:9"))
        #expect(object["error"]?["hint"] == .string("check the URL and the network"))
        #expect(object["attempts"]?[0]?["ending"] == .string("cannot-connect"))
        let take = try #require(try bench.onlyTake())
        #expect(object["kept"] == .string("\(take.path)/audio.wav"))
    }

    @Test func jsonOfWhatNeverBeganKeepsNothing() async throws {
        let bench = try Bench()
        let missing = try await bench.run("send", "--json", "missing.wav")
        #expect(missing.status == .exited(66))
        let lost = try ParsedJSON(missing.output)
        #expect(lost["exit"] == .number(66))
        #expect(lost["kept"] == .null)
        #expect(try bench.takes().isEmpty)
        // A wrong configuration is told by an object, too.
        let wrong = try await bench.here(
            "send", "--json", "-c", "auth.credential=missing", Clip.digits.path)
        #expect(wrong.status == .exited(78))
        let object = try ParsedJSON(wrong.output)
        #expect(object.names == Self.members)
        #expect(object["id"] == .null)
        #expect(object["exit"] == .number(78))
        #expect(object["error"]?["message"]?.string?.contains("no credentials") == true)
    }

    @Test(arguments: [[], ["--json"]])
    func aFullDiskBehindStandardOutputIsStatus74AndTheTakeIsKept(
        _ options: [String]
    ) async throws {
        let bench = try Bench(server: .hearing("lost?"))
        let arguments = ["send"] + options + [Clip.digits.path]
        let result = try await bench.startShell(#"exec "$0" "$@" >/dev/full"#, arguments).result()
        #expect(result.status == .exited(74))
        #expect(
            result.errorText.contains(
                "utter: error: the transcript cannot be printed: No space left on device"))
        let take = try #require(try bench.onlyTake())
        #expect(result.errorText.contains("utter: kept: \(take.path)/audio.wav"))
        #expect(
            result.errorText.hasSuffix("print it again with: utter last \(take.id.asInHints)\n"))
        #expect(try await bench.here("last", take.id.asInHints).outputText == "lost?\n")
        #expect(try take.samples == Clip.digits.samples)
        #expect(try take.manifest["transcript"] == .string("lost?"))
    }

    @Test func aReaderThatHasGoneIsStatus74AndTheTakeIsKept() async throws {
        let gate = Gate()
        let server = try RecordingServer(otherwise: [
            .readHead, .readBodyToEnd, .stallUntil(gate), .respond(status: 200, text: "lost?"),
        ])
        let bench = try Bench(server: server)
        let run = try bench.startShell(
            #"{ "$0" "$@"; echo "status $?" >&2; } | { exec <&-; echo gone >&2; }"#,
            ["send", Clip.digits.path])
        #expect(await run.wait(for: "gone\n", in: .error))
        gate.open()
        let result = try await run.result()
        #expect(result.errorText.contains("status 74\n"), "\(result.errorText)")
        #expect(result.errorText.contains("cannot be printed: Broken pipe"))
        #expect(try bench.onlyTake()?.samples == Clip.digits.samples)
    }

    @Test func aClosedStandardOutputIsStatus74AndNothingElseGetsTheText() async throws {
        let bench = try Bench(server: .hearing("lost?"))
        let result = try await bench.startShell(
            #"exec "$0" "$@" >&-"#, ["send", Clip.digits.path]
        ).result()
        #expect(result.status == .exited(74))
        #expect(try bench.onlyTake()?.samples == Clip.digits.samples)
        #expect(bench.requests.first?.body == (try Clip.digits.samples))
    }

    @Test func closedStandardErrorAndInputDisturbNothing() async throws {
        let bench = try Bench(server: .hearing("fine"))
        let result = try await bench.startShell(
            #"exec "$0" "$@" 2>&- <&-"#, ["send", Clip.digits.path]
        ).result()
        #expect(result.status == .exited(0))
        #expect(result.outputText == "fine\n")
        #expect(bench.requests.first?.body == (try Clip.digits.samples))
    }
}
