// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// `utter list`, `show`, `last`, `export`, `rm`, `flush`, and what is kept at all.
@Suite struct KeptTakesTests {
    @Test func whatWaitsIsListedWithTheReason() async throws {
        let bench = try Bench()
        let empty = try await bench.here("list")
        #expect(empty.status == .exited(0) && empty.output.isEmpty)
        #expect(try await bench.here("last").status == .exited(1))
        let take = try await bench.keep()
        let list = try await bench.here("list")
        #expect(
            list.outputText.contains(
                #/^\w{4}  today \d\d:\d\d +\w+( min)?  kept  0:02\.7  cannot /#))
        #expect(list.outputText.hasPrefix(take.shortName + "  "))
        #expect(list.outputText.split(separator: "\n").count == 1)
    }

    @Test func anExportIsTheFileItselfOrSaysWhyItFails() async throws {
        let bench = try Bench()
        let take = try await bench.keep()
        let audio = try readFile(take.path + "/audio.wav")
        #expect(try await bench.here("export", "last", "-").output == audio)
        // What exists is never overwritten.
        let path = try bench.folder.write([1], to: "out.wav")
        for (path, reason) in [
            ("/nowhere/out.wav", "cannot write '/nowhere/out.wav': No such file or directory\n"),
            (path, "'\(path)' exists already\n"),
        ] {
            let result = try await bench.here("export", take.id, path)
            #expect(result.status == .exited(74))
            #expect(result.errorText.contains(reason))
        }
        #expect(try readFile(path) == [1])
    }

    @Test func rmByAgeAndStateRemovesWhatIsBoth() async throws {
        let server = try RecordingServer(
            scripts: [.answer(text: "one"), [.readHead, .readOn]], otherwise: .answer(text: "two"))
        let bench = try Bench(server: server)
        // What waits for its answer stays.
        let kept = try await bench.keep()
        _ = try await bench.run("send", Clip.goForward.path)
        let run = try bench.start(["send", "--pace", "realtime", Clip.speech.path])
        _ = try #require(await server.wait(untilBytes: 3_200, ofRequest: 1))
        run.signal(2)
        #expect(try await run.result().status == .exited(130))
        let states = { try bench.takes().map { try $0.manifest["state"] } }
        #expect(try states() == ["kept", "answered", "cancelled"].map { .string($0) })
        // Nothing is that old.
        #expect(try await bench.here("rm", "--answered", "--older", "7d").status == .exited(0))
        #expect(try await bench.here("rm", "--older", "7d").status == .exited(0))
        #expect(try bench.takes().count == 3)
        #expect(try await bench.here("rm", "--answered", "--older", "0").status == .exited(0))
        #expect(try states() == ["kept", "cancelled"].map { .string($0) })
        #expect(try await bench.here("rm", "--older", "0d").status == .exited(0))
        #expect(try bench.onlyTake()?.id == kept.id)
    }

    @Test func whatWasAnsweredHasNoAudioAndIsNotSentAgain() async throws {
        let bench = try Bench(server: .hearing("heard"))
        _ = try await bench.run("send", Clip.goForward.path)
        let again = try await bench.run("retry", "last")
        #expect(again.status == .exited(66))
        #expect(again.errorText.contains("no take waits for an answer"))
        let id = try #require(try bench.onlyTake()?.id)
        for command in [["retry", id], ["play"]] {
            let result = try await bench.start(command).result()
            #expect(result.status == .exited(66), "\(command)")
            #expect(
                result.errorText.contains("\(id) has been answered, and its audio deleted\n"),
                "\(result.errorText)")
        }
        #expect(try await bench.here("export", id, "-").status == .exited(66))
        let list = try ParsedJSON(try await bench.here("list", "--json").output)
        #expect(list[0]?["state"] == .string("answered"))
        #expect(list[0]?["path"] == nil)
        let shown = try ParsedJSON(try await bench.here("show", "--json", id).output)
        #expect(shown["path"] == nil)
    }

    @Test func controlsInATranscriptDoNotReachTheTerminal() async throws {
        let bench = try Bench(server: .hearing(#"{"text":"evil \u001b[31mred"}"#))
        _ = try await bench.run("send", Clip.goForward.path)
        for command in ["list", "show", "last"] {
            #expect(try await !bench.here(command).output.contains(0x1B))
        }
    }

    @Test func showTellsEveryAttemptAndWhereItWent() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "there"))
        let bench = try Bench()
        let take = try await bench.keep()
        let before = try ParsedJSON(try await bench.here("show", "--json", "last").output)
        #expect(before["state"] == .string("kept"))
        #expect(before["attempts"] == .number(1))
        #expect(before["history"]?[0]?["number"] == .number(1))
        #expect(before["history"]?[0]?["wasWhole"] == .bool(false))
        #expect(before["history"]?[0]?["ending"]?.string?.contains("cannot connect") == true)
        #expect(before["path"] == .string("\(take.path)/audio.wav"))
        let text = try await bench.here("show", "last").outputText
        #expect(text.contains("\n  1         20"))
        #expect(text.contains("service     http://127.0.0.1:9/\n"))
        #expect(!text.contains("sha256") && !text.contains("format"))
        let more = try await bench.here("show", "-v").outputText
        #expect(more.contains("\nsha256      ") && more.contains("\nformat      pcm\n"))
        let retry = try await bench.run("retry", take.id, "--to", server.url())
        #expect(retry.outputText == "there\n")
        let shown = try await bench.here("show", take.id).outputText
        #expect(shown.contains("service     \(server.url())\n"))
        #expect(shown.contains(", by http://127.0.0.1:9/\n"))
        // Where it was to go before is still known.
        let json = try ParsedJSON(try await bench.here("show", "--json", take.id).output)
        #expect(json["url"] == .string(server.url()))
        #expect(json["history"]?[0]?["url"] == .string("http://127.0.0.1:9/"))
        #expect(json["history"]?[1]?["url"] == nil)
    }

    @Test func aFlawOfAFileIsToldAgainWhenItsTakeIsSent() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "there"))
        let bench = try Bench()
        let path = try bench.folder.write(
            Array(try readFile(Clip.goForward.path).dropLast(20_001)), to: "cut.wav")
        let kept = try await bench.run("send", "-c", "retry.never=true", path)
        let warning = try #require(
            kept.errorText.split(separator: "\n").first { $0.contains("warning: ") })
        let retry = try await bench.run("retry", "last", "--to", server.url())
        #expect(retry.outputText == "there\n")
        #expect(retry.errorText.contains(warning), "\(kept.errorText) \(retry.errorText)")
    }

    @Test func requireKeepRecordsNothingThatCannotBeKept() async throws {
        let server = try RecordingServer()
        let bench = try Bench(server: server, ["XDG_STATE_HOME": "/dev/null"])
        let result = try await bench.run("send", "-c", "keep.required=true", Clip.goForward.path)
        #expect(result.status == .exited(74))
        #expect(result.errorText.contains("utter: error: takes cannot be kept in "))
        #expect(server.connectionCount == 0)
    }
}
