// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `utter list`, `show`, `last`, `export`, `rm`, `flush`, and what is kept at all.
@Suite struct KeptTakesTests {
    @Test func theListSaysWhatWaitsAndWhy() async throws {
        let bench = try Bench()
        let take = try await bench.keep()
        let list = try await bench.run("list")
        #expect(
            list.outputText.contains(
                #/^\w{4}  today \d\d:\d\d +\w+( min)?  kept  0:02\.7  cannot /#))
        #expect(list.outputText.hasPrefix(take.shortName + "  "))
        #expect(list.outputText.split(separator: "\n").count == 1)
        let json = try JSONText(try await bench.run("list", "--json").output)
        #expect(json[0]?["state"] == .string("kept"))
    }

    @Test func anEmptyListIsEmpty() async throws {
        let bench = try Bench()
        let list = try await bench.run("list")
        #expect(list.status == .exited(0))
        #expect(list.output.isEmpty)
    }

    @Test func showSaysWhyTheLastTakeWaits() async throws {
        let bench = try Bench()
        let take = try await bench.keep()
        let shown = try await bench.run("show")
        #expect(shown.outputText.contains("take        \(take.id)\n"))
        #expect(shown.outputText.contains("reason      cannot connect to "))
    }

    @Test func aTakeThatIsNotThereIsStatus66() async throws {
        let result = try await (try Bench()).run("show", "2099")
        #expect(result.status == .exited(66))
        #expect(result.errorText.contains("utter: error: there is no take '2099'\n"))
    }

    @Test func lastPrintsTheTranscriptOnceMore() async throws {
        let bench = try Bench(server: .hearing("say it again"))
        #expect(try await bench.run("last").status == .exited(1))
        _ = try await bench.run("send", Clip.goForward.path)
        let last = try await bench.run("last")
        #expect(last.status == .exited(0))
        #expect(last.outputText == "say it again\n")
    }

    @Test func anExportThatFailsSaysWhy() async throws {
        let bench = try Bench()
        let take = try await bench.keep()
        let path = bench.folder.path("out.wav")
        #expect(try await bench.run("export", take.id, path).status == .exited(0))
        let nowhere = try await bench.run("export", take.id, "/nowhere/out.wav")
        #expect(nowhere.status == .exited(74))
        #expect(
            nowhere.errorText.contains(
                "cannot write '/nowhere/out.wav': No such file or directory\n"))
        // What exists is never overwritten.
        let again = try await bench.run("export", take.id, path)
        #expect(again.status == .exited(74))
        #expect(again.errorText.contains("'\(path)' exists already\n"))
    }

    @Test func anExportToStandardOutputIsTheFileItself() async throws {
        let bench = try Bench()
        let take = try await bench.keep()
        let result = try await bench.run("export", "last", "-")
        #expect(result.output == (try readFile(take.path + "/audio.wav")))
    }

    @Test func whatWaitsForItsAnswerIsNotRemovedByAge() async throws {
        let bench = try Bench()
        let take = try await bench.keep()
        #expect(try await bench.run("rm", "--answered").status == .exited(0))
        #expect(try await bench.run("rm", "--older", "0d").status == .exited(0))
        #expect(try bench.onlyTake()?.id == take.id)
        #expect(try await bench.run("rm").status == .exited(64))
    }

    @Test func rmByAgeAndStateRemovesWhatIsBoth() async throws {
        let server = try RecordingServer(
            scripts: [.answer(text: "one"), [.readHead, .readOn]], otherwise: .answer(text: "two"))
        let bench = try Bench(server: server)
        _ = try await bench.run("send", Clip.goForward.path)
        let run = try bench.start(["send", "--pace", "realtime", Clip.speech.path])
        _ = try #require(await server.wait(untilBytes: 3_200, ofRequest: 1))
        run.signal(2)
        #expect(try await run.result().status == .exited(130))
        let states = { try bench.takes().map { try $0.manifest["state"] } }
        #expect(try states() == [.string("answered"), .string("cancelled")])
        // Nothing is that old.
        #expect(try await bench.run("rm", "--answered", "--older", "7d").status == .exited(0))
        #expect(try await bench.run("rm", "--older", "7d").status == .exited(0))
        #expect(try bench.takes().count == 2)
        #expect(try await bench.run("rm", "--answered", "--older", "0").status == .exited(0))
        #expect(try states() == [.string("cancelled")])
        #expect(try await bench.run("rm", "--older", "0d").status == .exited(0))
        #expect(try bench.takes().isEmpty)
    }

