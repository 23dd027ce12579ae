// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing
import Utter

@testable import UtterCommands

/// Which takes are sent unasked, in which order, and that none holds up another.
@Suite struct FlushQueueTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// A take with so many failures, the last of which ended so long ago.
    private func take(
        _ number: Int, failures: Int? = nil, ago: TimeInterval = 0, isHeld: Bool? = nil
    ) throws -> TakeManifest {
        var manifest = TakeManifest(
            id: try #require(TakeID("20261121-06000\(number)-abcdefghjkmn")), created: now,
            audio: "audio.wav", format: "pcm", source: "default", url: "http://service/")
        manifest.state = .kept
        manifest.failures = failures
        manifest.isHeld = isHeld
        manifest.beginTransfer(1, at: now - ago, to: "http://service/")
        manifest.endTransfer(1, "answered", at: now - ago, status: 500, wasWhole: false)
        return manifest
    }

    private func queue(
        _ takes: [TakeManifest], isAsked: Bool = false, isChanged: Bool = false
    ) -> FlushQueue {
        FlushQueue(
            takes, isAsked: isAsked, now: now, isChanged: { _ in isChanged },
            isDoubtful: { $0.isDoubtful }, isOld: { _ in false })
    }

    private func numbers(_ takes: [TakeManifest]) -> [Int] {
        takes.compactMap { Int($0.id.text.dropFirst(14).prefix(1)) }
    }

    @Test func whatHasFailedGoesBehindWhatHasNot() throws {
        let day = 90_000.0
        let queue = queue([
            try take(1, failures: 3, ago: day), try take(2), try take(3, failures: 1, ago: day),
            try take(4), try take(5, failures: 3, ago: day),
        ])
        #expect(numbers(queue.due) == [2, 4, 3, 1, 5])
    }

    @Test(arguments: [
        (1, 0.0, true), (2, 899, false), (2, 900, true), (3, 1_799, false), (3, 1_800, true),
        (9, 86_399, false), (9, 86_400, true), (1_000, 86_400, true),
        // The clock has gone back: the time of the failure says nothing.
        (2, -1, false),
    ])
    func eachFailureDoublesThePauseOfItsOwnTake(
        failures: Int, ago: TimeInterval, isDue: Bool
    ) throws {
        let queue = queue([try take(1, failures: failures, ago: ago), try take(2)])
        #expect(numbers(queue.due) == (isDue ? [2, 1] : [2]))
        #expect(numbers(queue.later) == (isDue ? [] : [1]))
    }

    @Test func whatWasRefusedForGoodWaitsForAChange() throws {
        let takes = [try take(1, isHeld: true), try take(2)]
        #expect(numbers(queue(takes).due) == [2])
        #expect(numbers(queue(takes).held) == [1])
        #expect(numbers(queue(takes, isChanged: true).due) == [1, 2])
        #expect(numbers(queue(takes, isAsked: true).due) == [1, 2])
    }

    // MARK: - With the program

    private func keep(_ count: Int, at url: String, in bench: Bench) async throws {
        for _ in 0..<count {
            _ = try await bench.run(
                "send", "-q", "--no-retry", "--to", url, bench.fresh(.goForward))
        }
    }

    /// Answers by the path of the request.
    private func server() throws -> RecordingServer {
        try RecordingServer(
            otherwise: [
                .readHead, .readBodyToEnd,
                .respondBy { request in
                    switch request.target {
                    case "/ok":
                        request["Utter-Attempt"] == "1"
                            ? ServerAnswer(status: 503, text: "not yet")
                            : ServerAnswer(status: 200, text: "heard")
                    case "/redirect":
                        ServerAnswer(
                            status: 307,
                            headers: [HeaderField("Location", "https://other.example/")], text: "")
                    default:
                        ServerAnswer(status: Int(request.target.dropFirst()) ?? 404, text: "no")
                    }
                },
            ])
    }

    @Test(arguments: [("/500", 3), ("/401", 1), ("/404", 0), ("/redirect", 0)])
    func badOldTakesHoldUpNoOther(path: String, tries: Int) async throws {
        let server = try server()
        let bench = try Bench()
        try await keep(3, at: server.url(path), in: bench)
        try await keep(3, at: server.url("/ok"), in: bench)
        let before = server.requests.count
        let flush = try await bench.run("flush", "--no-retry")
        #expect(flush.outputText == "heard\nheard\nheard\n", "\(flush.errorText)")
        // Of the others, only what time or another token may mend has been tried.
        let tried = server.requests.dropFirst(before).map(\.target)
        #expect(tried.count { $0 == path } == tries, "\(tried)")
    }

    @Test func whatWasRefusedForGoodIsSentOnceAndNotAgain() async throws {
        let server = try server()
        let bench = try Bench()
        for path in ["/400", "/404", "/413", "/415", "/422"] {
            try await keep(1, at: server.url(path), in: bench)
        }
        for _ in 0..<3 {
            let flush = try await bench.run("flush")
            #expect(flush.status == .exited(0))
            #expect(flush.errorText.contains("5 takes wait until something about them is changed"))
        }
        #expect(server.requests.count == 5)
        // The person may ask for it.
        #expect(try await bench.run("retry", "all").status == .exited(69))
        #expect(server.requests.count == 10)
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
        try await keep(3, at: server.url(), in: bench)
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

    @Test func aTakeThatIsRemovedBesideAFlushIsNoFailure() async throws {
        let (isSent, mayAnswer) = (Gate(), Gate())
        let server = try RecordingServer(
            scripts: [
                .answer(status: 503, text: ""), .answer(status: 503, text: ""),
                [
                    .readHead, .readBodyToEnd, .open(isSent), .stallUntil(mayAnswer),
                    .respond(status: 200, text: "one"),
                ],
            ], otherwise: .answer(text: "other"))
        let bench = try Bench()
        try await keep(2, at: server.url(), in: bench)
        let flush = try bench.start(["flush"])
        #expect(await isSent.wait())
        let waiting = try #require(
            try bench.takes().first { try $0.manifest["state"] == .string("kept") })
        #expect(try await bench.run("rm", waiting.id).status == .exited(0))
        mayAnswer.open()
        let result = try await flush.result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.errorText.contains("1 of 2 answered, 1 gone or sent by another utter\n"))
    }
}
