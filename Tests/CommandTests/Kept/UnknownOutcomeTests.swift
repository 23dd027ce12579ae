// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// The whole recording was sent, and no answer came: resend, keep, or ask.
@Suite struct UnknownOutcomeTests {
    /// Loses the first answer; knows a recording again.
    private let server: RecordingServer
    private let bench: Bench

    init() throws {
        let ledger = TakeLedger()
        server = try RecordingServer(
            scripts: [
                [.readHead, .readBodyToEnd, .perform { _ = ledger.answer($0) }, .reset]
            ], otherwise: ledger.script)
        bench = try Bench(server: server)
    }

    private func ask(_ answer: String) async throws -> CommandResult {
        let terminal = try PseudoTerminal()
        let run = try bench.start(
            ["send", "--json", "-c", "retry.unknown=ask", Clip.digits.path], input: .terminal,
            terminal: terminal)
        #expect(await run.wait(for: "[y/N] ", in: .screen))
        #expect(server.requests.count == 1)
        try terminal.type(answer)
        return try await run.result()
    }

    @Test func yesSendsItAgainUnderTheSameIdWithItsHash() async throws {
        let result = try await ask("y\n")
        #expect(result.status == .exited(0))
        let requests = server.requests
        #expect(requests.map { $0["Utter-Attempt"] } == ["1", "2"])
        #expect(Set(requests.map { $0["Idempotency-Key"] }).count == 1)
        #expect(requests.last?["Content-Digest"]?.hasPrefix("sha-256=:") == true)
        let report = try ParsedJSON(result.output)
        #expect(report["mayBeDoubled"] == .bool(true))
        #expect(report["attempts"]?[0]?["number"] == .number(1))
        #expect(report["attempts"]?[1]?["number"] == .number(2))
        #expect(report["attempts"]?[2] == nil)
        // The person knows.
        #expect(!result.screenText.contains("sent twice"))
    }

    @Test func noKeepsIt() async throws {
        let result = try await ask("n\n")
        #expect(result.status == .exited(75))
        #expect(server.requests.count == 1)
        #expect(try bench.onlyTake()?.manifest["state"] == .string("kept"))
        #expect(result.screenText.contains("utter retry"))
    }

    /// Without a terminal there is no person to ask.
    @Test(arguments: ["keep", "ask"])
    func whatIsKeptByThatWordIsSentAgainOnlyByAPerson(_ word: String) async throws {
        let sent = try await bench.run("send", "-c", "retry.unknown=\(word)", Clip.digits.path)
        #expect(sent.status == .exited(75))
        #expect(!sent.errorText.contains("[y/N]"))
        let take = try #require(try bench.onlyTake())
        let id = take.id
        #expect(try take.manifest["delivery"]?["unknownOutcome"] == .string(word))
        for options in [[], ["-c", "method=PUT"]] {
            let flush = try await bench.start(["flush"] + options).result()
            #expect(flush.status == .exited(0))
            #expect(
                flush.errorText
                    == "utter: take \(id) may have been delivered, and is not sent again unasked\n"
                    + "utter: hint: send it again with: utter retry \(id.asInHints)\n")
        }
        #expect(server.requests.count == 1)
        let words = "may have been delivered, and is not sent again unasked; "
        #expect(try await bench.here("list").outputText.contains(words))
        #expect(
            try await bench.here("show").outputText.contains(
                "all of it was sent, and no answer came; it is not sent again unasked\n"))
        // The person knows that it is sent twice.
        let retry = try await bench.run("retry", "last")
        #expect(retry.status == .exited(0))
        #expect(!retry.errorText.contains("sent twice"))
        #expect(server.requests.map { $0["Utter-Attempt"] } == ["1", "2"])
    }

    @Test func theWordHoldsForATakeWhoseProgramWasKilled() async throws {
        let isSent = Gate()
        let server = try RecordingServer(
            otherwise: [.readHead, .readBodyToEnd, .open(isSent), .readOn])
        let bench = try Bench(server: server)
        let send = try bench.start(["send", "-c", "retry.unknown=keep", Clip.digits.path])
        #expect(await isSent.wait())
        send.signal(9)
        _ = try await send.result()
        #expect(try await bench.run("flush").status == .exited(0))
        #expect(server.requests.count == 1)
    }

    @Test func anotherWordForAFlushSendsItAgainAndSaysSo() async throws {
        _ = try await bench.run("send", "-c", "retry.unknown=keep", Clip.digits.path)
        // Who wants no status is told all the same.
        let flush = try await bench.run("flush", "-q", "-c", "retry.unknown=resend")
        #expect(flush.status == .exited(0))
        #expect(flush.errorText.contains("sent twice"))
        #expect(server.requests.count == 2)
    }

    @Test func aResendThatThePersonAsksForIsNoNews() async throws {
        let silence = [ServerStep].answer(text: #"{"text":""}"#)
        let server = try RecordingServer(
            scripts: [silence, silence, silence], otherwise: .answer(text: "heard"))
        let bench = try Bench(server: server)
        for command in [
            ["send", Clip.digits.path], ["send", Clip.digits.path], ["retry", "last"],
        ] {
            let result = try await bench.start(command).result()
            #expect(result.status == .exited(1), "\(result.errorText)")
            #expect(!result.errorText.contains("sent twice"))
        }
        let all = try await bench.run("retry", "all")
        #expect(all.outputText == "heard\n")
        #expect(!all.errorText.contains("sent twice"))
        #expect(server.requests.count == 4)
    }

    /// Attempts in the report = requests that were seen; whole ones = commits.
    @Test func everyAttemptIsInTheReport() async throws {
        let ledger = TakeLedger()
        let server = try RecordingServer(
            scripts: [
                [.readHead, .readBody(bytes: 20_000), .reset],
                [.readHead, .readBodyToEnd, .perform { _ = ledger.answer($0) }, .close],
            ], otherwise: ledger.script)
        // As it was spoken: at once, all of it is in the kernel's hands before the reset comes.
        let result = try await Bench(server: server).run(
            "send", "--json", "--pace", "realtime", Clip.digits.path)
        #expect(result.status == .exited(0))
        let report = try ParsedJSON(result.output)
        #expect(server.requests.map { $0["Utter-Attempt"] } == ["1", "2", "3"])
        let attempts = (0..<4).compactMap { report["attempts"]?[$0] }
        #expect(attempts.map { $0["number"] } == [1, 2, 3].map { .number($0) })
        #expect(attempts.map { $0["bodyComplete"] } == [false, true, true].map { .bool($0) })
        #expect(report["mayBeDoubled"] == .bool(true))
        #expect(ledger.entries.map(\.attempts) == [["2", "3"]])
        #expect(ledger.entries.first?.body == (try Clip.digits.samples))
    }
}
