// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// `utter list`, `show`, `last`, `export`, `rm`, `flush`, and what is kept at all.
@Suite struct KeptTakesTests {
    /// A place with one take that could not be delivered.
    private func keep(
        _ bench: Bench, _ clip: Clip = .goForward, _ arguments: String...
    ) async throws -> KeptTake {
        let before = try bench.takes().map(\.id)
        let result = try await bench.start(
            ["send", "-q", "--no-retry", "--to", "http://127.0.0.1:9/"] + arguments + [clip.path]
        ).result()
        #expect(result.status == .exited(75))
        return try #require(try bench.takes().first { !before.contains($0.id) })
    }

    @Test func theListSaysWhatWaitsAndWhy() async throws {
        let bench = try Bench()
        let take = try await keep(bench)
        let list = try await bench.run("list")
        #expect(list.outputText.hasPrefix("\(take.id)  kept  0:02.7  cannot connect to "))
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

    @Test func aTakeIsNamedByTheBeginningOfItsName() async throws {
        let bench = try Bench()
        let take = try await keep(bench)
        let shown = try await bench.run("show", String(take.id.dropLast(3)))
        #expect(shown.outputText.contains("take        \(take.id)\n"))
        #expect(shown.outputText.contains("reason      cannot connect to "))
    }

    @Test func aTakeThatIsNotThereIsStatus66() async throws {
        let result = try await (try Bench()).run("show", "2099")
        #expect(result.status == .exited(66))
        #expect(result.errorText.contains("utter: error: there is no take '2099'\n"))
    }

    @Test func lastPrintsTheTranscriptOnceMore() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "say it again"))
        let bench = try Bench(server: server)
        #expect(try await bench.run("last").status == .exited(1))
        _ = try await bench.run("send", Clip.goForward.path)
        let last = try await bench.run("last")
        #expect(last.status == .exited(0))
        #expect(last.outputText == "say it again\n")
    }

    @Test(arguments: ["pcm", "ogg-opus"])
    func anExportedWAVHasItsTrueLength(_ format: String) async throws {
        let bench = try Bench()
        let take = try await keep(bench, .goForward, "--format", format)
        let path = bench.folder.path("out.wav")
        #expect(try await bench.run("export", take.id, path).status == .exited(0))
        let samples = try Clip.goForward.samples
        let wav = try readFile(path)
        #expect(wav.count == 44 + samples.count)
        let length = wav[40..<44].reversed().reduce(0) { $0 << 8 | Int($1) }
        #expect(length == samples.count)
        if format == "pcm" { #expect(Array(wav[44...]) == samples) }
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
        let take = try await keep(bench)
        let result = try await bench.run("export", "last", "-")
        #expect(result.output == (try readFile(take.path + "/audio.wav")))
    }

    @Test func rmRemovesWhatIsNamedAndNothingElse() async throws {
        let bench = try Bench()
        let (first, second) = (try await keep(bench), try await keep(bench, .digits))
        #expect(try await bench.run("rm", first.id).status == .exited(0))
        #expect(try bench.takes().map(\.id) == [second.id])
    }

    @Test func whatWaitsForItsAnswerIsNotRemovedByAge() async throws {
        let bench = try Bench()
        let take = try await keep(bench)
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
            "send", "--no-retry", "--to", meant.url("/there"), Clip.goForward.path)
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

    @Test func flushSendsAllThatWaitsOldestFirst() async throws {
        let server = try RecordingServer(
            scripts: [.answer(text: "one"), .answer(text: "two")],
            otherwise: .answer(text: "three"))
        let bench = try Bench(server: server)
        let kept = [try await keep(bench), try await keep(bench, .digits), try await keep(bench)]
            .map(\.id)
        let first = try await bench.run("flush", "--limit", "2", "--to", server.url())
        #expect(first.outputText == "one\ntwo\n")
        #expect(try await bench.run("flush", "--to", server.url()).outputText == "three\n")
        #expect(try await bench.run("flush").output.isEmpty)
        let bodies = server.requests.map(\.body.count)
        let sizes = [Clip.goForward, .digits, .goForward]
        #expect(try bodies == sizes.map { try $0.samples.count } || kept != kept.sorted())
        for take in try bench.takes() {
            #expect(try take.manifest["state"] == .string("answered"))
            #expect(take.names == ["take.json"])
        }
    }

    @Test func aTakeWhoseProgramWasKilledIsInTheList() async throws {
        let server = try RecordingServer(otherwise: [.readHead, .readOn])
        let bench = try Bench(server: server)
        let run = try bench.start(["send", "--pace", "realtime", Clip.speech.path])
        #expect(await server.wait(untilBytes: 32_000) != nil)
        run.signal(9)
        _ = try await run.result()
        let list = try await bench.run("list")
        #expect(list.outputText.contains("  kept  "))
        #expect(list.outputText.contains("the program ended while it was "))
        let take = try #require(try bench.onlyTake())
        let samples = try #require(try take.samples)
        #expect(samples.count >= 32_000)
        #expect(try Clip.speech.samples.starts(with: samples))
    }

    @Test func nothingTouchesTheDiskWithNoKeep() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "gone"))
        let bench = try Bench(server: server)
        let result = try await bench.run("send", "--no-keep", Clip.goForward.path)
        #expect(result.outputText == "gone\n")
        #expect(!result.errorText.contains("warning"))
        #expect(try !bench.folder.names().contains("state"))
    }

    @Test func requireKeepRecordsNothingThatCannotBeKept() async throws {
        let server = try RecordingServer()
        let bench = try Bench(server: server, ["XDG_STATE_HOME": "/dev/null"])
        let result = try await bench.run("send", "--require-keep", Clip.goForward.path)
        #expect(result.status == .exited(74))
        #expect(result.errorText.contains("utter: error: takes cannot be kept in "))
        #expect(server.connectionCount == 0)
    }
}
