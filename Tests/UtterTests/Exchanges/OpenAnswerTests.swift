// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import Upload
@testable import Utter

/// Answers that say that they are complete, and whose stream stays open.
@Suite struct OpenAnswerTests {
    private let samples = [Int16](repeating: 1_000, count: 3_200)
    private static let head = ServerStep.beginResponse(
        status: 200, headers: [TestSupport.HeaderField("Content-Type", "text/event-stream")])
    private static let text = ServerStep.sendBodyChunk(
        text: "data: {\"text\":\"go forward\"}\n\ndata: [DONE]\n\n")

    /// The outcome of a take for which no deadline ends anything.
    private func outcome(_ answer: [ServerStep]) async throws -> (TakeOutcome, RecordingServer) {
        let server = try RecordingServer(otherwise: [.readHead, .readBodyToEnd] + answer)
        let bench = try Bench()
        let take = try bench.replay(samples, to: server.url()) { plan in
            plan.delivery.deadlines = TransferDeadlines(answer: .ages)
        }
        return (try await take.end(), server)
    }

    @Test func theMarkOfItsEndIsItsEnd() async throws {
        let (outcome, server) = try await outcome([Self.head, Self.text, .readOn])
        #expect(try outcome.result.get().text == "go forward")
        #expect(outcome.isWhole && outcome.attempts.count == 1)
        #expect(outcome.attempts.first?.result.ending == .answered)
        #expect(server.requests.count == 1)
    }

    /// The thread `answers` reads it, and the transfer thread learns of the mark from that.
    @Test func theMarkOfALongAnswerIsItsEnd() async throws {
        let events = (0..<4_000).map { "data: {\"text\":\"word \($0)\"}\n\n" }
        let (outcome, server) = try await outcome(
            [Self.head] + events.map { .sendBodyChunk(text: $0) }
                + [.sendBodyChunk(text: "data: [DONE]\n\n"), .readOn])
        let words = (0..<4_000).map { "word \($0)" }.joined(separator: " ")
        #expect(try outcome.result.get().text == words)
        #expect(outcome.attempts.first?.result.ending == .answered)
        #expect(server.requests.count == 1)
    }

    @Test func whatFollowsTheMarkIsNotRead() async throws {
        let event = Array("1a\r\ndata: {\"text\":\"and more\"}\n\r\n".utf8)
        let (outcome, _) = try await outcome([
            Self.head, Self.text, .sendAgainAndAgain(event, times: .max),
        ])
        #expect(try outcome.result.get().text == "go forward")
        #expect(outcome.attempts.count == 1)
    }

    @Test func anErrorInTheStreamIsToldAtOnce() async throws {
        let (outcome, _) = try await outcome([
            Self.head,
            .sendBodyChunk(text: "event: error\ndata: {\"error\":{\"message\":\"no room\"}}\n\n"),
            .readOn,
        ])
        guard case .failure(.answerUnusable(.serviceReported(let message, _))) = outcome.result
        else {
            Issue.record("\(outcome.result)")
            return
        }
        #expect(message == "no room")
        #expect(outcome.attempts.count == 1)
    }

    @Test func aMarkBeforeTheEndOfTheRecordingIsNoAnswerToAllOfIt() async throws {
        let server = try RecordingServer(
            scripts: [[.readHead, .readBody(bytes: 640), Self.head, Self.text, .readOn]],
            otherwise: .answer(text: "all of it"))
        let bench = try Bench()
        let speaker = try Speaker()
        let take = try bench.start(speaker.source, to: server.url())
        let log = EventLog(take)
        speaker.say([Int16](repeating: 1_000, count: 320))
        let isTold = await log.wait {
            if case .answeredEarly(status: 200, _, isResent: true) = $0 { true } else { false }
        }
        #expect(isTold)
        speaker.fallSilent()
        #expect(try await take.end().result.get().text == "all of it")
        #expect(server.requests.count == 2)
    }
}
