// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import UtterCommands
@testable import UtterTerminal

/// `utter flush`, and two that send at once.
@Suite struct FlushTests {
    private let bench: Bench

    init() throws { bench = try Bench() }

    /// Leaves takes that could not be delivered, and were meant for `server`.
    private func keep(
        _ count: Int, for server: RecordingServer? = nil, on bench: Bench? = nil
    ) async throws -> [String] {
        let bench = bench ?? self.bench
        let url = server?.url() ?? "http://127.0.0.1:9/"
        let files = try (0..<count).map { _ in try bench.fresh(.goForward) }
        // All at once: none is skipped because another has failed.
        let result = try await bench.start(
            ["send", "-q", "--jobs", "\(count)", "-c", "retry.never=true", "--to", url] + files
        ).result()
        #expect(result.status == .exited(75))
        let ids = try bench.takes().map(\.id)
        #expect(ids.count == count)
        return ids
    }

    private func waiting() throws -> Int {
        try bench.takes().filter { try $0.manifest["state"] == .string("kept") }.count
    }

    @Test func aServiceThatRefusesTheKeyIsAskedOnce() async throws {
        let server = try RecordingServer(
            scripts: Array(repeating: .answer(status: 503, text: ""), count: 3),
            otherwise: .answer(status: 401, text: "who are you"))
        _ = try await keep(3, for: server)
        let before = server.requests.count
        let result = try await bench.run("flush")
        #expect(result.status == .exited(77))
        #expect(server.requests.count == before + 1)
        #expect(result.errorText.contains("skipping the other takes for http://127.0.0.1:"))
        #expect(result.errorText.contains("utter: 0 of 3 answered, 1 failed, 2 left\n"))
        #expect(try waiting() == 3)
        #expect(result.hasPlainErrors)
    }

    @Test func ofTheOnlyTakeNoOthersAreSkipped() async throws {
        let server = try RecordingServer(
            scripts: [.answer(status: 503, text: "")],
            otherwise: .answer(status: 401, text: "who are you"))
        let id = try #require(try await keep(1, for: server).first)
        let result = try await bench.run("flush")
        #expect(result.status == .exited(77))
        #expect(!result.errorText.contains("skipping"))
        let lines = result.errorText.split(separator: "\n")
        #expect(lines.first?.hasPrefix("utter: error: take \(id): the service ") == true)
        #expect(lines.dropFirst().first?.hasPrefix("utter: hint: ") == true)
    }

