// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioDevices
@testable import Utter

/// Microphones that misbehave, each told while it records.
@Suite struct TakeSignalTests {
    @Test func aHeadsetThatBeginsLateIsAwaited() async throws {
        let card = try VirtualMicrophone()
        card.setHanging()
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let take = try bench.start(Microphone(device: card.deviceName), to: server.url())
        let log = EventLog(take)
        #expect(await log.wait { $0.signal == .absent })
        card.setHanging(false)
        #expect(await log.wait { $0.isBegun })
        #expect(await log.wait { $0.signal == .good })
        take.stop()
        #expect(try await take.end().result.get().text == "heard")
        #expect(card.account.starts == 1)
        let events = try await log.all()
        let absent = try #require(events.firstIndex { $0.signal == .absent })
        let begun = try #require(events.firstIndex { $0.isBegun })
        #expect(absent < begun)
    }

    @Test func aCardThatIsStuckIsStartedAnew() async throws {
        let card = try VirtualMicrophone()
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let take = try bench.start(Microphone(device: card.deviceName), to: server.url())
        _ = try #require(await server.wait(untilBytes: 16_000))
        card.setStuck()
        let before = server.requests.first?.body.count ?? 0
        _ = try #require(await server.wait(untilBytes: before + 48_000))
        take.stop()
        let outcome = try await take.end()
        #expect(outcome.capture.cause == .finished)
        #expect(card.account.starts == 2)
        let account = outcome.account
        #expect(account.gapFrames > 0)
        #expect(account.capturedFrames + account.gapFrames == account.encodedFrames)
        #expect(outcome.capture.gaps.allSatisfy { $0.cause == .overrun })
    }

    @Test func aCardThatHangsForGoodIsToldBeforeTheTakeEnds() async throws {
        let card = try VirtualMicrophone()
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let take = try bench.start(Microphone(device: card.deviceName), to: server.url())
        let log = EventLog(take)
        _ = try #require(await server.wait(untilBytes: 16_000))
        card.setHanging()
        #expect(await log.wait { $0.signal == .absent })
        let outcome = try await take.end()
        #expect(
            outcome.capture.cause
                == .source(.deviceSilent(device: card.deviceName, seconds: 5)))
        #expect(try outcome.result.get().text == "heard")
    }

    @Test func whatWasAgreedOnIsTold() async throws {
        let card = try VirtualMicrophone(.builtIn)
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let take = try bench.start(
            Microphone(device: card.deviceName, period: .milliseconds(50)), to: server.url())
        let log = EventLog(take)
        #expect(await log.wait { $0.isBegun })
        take.stop()
        let details = try #require(try await take.end().capture.details)
        #expect(details.format == StreamFormat(sampleRate: 48_000, channelCount: 2))
        #expect(details.sampleFormat == "S16_LE")
        #expect(details.periodFrames == card.account.period)
        #expect(details.bufferFrames == card.account.buffer)
        // 7 ms of them are the converter's.
        #expect(details.periodFrames == 43 * 48)
        let told = try await log.all().contains {
            if case .negotiated(details) = $0 { true } else { false }
        }
        #expect(told)
    }
}
