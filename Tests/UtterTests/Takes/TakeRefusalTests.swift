// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Utter

/// What the service says against a take, while it is being spoken or after.
@Suite struct TakeRefusalTests {
    private let bench: Bench
    private let period = TestSignal.voice(frames: 320, sampleRate: 16_000)

    init() throws { bench = try Bench() }

    @Test func anEarlyRefusalIsToldWhileTheVoiceStillSpeaks() async throws {
        let server = try RecordingServer(
            scripts: [
                [
                    .readHead, .readBody(bytes: 640), .respond(status: 401, text: "bad key"),
                    .readOn,
                ]
            ])
        let (speaker, take, log) = try bench.speak(to: server.url())
        speaker.say(period)
        #expect(await log.wait { $0.isRefused })
        // The speaker goes on; what follows is recorded all the same.
        #expect(!log.log.value.events.contains { $0.isCaptured })
        speaker.say(period)
        speaker.say(period)
        speaker.fallSilent()
        let outcome = try await take.end()
        #expect(
            outcome.result
                == .failure(.tokenRefused(status: 401, message: "bad key", advice: .tokenMissing)))
        #expect(outcome.capture.cause == .finished)
        #expect(outcome.account.capturedFrames == 960)
        let journal = try readFile(try #require(outcome.audioPath))
        #expect(Array(journal.dropFirst(44)) == WAVBytes.pcm(period + period + period))
        #expect(try #require(await server.finishedRequest()).lastChunkAt == nil)
        let manifest = try await bench.manifest(of: take)
        #expect(manifest.state == .kept)
        #expect(
            manifest.reason == "the service wants a token, and none was given: 401: bad key")
        #expect(manifest.byteCount == journal.count)
        #expect(manifest.frames == 960)
        #expect(manifest.attempts == 1)
    }

    @Test(
        arguments: [
            (403, "why", .tokenRefused(status: 403, message: "why", advice: .tokenMissing)),
            (413, "why", .refused(status: 413, message: "why")),
            (700, "why", .responseUnusable(reason: "its status is 700")),
            (200, "", .answerUnusable(.empty)),
            (200, "{\"text\":", .answerUnusable(.truncated(byteCount: 8))),
        ] as [(Int, String, TakeFailure)])
    func aRefusalAfterTheBodyIsTheOutcome(
        _ status: Int, _ text: String, _ failure: TakeFailure
    ) async throws {
        let server = try RecordingServer(otherwise: .answer(status: status, text: text))
        let take = try bench.replay(period, to: server.url())
        let outcome = try await take.end()
        #expect(outcome.result == .failure(failure))
        #expect(server.requests.count == 1)
        #expect(try await bench.manifest(of: take).state == .kept)
        #expect(try await bench.files(of: take).contains("audio.wav"))
    }

    // MARK: - Redirects

    private func redirect(
        to location: String, afterBytes count: Int
    ) -> [ServerStep] {
        [
            .readHead, .readBody(bytes: count),
            .respond(
                status: 307,
                headers: [HeaderField("Location", location), HeaderField("Connection", "close")]),
            .readOn,
        ]
    }

    @Test func aRedirectAfterHalfTheBodyIsFollowedFromTheStart() async throws {
        let server = try RecordingServer(
            scripts: [redirect(to: "/there", afterBytes: 1_280)],
            otherwise: .answer(text: "heard"))
        let (speaker, take, log) = try bench.speak(to: server.url("/here"))
        speaker.say(period)
        speaker.say(period)
        #expect(await log.wait { $0.resending == 2 })
        // The second transfer catches up, and follows the voice.
        #expect(await server.wait(untilBytes: 1_280, ofRequest: 1) != nil)
        speaker.say(period)
        #expect(await server.wait(untilBytes: 1_920, ofRequest: 1) != nil)
        speaker.fallSilent()
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "heard")
        #expect(outcome.attempts.count == 2)
        let (first, second) = (server.requests[0], server.requests[1])
        #expect(server.requests.map(\.target) == ["/here", "/there"])
        #expect(server.requests.map { $0["Utter-Attempt"] } == ["1", "2"])
        #expect(first["Idempotency-Key"] == second["Idempotency-Key"])
        #expect(first.lastChunkAt == nil)
        #expect(second.body == WAVBytes.pcm(period + period + period))
        #expect(outcome.account.sentBytes == second.body.count)
    }

    @Test(arguments: [false, true])
    func anotherOriginIsUsedOnlyWhenItIsAllowedByName(isAllowed: Bool) async throws {
        let other = try RecordingServer(otherwise: .answer(text: "heard there"))
        let server = try RecordingServer(
            scripts: [redirect(to: other.url("/there"), afterBytes: 640)])
        let take = try bench.replay(period, to: server.url()) {
            if isAllowed {
                $0.delivery.redirectOrigins = [try Origin(other.url())]
            } else {
                $0.delivery.service.credentials = [try Credential(secret: "secret")]
            }
        }
        let outcome = try await take.end()
        if case .failure(.redirectRefused(let location, _)) = outcome.result {
            #expect(!isAllowed)
            #expect(location == other.url("/there"))
            #expect(other.connectionCount == 0)
            #expect(try await bench.manifest(of: take).state == .kept)
        } else {
            #expect(isAllowed)
            #expect(try outcome.result.get().text == "heard there")
            let request = try #require(await other.finishedRequest())
            #expect(request.body == WAVBytes.pcm(period))
            #expect(request["Utter-Attempt"] == "2")
        }
    }

    @Test func aRedirectLoopEnds() async throws {
        let server = try RecordingServer(otherwise: redirect(to: "/again", afterBytes: 640))
        let outcome = try await bench.replay(period, to: server.url()).end()
        guard case .failure(.redirectRefused(_, let reason)) = outcome.result else {
            Issue.record("\(outcome.result)")
            return
        }
        #expect(reason == "it is redirect number 6")
        #expect(server.requests.count == 6)
        #expect(outcome.attempts.count == 6)
        #expect(server.requests.map { $0["Utter-Attempt"] } == (1...6).map { "\($0)" })
    }
}
