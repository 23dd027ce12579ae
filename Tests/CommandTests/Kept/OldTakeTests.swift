// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

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
        let before = try bench.takes().map(\.id)
        try clock.jump(to: -daysAgo * Self.day)
        let result = try await bench.run("send", "-q", "-c", "retry.never=true", clip.path)
        #expect(result.status == .exited(75))
        try clock.jump(to: 0)
        try restart()
        return try #require(try bench.takes().map(\.id).first { !before.contains($0) })
    }

    /// Has the clock look as if the machine had been off since it was seen last.
    private func restart() throws {
        let words = String(decoding: try bench.folder.read("state/utter/clock"), as: UTF8.self)
            .split(separator: " ")
        try bench.folder.write(
            Array("\(words[0]) \(words[1]) 0 another\n".utf8), to: "state/utter/clock")
    }

    @Test func whatIsTooOldIsNamedAndLeft() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "young"))
        let old = try await keep(.digits, daysAgo: 40)
        let young = try await keep(.goForward, daysAgo: 20)
        let list = try await bench.run("list").outputText.split(separator: "\n")
        #expect(list.first?.hasPrefix(old.dropFirst(16).prefix(4)) == true)
        #expect(
            list.first?.contains("  40 d  kept  0:02.4  too old to be sent unasked; cannot ")
                == true)
        #expect(list.last?.contains("too old") == false)
        let json = try JSONText(try await bench.run("list", "--json").output)
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

        let asked = try await bench.run("retry", old, "--to", server.url())
        #expect(asked.status == .exited(0))
        #expect(server.requests.count == 2)
    }

    @Test func whoAsksForAllGetsAll() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "well"))
        _ = try await keep(.digits, daysAgo: 40)
        let all = try await bench.run("retry", "all", "--to", server.url())
        #expect(all.status == .exited(0))
        #expect(all.outputText == "well\n")
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