    @Test func aTakeIsSentAgainWhereItWasMeantToGo() async throws {
        let meant = try RecordingServer(
            scripts: [.answer(status: 503, text: "")], otherwise: .answer(text: "meant"))
        let usual = try RecordingServer(otherwise: .answer(text: "usual"))
        let bench = try Bench(server: usual)
        let failed = try await bench.run(
            "send", "-c", "retry.never=true", "--to", meant.url("/there"), Clip.goForward.path)
        #expect(failed.status == .exited(75))
        #expect(try await bench.run("retry", "last").outputText == "meant\n")
        #expect(usual.connectionCount == 0)
        let again = try await bench.run("retry", "last")
        #expect(again.status == .exited(66))
        #expect(again.errorText.contains("no take waits for an answer"))
        let id = try #require(try bench.onlyTake()?.id)
        let answered = try await bench.run("retry", id)
        #expect(answered.errorText.contains("\(id) has been answered, and its audio deleted\n"))
        for command in [["retry", id], ["export", id, "-"], ["play", id]] {
            #expect(try await bench.start(command).result().status == .exited(66), "\(command)")
        }
        #expect(try await bench.run("show", id).outputText.contains("audio       deleted\n"))
    }

    @Test func controlsInATranscriptDoNotReachTheTerminal() async throws {
        let server = try RecordingServer(
            otherwise: .answer(
                headers: [HeaderField("Content-Type", "application/json")],
                text: #"{"text":"evil \u001b[31mred"}"#))
        let bench = try Bench(server: server)
        _ = try await bench.run("send", Clip.goForward.path)
        for command in [["list"], ["show", "last"], ["last"]] {
            #expect(try await !bench.start(command).result().output.contains(0x1B))
        }
    }

    @Test func aTakeWhoseProgramWasKilledIsInTheList() async throws {
        let server = try RecordingServer(otherwise: [.readHead, .readOn])
        let bench = try Bench(server: server)
        // Its input does not end, and so neither does the recording.
        let run = try bench.start(["send", "--pace", "max", "-"], input: .pipe)
        let spoken = Array(try Clip.speech.samples.prefix(32_000))
        run.write(spoken)
        #expect(await server.wait(untilBytes: spoken.count) != nil)
        run.signal(SIGKILL)
        _ = try await run.result()
        let list = try await bench.run("list")
        let take = try #require(try bench.onlyTake())
        #expect(
            list.outputText.hasSuffix(
                "  kept  0:01.0  may have been delivered; "
                    + "the program ended while it was recording\n"))
        #expect(try take.samples == spoken)
    }

    @Test func showNamesWhereATakeWentAtLast() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "there"))
        let bench = try Bench()
        let take = try await bench.keep()
        #expect(
            try await bench.run("show", "last").outputText.contains(
                "service     http://127.0.0.1:9/\n"))
        let retry = try await bench.run("retry", take.id, "--to", server.url())
        #expect(retry.outputText == "there\n")
        let shown = try await bench.run("show", take.id).outputText
        #expect(shown.contains("service     \(server.url())\n"))
        #expect(shown.contains(", by http://127.0.0.1:9/\n"))
        // Where it was to go before is still known.
        let json = try JSONText(try await bench.run("show", "--json", take.id).output)
        #expect(json["url"] == .string(server.url()))
        #expect(json["history"]?[0]?["url"] == .string("http://127.0.0.1:9/"))
        #expect(json["history"]?[1]?["url"] == nil)
    }

    @Test func audioThatHasBeenDeletedHasNoPath() async throws {
        let bench = try Bench(server: .hearing("done"))
        let kept = try await bench.keep()
        _ = try await bench.run("send", Clip.goForward.path)
        let list = try JSONText(try await bench.run("list", "--json").output)
        #expect(list[0]?["path"] == .string("\(kept.path)/audio.wav"))
        #expect(list[1]?["state"] == .string("answered"))
        #expect(list[1]?["path"] == nil)
        let shown = try JSONText(try await bench.run("show", "--json", "last").output)
        #expect(shown["path"] == nil)
        let before = try JSONText(try await bench.run("show", "--json", kept.id).output)
        #expect(before["path"] == .string("\(kept.path)/audio.wav"))
    }

    @Test func whatARefusedConnectionSaysIsSaidOnce() async throws {
        let bench = try Bench()
        let result = try await bench.run(
            "send", "-c", "retry.never=true", "--to", "http://127.0.0.1:9/", Clip.goForward.path)
        #expect(
            result.errorText.contains(
                "utter: error: cannot connect to http://127.0.0.1:9: Connection refused\n"))
        // A proxy that refuses is named.
        let behind = try Bench(["http_proxy": "http://127.0.0.1:9/"])
        let other = try await behind.run(
            "send", "-c", "retry.never=true", "--to", "http://speech.example/", Clip.goForward.path)
        #expect(
            other.errorText.contains(
                "cannot connect to http://speech.example: 127.0.0.1 port 9: Connection refused\n"),
            "\(other.errorText)")
    }

    @Test func nothingTouchesTheDiskWithNoKeep() async throws {
        let bench = try Bench(server: .hearing("gone"))
        let result = try await bench.run("send", "--no-keep", Clip.goForward.path)
        #expect(result.outputText == "gone\n")
        #expect(!result.errorText.contains("warning"))
        #expect(try !bench.folder.names().contains("state"))
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
