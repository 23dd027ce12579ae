// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing
import Utter

@testable import UtterCommands

/// `utter flush`, and two that send at once.
@Suite struct FlushTests {
    /// Leaves takes that could not be delivered, and were meant for `server`.
    private func keep(_ count: Int, for server: RecordingServer? = nil, in bench: Bench)
        async throws
        -> [String]
    {
        var ids: [String] = []
        for _ in 0..<count {
            let result = try await bench.run(
                "send", "-q", "--no-retry", "--to", server?.url() ?? "http://127.0.0.1:9/",
                try bench.fresh(.goForward))
            #expect(result.status == .exited(75))
            // Names of one second sort by chance.
            ids += try bench.takes().map(\.id).filter { !ids.contains($0) }
        }
        return ids
    }

    private func waiting(_ bench: Bench) throws -> Int {
        try bench.takes().filter { try $0.manifest["state"] == .string("kept") }.count
    }

    @Test func aServiceThatRefusesTheKeyIsAskedOnce() async throws {
        let server = try RecordingServer(
            scripts: Array(repeating: .answer(status: 503, text: ""), count: 3),
            otherwise: .answer(status: 401, text: "who are you"))
        let bench = try Bench()
        _ = try await keep(3, for: server, in: bench)
        let before = server.requests.count
        let result = try await bench.run("flush")
        #expect(result.status == .exited(77))
        #expect(server.requests.count == before + 1)
        let origin = "http://127.0.0.1:"
        #expect(result.errorText.contains("skipping the other takes for \(origin)"))
        #expect(result.errorText.contains("utter: 0 of 3 answered, 1 failed, 2 left\n"))
        #expect(try waiting(bench) == 3)
        #expect(result.hasPlainErrors)
    }

    @Test func ofTheOnlyTakeNoOthersAreSkipped() async throws {
        let server = try RecordingServer(
            scripts: [.answer(status: 503, text: "")],
            otherwise: .answer(status: 401, text: "who are you"))
        let bench = try Bench()
        let id = try #require(try await keep(1, for: server, in: bench).first)
        let result = try await bench.run("flush")
        #expect(result.status == .exited(77))
        #expect(!result.errorText.contains("skipping"))
        let lines = result.errorText.split(separator: "\n")
        #expect(lines.first?.hasPrefix("utter: error: take \(id): the service ") == true)
        #expect(lines.dropFirst().first?.hasPrefix("utter: hint: ") == true)
    }