    @Test func whatIsTooMuchForOneRunIsSaidToWaitUntilNothingDoes() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "there"))
        _ = try await keep(3)
        let result = try await bench.run("flush", "--limit", "1", "--to", server.url())
        #expect(result.status == .exited(0))
        #expect(
            result.errorText.hasSuffix(
                "utter: 1 of 1 answered\nutter: 2 more takes wait\n"
                    + "utter: hint: send more with: utter flush --limit 3\n"))
        #expect(
            try await bench.run("flush", "-q", "--limit", "1", "--to", server.url()).errorText == ""
        )
        let rest = try await bench.run("flush", "--to", server.url())
        #expect(!rest.errorText.contains("more take"))
        #expect(try waiting() == 0)
        // Where nothing waits, a person is told so, and a timer is not; nor where there was never a take.
        let all = try await bench.run("retry", "all")
        #expect(all.status == .exited(0))
        #expect(all.errorText == "utter: no take waits for an answer\n")
        #expect(try await Bench().run("flush").error.isEmpty)
    }

    @Test func whatWasRefusedForGoodIsSentOnceAndNotAgain() async throws {
        let server = try RecordingServer(otherwise: .answer(status: 422, text: "no"))
        let sent = try await bench.run(
            "send", "-q", "--to", server.url(), bench.fresh(.goForward), bench.fresh(.goForward))
        #expect(sent.status == .exited(69))
        let flush = try await bench.run("flush")
        #expect(flush.status == .exited(0))
        #expect(
            flush.errorText.contains(
                "2 takes wait until something about them is changed: the service refused the "
                    + "recording: 422: no"))
        #expect(server.requests.count == 2)
        // The person may ask for it.
        #expect(try await bench.run("retry", "all").status == .exited(69))
        #expect(server.requests.count == 4)
    }

    /// An answer that cannot be read is no refusal of an upload.
    @Test func anUploadThatCanGoOnDoesSo() async throws {
        let state = ["Upload-Offset", "Upload-Length"].map { HeaderField($0, "89204") }
        let server = try RecordingServer(scripts: [
            .answer(status: 405, text: ""),
            .answer(status: 201, headers: [HeaderField("Location", "/files/1")], text: ""),
            .answer(text: #"{"nothing": 1}"#),
            .answer(status: 204, headers: state, text: ""), .answer(text: "heard"),
        ])
        let sent = try await bench.run(
            "send", "-q", "--service", "tus", "--to", server.url("/files/"), Clip.goForward.path)
        #expect(sent.status == .exited(76), "\(sent.errorText)")
        let flush = try await bench.run("flush")
        #expect(flush.outputText == "heard\n", "\(flush.errorText)")
        #expect(server.requests.map(\.method) == ["OPTIONS", "POST", "PATCH", "HEAD", "PATCH"])
        #expect(server.requests.last?.body.isEmpty == true)
    }

    @Test func ofTwoFlushesAtOnceNeitherSaysAnythingFalse() async throws {
        let (isSent, mayAnswer) = (Gate(), Gate())
        let server = try RecordingServer(
            scripts: [
                .answer(status: 503, text: ""), .answer(status: 503, text: ""),
                .answer(status: 503, text: ""),
                [
                    .readHead, .readBodyToEnd, .open(isSent), .stallUntil(mayAnswer),
                    .respond(status: 200, text: "one"),
                ],
            ], otherwise: .answer(text: "other"))
        // The audio stays, so that a second sending would be possible.
        let bench = try Bench(["UTTER_KEEP_AUDIO": "1d"])
        _ = try await keep(3, for: server, on: bench)
        let first = try bench.start(["flush"])
        #expect(await isSent.wait())
        let second = try await bench.run("flush")
        #expect(second.status == .exited(0))
        #expect(second.outputText == "other\nother\n")
        #expect(second.errorText.contains("2 of 2 answered\n"))
        mayAnswer.open()
        let result = try await first.result()
        #expect(result.status == .exited(0))
        #expect(result.outputText == "one\n")
        #expect(result.errorText.contains("1 of 3 answered, 2 gone or sent by another utter\n"))
        #expect(server.requests.count == 6)
    }

    @Test func ofTwoThatSendATakeOneIsRefused() async throws {
        let (isSent, mayAnswer) = (Gate(), Gate())
        let server = try RecordingServer(
            otherwise: [
                .readHead, .readBodyToEnd, .open(isSent), .stallUntil(mayAnswer),
                .respond(status: 200, text: "once"),
            ])
        let id = try await bench.keep().id
        let first = try bench.start(["retry", id, "--to", server.url()])
        #expect(await isSent.wait())
        let list = try await bench.run("list")
        #expect(list.outputText.hasPrefix(id.dropFirst(16).prefix(4)))
        #expect(list.outputText.contains("  sending  0:02.7  "))
        #expect(list.outputText.contains("by process \(first.processIdentifier)"))
        let second = try await bench.run("retry", id, "--to", server.url())
        #expect(second.status == .exited(75))
        let words = "is being sent by another utter (process \(first.processIdentifier))"
        #expect(second.errorText.contains(words))
        // Nothing waits but what is being sent.
        #expect(try await bench.run("flush", "--to", server.url()).output.isEmpty)
        #expect(try await bench.run("rm", id).status == .exited(75))
        mayAnswer.open()
        #expect(try await first.result().outputText == "once\n")
        #expect(server.requests.count == 1)
    }

    @Test func aResendThatWasKilledIsMarkedWhenItIsSentAgain() async throws {
        let isSent = Gate()
        let server = try RecordingServer(
            scripts: [[.readHead, .readBodyToEnd, .open(isSent), .readOn]],
            otherwise: .answer(text: "again"))
        let id = try await bench.keep().id
        let first = try bench.start(["retry", id, "--to", server.url()])
        #expect(await isSent.wait())
        first.signal(9)
        _ = try await first.result()
        let list = try await bench.run("list")
        #expect(
            list.outputText.contains("may have been delivered; the program ended while it was send")
        )
        let second = try await bench.run("flush", "--to", server.url())
        #expect(second.outputText == "again\n")
        #expect(second.errorText.contains("sent twice"))
        let numbers = server.requests.map { $0["Utter-Attempt"] }
        // The first attempt was the one that could not be delivered.
        #expect(numbers == ["2", "3"])
    }

    @Test func ctrlCLeavesWhatIsNotAnsweredAsItWas() async throws {
        let isSent = Gate()
        let server = try RecordingServer(
            otherwise: [.readHead, .readBodyToEnd, .open(isSent), .readOn])
        _ = try await keep(2)
        let flush = try bench.start(["flush", "--to", server.url()])
        #expect(await isSent.wait())
        flush.signal(2)
        let result = try await flush.result()
        #expect(result.status == .exited(130))
        #expect(result.errorText.contains("0 of 2 answered, 2 left"))
        #expect(try waiting() == 2)
    }

    @Test func retryUndoesACancel() async throws {
        let hasBegun = Gate()
        let server = try RecordingServer(
            scripts: [[.readHead, .open(hasBegun), .readOn]], otherwise: .answer(text: "after all"))
        let bench = try Bench(server: server)
        let run = try bench.start(["send", "--pace", "realtime", Clip.goForward.path])
        #expect(await hasBegun.wait())
        // What has no audio is not kept.
        _ = try #require(await server.wait(untilBytes: 1))
        run.signal(2)
        _ = try await run.result()
        #expect(try bench.onlyTake()?.manifest["state"] == .string("cancelled"))
        #expect(try await bench.run("retry", "last").outputText == "after all\n")
    }

    @Test(arguments: [1, 10, 20, 40, 80, 200])
    func theBarFitsTheTerminal(_ columns: Int) {
        var count = BatchCount("flush", total: 500)
        (count.answered, count.failed, count.left) = (300, 100, 100)
        let bar = count.screen(at: .now).lines(
            columns: columns, rows: 24, hasColour: false, at: .now)[0]
        #expect(bar.count < max(columns, 2))
        if columns >= 80 { #expect(bar.hasSuffix("▏ 500/500, 100 failed")) }
    }
}
