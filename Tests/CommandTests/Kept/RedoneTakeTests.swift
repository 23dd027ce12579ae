// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Answers that are read again, and takes that are sent once more: neither takes anything away.
@Suite struct RedoneTakeTests {
    @Test func anAnswerThatWasPaidForIsReadAgain() async throws {
        let server = try RecordingServer(
            otherwise: .json(
                #"{"results":{"channels":[{"alternatives":[{"transcript":"two words"}]}]}}"#))
        let bench = try Bench(server: server)
        let first = try await bench.run("send", Clip.goForward.path)
        #expect(first.status == .exited(76))
        let path = "results.channels[0].alternatives[0].transcript"
        #expect(first.errorText.contains("there is text at \(path)\n"), "\(first.errorText)")
        #expect(first.errorText.contains("answer.text=\(path)"))
        let take = try #require(try bench.onlyTake())
        #expect(take.names == ["answer.body", "audio.wav", "take.json"])
        // Not sent unasked, and not sent at all for what is there already.
        #expect(try await bench.run("flush").output.isEmpty)
        let again = try await bench.run("retry", "-c", "answer.text=\(path)", take.id)
        #expect(again.outputText == "two words\n")
        #expect(server.requests.count == 1)
        #expect(try await bench.here("last").outputText == "two words\n")
    }

    @Test(arguments: [
        // Half an answer, and one that is longer than what is kept.
        #"{"text":"half"#, "[" + String(repeating: "1,", count: 140_000) + "1]",
    ])
    func whatIsNotTheWholeAnswerIsNotReadAgain(_ body: String) async throws {
        let server = try RecordingServer(
            scripts: [.json(body)], otherwise: .json(#"{"text":"whole"}"#))
        let bench = try Bench(server: server)
        #expect(try await bench.run("send", Clip.goForward.path).status == .exited(76))
        let again = try await bench.run("retry", "-c", "answer.framing=text", "last")
        #expect(again.outputText == "{\"text\":\"whole\"}\n")
        #expect(server.requests.count == 2)
    }

    @Test func aWorseAnswerTakesNothingAway() async throws {
        let worse: [(code: Int, body: String, status: Int32)] = [
            (200, #"{"text":""}"#, 1), (400, "", 69), (200, "<html>", 76),
        ]
        let server = try RecordingServer(
            scripts: [[ServerStep].answer(text: "good")]
                + worse.map { [ServerStep].answer(status: $0.code, text: $0.body) })
        let bench = try Bench(server: server, ["UTTER_KEEP_AUDIO": "1d"])
        _ = try await bench.run("send", Clip.goForward.path)
        for (code, body, status) in worse {
            let again = try await bench.run("retry", "last")
            #expect(again.status == .exited(status), "\(code) \(body)")
            #expect(again.errorText.contains("utter: no take waits: "))
            let take = try #require(try bench.onlyTake())
            #expect(try take.manifest["state"] == .string("answered"))
            #expect(try take.manifest["transcript"] == .string("good"))
            #expect(try take.samples == Clip.goForward.samples)
        }
    }

    @Test func whatIsMissingOfATakeIsSaid() async throws {
        let bench = try Bench(["UTTER_KEEP_AUDIO": "1d"])
        for command in [["retry", "--json", "last"], ["flush", "--json"]] {
            let server = try RecordingServer(
                scripts: [.answer(status: 503, text: "")], otherwise: .answer(text: "a part"))
            _ = try await bench.run(
                "send", "-c", "retry.never=true", "--to", server.url(), Clip.goForward.path)
            let take = try #require(
                try bench.takes().first { try $0.manifest["state"] == .string("kept") })
            #expect(truncate("\(take.path)/audio.wav", 44 + 32_000) == 0)
            let exported = try await bench.here("export", take.id, "-")
            #expect(exported.status == .exited(0))
            #expect(exported.errorText.contains("warning: its last 1786 ms are not on the disk\n"))
            let result = try await bench.start(command).result()
            #expect(result.errorText.contains("its last 1786 ms are not on the disk\n"))
            let object = try ParsedJSON(result.output)
            #expect(object["durationMs"] == .number(1_000))
            #expect(object["imbalance"] == .null)
            #expect(server.requests.last?.body.count == 32_000)
            let manifest = try #require(try bench.takes().first { $0.id == take.id }).manifest
            #expect(manifest["frames"] == .number(16_000))
        }
    }

    /// A full disk has refused the end of a take that was answered.
    @Test func aPartOfATakeTakesNoTextAwayUnlessItIsNamed() async throws {
        let server = try RecordingServer(
            scripts: [.answer(text: "all of it")], otherwise: .answer(text: "a part"))
        let bench = try Bench(server: server, ["UTTER_KEEP_AUDIO": "1d"])
        _ = try await bench.run("send", Clip.goForward.path)
        let take = try #require(try bench.onlyTake())
        #expect(truncate("\(take.path)/audio.wav", 44 + 32_000) == 0)
        let list = try await bench.here("list")
        #expect(list.outputText.hasSuffix("  (not whole) all of it\n"), "\(list.outputText)")
        let show = try await bench.here("show", "last")
        #expect(show.outputText.contains(", not whole: its end is not on the disk\n"))
        let again = try await bench.run("retry")
        #expect(again.outputText == "a part\n")
        #expect(again.errorText.contains(" keeps its text, which was of more audio\n"))
        #expect(try await bench.here("last").outputText == "all of it\n")
        #expect(try await bench.run("retry", take.id).outputText == "a part\n")
        #expect(try await bench.here("last").outputText == "a part\n")
    }

    @Test func anotherFormAndAnotherHearingAreOtherRequests() async throws {
        let server = try RecordingServer(
            scripts: [.answer(status: 503, text: ""), .answer(status: 503, text: "")],
            otherwise: .answer(text: "x"))
        let bench = try Bench(server: server, ["UTTER_KEEP_AUDIO": "1d"])
        _ = try await bench.run("send", "-c", "retry.never=true", Clip.goForward.path)
        let id = try #require(try bench.onlyTake()?.id)
        for _ in 0..<2 {
            _ = try await bench.run("retry", "-c", "retry.never=true", "--format", "ogg-opus", id)
        }
        _ = try await bench.run("retry", id)
        let keys = server.requests.map { $0["Idempotency-Key"] }
        #expect(
            keys == ["\"\(id)\"", "\"\(id)-ogg-opus\"", "\"\(id)-ogg-opus\"", "\"\(id)-4\""])
        // The same bytes each time.
        #expect(server.requests[1].body == server.requests[2].body)
    }

    @Test func aSecondTryThatIsKilledTakesNothingAway() async throws {
        let server = try RecordingServer(
            scripts: [.answer(text: "good")], otherwise: [.readHead, .readOn])
        let bench = try Bench(server: server, ["UTTER_KEEP_AUDIO": "1d"])
        _ = try await bench.run("send", Clip.goForward.path)
        let run = try bench.start(["retry", "last"])
        #expect(await server.wait(untilBytes: 1, ofRequest: 1) != nil)
        run.signal(SIGKILL)
        _ = try await run.result()
        #expect(try await bench.run("last").outputText == "good\n")
        #expect(try bench.onlyTake()?.manifest["state"] == .string("answered"))
        #expect(try await bench.run("flush").output.isEmpty)
    }

    @Test func aTextThatThePersonHasEditedStays() async throws {
        let server = try RecordingServer(
            scripts: [.answer(text: "a good cue")], otherwise: .answer(text: "the good cue"))
        let bench = try Bench(
            server: server, ["UTTER_KEEP_AUDIO": "1d", "EDITOR": "sed -i s/cue/queue/"])
        _ = try await bench.run("send", Clip.goForward.path)
        #expect(try await bench.run("edit", "last").outputText == "a good queue\n")
        let again = try await bench.run("retry", "last")
        #expect(again.outputText == "the good cue\n")
        let id = try #require(try bench.onlyTake()?.id.asInHints)
        #expect(
            again.errorText.contains(
                "utter: take \(id) keeps the text that you have edited\n"
                    + "utter: hint: see it and the service's with: utter show \(id)\n"),
            "\(again.errorText)")
        #expect(try await bench.here("last").outputText == "a good queue\n")
        #expect(try await bench.here("last", "--raw").outputText == "the good cue\n")
    }

    @Test func anAnsweredTakeCanBeRedoneElsewhere() async throws {
        let other = try RecordingServer(otherwise: .answer(text: "better"))
        let bench = try Bench(server: .hearing("huh"), ["UTTER_KEEP_AUDIO": ""])
        #expect(try await bench.run("send", Clip.goForward.path).outputText == "huh\n")
        #expect(try bench.onlyTake()?.samples == Clip.goForward.samples)
        #expect(
            try await bench.run("retry", "last", "--to", other.url()).outputText == "better\n")
        #expect(try await bench.here("last").outputText == "better\n")
    }
}