    @Test func whatIsTooMuchForOneRunIsSaidToWait() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "there"))
        let bench = try Bench()
        _ = try await keep(3, in: bench)
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
        #expect(try waiting(bench) == 0)
    }

    @Test func aServiceThatIsDownDoesNotKeepAnotherFromItsTakes() async throws {
        let server = try RecordingServer(
            scripts: [.answer(status: 503, text: "")], otherwise: .answer(text: "there"))
        let bench = try Bench()
        _ = try await keep(2, in: bench)
        _ = try await keep(1, for: server, in: bench)
        let result = try await bench.run("flush", "--no-retry")
        #expect(result.status == .exited(75))
        #expect(result.outputText == "there\n")
        #expect(result.errorText.contains("1 of 3 answered, 1 failed, 1 left"))
        #expect(try waiting(bench) == 2)
    }

    @Test func answersArePrintedInOrderHoweverManyAreSentAtOnce() async throws {
        let server = try RecordingServer(
            otherwise: [
                .readHead, .readBodyToEnd,
                .respondBy { request in
                    let key = request.headers.first { $0.name.lowercased() == "idempotency-key" }
                    return ServerAnswer(status: 200, text: key?.value ?? "")
                },
            ])
        let bench = try Bench()
        let ids = try await keep(4, in: bench)
        let result = try await bench.run("flush", "--jobs", "3", "--to", server.url())
        #expect(result.outputText == ids.map { "\"\($0)\"\n" }.joined())
        #expect(result.errorText.contains("utter: 4 of 4 answered\n"))
    }

    @Test func ofTwoThatSendATakeOneIsRefused() async throws {
        let isSent = Gate()
        let mayAnswer = Gate()
        let server = try RecordingServer(
            otherwise: [
                .readHead, .readBodyToEnd, .open(isSent), .stallUntil(mayAnswer),
                .respond(status: 200, text: "once"),
            ])
        let bench = try Bench()
        let id = try #require(try await keep(1, in: bench).first)
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
        let bench = try Bench()
        let id = try #require(try await keep(1, in: bench).first)
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
        let numbers = server.requests.map { request in
            request.headers.first { $0.name.lowercased() == "utter-attempt" }?.value
        }
        // The first attempt was the one that could not be delivered.
        #expect(numbers == ["2", "3"])
    }

    @Test func ctrlCLeavesWhatIsNotAnsweredAsItWas() async throws {
        let isSent = Gate()
        let server = try RecordingServer(
            otherwise: [.readHead, .readBodyToEnd, .open(isSent), .readOn])
        let bench = try Bench()
        _ = try await keep(2, in: bench)
        let flush = try bench.start(["flush", "--to", server.url()])
        #expect(await isSent.wait())
        flush.signal(2)
        let result = try await flush.result()
        #expect(result.status == .exited(130))
        #expect(result.errorText.contains("0 of 2 answered, 2 left"))
        #expect(try waiting(bench) == 2)
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

    // MARK: - The parts

    private func service(_ url: String, token: String? = nil) throws -> ServiceGate.Service {
        .init(
            try RecognitionService(
                url: ServiceURL(url), credential: try token.map { try Credential(secret: $0) }))
    }

    @Test func theGateClosesAnOriginAtOnceForWhatConcernsAllOfIt() throws {
        let hopeless: [TakeFailure] = [
            .insecure(reason: "", host: ""), .notTLS(reason: "", host: ""),
            .notDelivered(.cannotConnect(""), host: ""),
            .notDelivered(.cannotResolve(""), host: ""),
        ]
        for failure in hopeless {
            var gate = ServiceGate()
            gate.note(failure, at: try service("http://a/x"))
            #expect(gate.reason(against: try service("http://a/x")) == failure.description)
            #expect(gate.reason(against: try service("http://a/y")) == failure.description)
            #expect(gate.reason(against: try service("http://b/x")) == nil)
        }
    }

    @Test func aRefusedTokenClosesItsOwnURLWithThatTokenOnly() throws {
        var gate = ServiceGate()
        gate.note(
            .tokenRefused(status: 401, message: nil), at: try service("http://a/x", token: "1"))
        #expect(gate.reason(against: try service("http://a/x", token: "1")) != nil)
        #expect(gate.reason(against: try service("http://a/x", token: "2")) == nil)
        #expect(gate.reason(against: try service("http://a/y", token: "1")) == nil)
    }

    @Test func aForeignRedirectClosesItsOwnURLOnly() throws {
        var gate = ServiceGate()
        gate.note(.redirectRefused(location: "", reason: ""), at: try service("http://a/x"))
        #expect(gate.reason(against: try service("http://a/x")) != nil)
        #expect(gate.reason(against: try service("http://a/x?y")) == nil)
    }

    @Test func theGateIsPatientWithWhatMayBeTheTakesOwnFault() throws {
        let service = try service("http://a/x")
        let broken = TakeFailure.unavailable(status: 500, message: nil)
        var gate = ServiceGate()
        for failure in Array(repeating: broken, count: 7) + [.refused(status: 422, message: nil)]
            + Array(repeating: broken, count: 7) + [nil] + Array(repeating: broken, count: 7)
        {
            gate.note(failure, at: service)
        }
        #expect(gate.reason(against: service) == nil)
        gate.note(broken, at: service)
        #expect(gate.reason(against: service) != nil)
    }

    @Test func aServiceThatSaysThatItIsBusyIsBelievedTheSecondTime() throws {
        let service = try service("http://a/x")
        var gate = ServiceGate()
        gate.note(.unavailable(status: 503, message: nil), at: service)
        #expect(gate.reason(against: service) == nil)
        gate.note(.unavailable(status: 429, message: nil), at: service)
        #expect(gate.reason(against: service) != nil)
    }

    @Test(arguments: [1, 10, 20, 40, 80, 200])
    func theBarFitsTheTerminal(_ columns: Int) {
        var count = BatchCount("flush", total: 500)
        (count.answered, count.failed, count.left) = (300, 100, 100)
        let bar = count.lines(columns: columns, rows: 24, hasColour: false, at: .now)[0]
        #expect(bar.count < max(columns, 2))
        if columns >= 80 { #expect(bar.hasSuffix("▏ 500/500, 100 failed")) }
    }
}
