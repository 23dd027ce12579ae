// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// A wall clock that is set by ten years loses nothing, hurries nothing, and hides nothing.
@Suite struct ClockTests {
    static let jumps = [ClockJump.tenYears, -ClockJump.tenYears]

    @Test(arguments: jumps)
    func aJumpInMidTakeChangesNothingOfIt(_ jump: Int) async throws {
        let (card, clock) = (try VirtualMicrophone(), try ClockJump())
        let server = try RecordingServer.hearing("no time")
        let bench = try Bench(server: server, microphone: card, clock.environment)
        let run = try bench.start(["--json", "--keep-audio", "1d"])
        _ = try #require(await server.wait(untilBytes: 8_000))
        try clock.jump(to: jump)
        _ = try #require(await server.wait(untilBytes: 32_000))
        run.signal(SIGUSR1)
        let result = try await run.result()
        #expect(result.status == .exited(0))
        let object = try ParsedJSON(result.output)
        #expect(object["text"] == .string("no time"))
        #expect(object["gaps"] == .array([]))
        let body = try #require(server.requests.first?.body)
        let isRight = body == VirtualMicrophone.pcm(body.count / 2)
        #expect(isRight)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: jumps)
    func aJumpWhileTheServiceIsDownMakesNoBurstOfAttempts(_ jump: Int) async throws {
        let (card, clock) = (try VirtualMicrophone(), try ClockJump())
        let server = try RecordingServer(otherwise: [
            .readHead, .respond(status: 503, text: "later"), .close,
        ])
        let bench = try Bench(server: server, microphone: card, clock.environment)
        let run = try bench.start([])
        _ = try #require(await server.finishedRequest(1))
        try clock.jump(to: jump)
        // The pauses go on to double: 0.5 s, then 1 s.
        _ = try #require(await server.finishedRequest(3))
        run.signal(SIGTERM)
        #expect(try await run.result().status == .exited(143))
        // From before an answer was sent until after the next request came: a busy machine makes it
        // longer only.
        let requests = server.requests
        for (index, pause) in [250, 500, 1_000].enumerated() {
            let answered = try #require(requests[index].sentAt.first)
            let begun = try #require(requests[index + 1].headEndedAt)
            #expect(begun - answered >= .milliseconds(pause))
        }
        #expect(try bench.onlyTake()?.manifest["state"] == .string("kept"))
    }

    @Test(arguments: jumps)
    func aDateInRetryAfterIsNoReasonToWaitForYears(_ jump: Int) async throws {
        let clock = try ClockJump()
        try clock.jump(to: jump)
        let server = try RecordingServer(
            scripts: [
                .answer(
                    status: 503,
                    headers: [HeaderField("Retry-After", "Sat, 21 Nov 2026 12:00:00 GMT")],
                    text: "later")
            ], otherwise: .answer(text: "sooner"))
        let bench = try Bench(server: server, clock.environment)
        let result = try await bench.run("send", Clip.digits.path)
        // A clock that is behind asks for a pause of years, which is kept for another day.
        #expect(result.status == .exited(jump > 0 ? 0 : 75))
        #expect(server.requests.count == (jump > 0 ? 2 : 1))
        if jump < 0 { #expect(try bench.onlyTake()?.samples == Clip.digits.samples) }
    }

    @Test func whatWaitsForItsAnswerOutlivesEveryJump() async throws {
        let clock = try ClockJump()
        let server = try RecordingServer(otherwise: .answer(text: "at last"))
        let bench = try Bench(clock.environment)
        for (jump, clip) in zip([0] + Self.jumps, [Clip.digits, .goForward, .cards]) {
            try clock.jump(to: jump)
            _ = try await bench.keep(clip)
        }
        #expect(try bench.takes().count == 3)
        // Each of these sweeps what is over its time.
        for jump in Self.jumps {
            try clock.jump(to: jump)
            #expect(try await bench.run("list").outputText.split(separator: "\n").count == 3)
        }
        try clock.jump(to: 0)
        let flushed = try await bench.run("flush", "--to", server.url())
        #expect(flushed.status == .exited(0))
        #expect(flushed.outputText == "at last\nat last\nat last\n")
        // The order is that in which they were recorded, whatever the clock said.
        let sent = server.requests.map { $0.body }
        let expected = try [Clip.digits, .goForward, .cards].map { try $0.samples }
        #expect(sent == expected)
    }
}

/// What has waited so long that it is not sent unasked.
@Suite struct OldTakeTests {
    private static let day = 86_400

    private let clock: ClockJump
    private let bench: Bench

    init() throws {
        clock = try ClockJump()
        bench = try Bench(clock.environment)
    }

    /// Leaves a take that began so many days ago.
    private func keep(_ clip: Clip, daysAgo: Int) async throws -> String {
        try clock.jump(to: -daysAgo * Self.day)
        let take = try await bench.keep(clip)
        try clock.jump(to: 0)
        try bench.restartMachine()
        return take.id
    }

    @Test func whatIsTooOldIsNamedAndLeftUntilItIsAskedFor() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "young"))
        let old = try await keep(.digits, daysAgo: 40)
        let young = try await keep(.goForward, daysAgo: 20)
        let list = try await bench.run("list").outputText.split(separator: "\n")
        #expect(list.first?.hasPrefix(old.dropFirst(16).prefix(4)) == true)
        #expect(
            list.first?.contains("  40 d  kept  0:02.4  too old to be sent unasked; cannot ")
                == true)
        #expect(list.last?.contains("too old") == false)
        let json = try ParsedJSON(try await bench.run("list", "--json").output)
        #expect(json[0]?["tooOld"] == .bool(true))
        #expect(json[1]?["tooOld"] == nil)

        let flushed = try await bench.run("flush", "--to", server.url())
        #expect(flushed.status == .exited(0))
        #expect(flushed.outputText == "young\n")
        #expect(
            flushed.errorText.contains(
                "utter: take \(old) is too old to be sent unasked\n"
                    + "utter: hint: send what is old with: utter retry \(old.asInHints)\n"))
        #expect(server.requests.map { $0["Idempotency-Key"] } == ["\"\(young)\""])
        // A timer does not fail for ever, and says nothing.
        let quiet = try await bench.run("flush", "-q", "--to", server.url())
        #expect(quiet.status == .exited(0))
        #expect(quiet.errorText.isEmpty)

        let retry = try await bench.run("retry", old, "--to", server.url())
        #expect(retry.status == .exited(0))
        #expect(retry.outputText == "young\n")
        #expect(server.requests.count == 2)
    }

    @Test func whatIsTooOldIsSentWithAll() async throws {
        let server = try RecordingServer.hearing("old")
        _ = try await keep(.digits, daysAgo: 40)
        #expect(try await bench.run("flush", "-q", "--to", server.url()).output.isEmpty)
        let retry = try await bench.run("retry", "all", "--to", server.url())
        #expect(retry.status == .exited(0))
        #expect(retry.outputText == "old\n")
        #expect(server.requests.count == 1)
    }

    @Test func theAgeIsAnOptionAndAVariable() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "well"))
        _ = try await keep(.digits, daysAgo: 10)
        let left = try await bench.run("flush", "--max-age", "9d", "--to", server.url())
        #expect(left.errorText.contains("is too old to be sent unasked"))
        let variable = ["UTTER_MAX_AGE": "9d"]
        let list = try await bench.start(["list"], variables: variable).result()
        #expect(list.outputText.contains("too old to be sent unasked; "))
        #expect(
            list.errorText
                == "utter: 1 take waits for an answer, the oldest for 10 days\n"
                + "utter: hint: send what waits with: utter retry all\n")
        #expect(server.connectionCount == 0)
        // The option wins.
        let sent = try await bench.start(
            ["flush", "--max-age", "11d", "--to", server.url()], variables: variable
        ).result()
        #expect(sent.outputText == "well\n")
    }
}
