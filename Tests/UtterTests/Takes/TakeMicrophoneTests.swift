// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioDevices
@testable import Utter

/// Takes from a sound card with a real-time clock.
@Suite(.serialized) struct TakeMicrophoneTests {
    private let card: VirtualMicrophone
    private let server: RecordingServer
    private let bench: Bench

    init() throws {
        card = try VirtualMicrophone()
        server = try RecordingServer(otherwise: .answer(text: "heard"))
        bench = try Bench()
    }

    private func start(
        change: (inout TakePlan) throws -> Void = { _ in }
    ) throws -> (take: Take, log: EventLog) {
        let device = card.deviceName
        let take = try bench.start(
            Microphone(device: device), to: server.url(), change: change)
        return (take, EventLog(take))
    }

    /// The number of samples that the service has heard, which the card said from its start on.
    private func heardCount() async throws -> Int {
        let body = try #require(await server.finishedRequest()).body
        let count = body.count / 2
        #expect(body == VirtualMicrophone.pcm(count))
        return count
    }

    @Test func aSpokenTakeIsWholeWithItsTailAndTellsItsStagesInOrder() async throws {
        let (take, log) = try start()
        #expect(await log.wait { $0.isBegun })
        _ = try #require(await server.wait(untilBytes: 16_000))
        take.stop()
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "heard")
        #expect(outcome.answerDelay != nil)
        let heardCount = try await heardCount()
        #expect(heardCount >= 8_000)
        #expect(outcome.account.gapFrames == 0)
        #expect(outcome.account.capturedFrames == heardCount)
        #expect(outcome.capture.cause == .finished)
        #expect(outcome.capture.gaps.isEmpty)
        #expect(card.account.closes == 1)
        let events = try await log.all()
        let told: [(TakeEvent) -> Bool] = [
            { $0.isListening }, { $0.isBegun }, { $0.isCaptured }, { $0.isSent },
        ]
        let places = told.map { isIt in events.indices.filter { isIt(events[$0]) } }
        #expect(places.allSatisfy { $0.count == 1 })
        #expect(places.flatMap(\.self) == places.flatMap(\.self).sorted())
        // A period after the device was started at the earliest.
        let first = try #require(outcome.times.firstFrame)
        #expect(first > .zero)
        #expect(first <= (try #require(outcome.times.stopped)))
    }

    @Test(arguments: [VirtualMicrophone.Unplugging.withRing, .afterRing])
    func whatALostMicrophoneHeardIsSent(_ way: VirtualMicrophone.Unplugging) async throws {
        let take = try start().take
        _ = try #require(await server.wait(untilBytes: 16_000))
        card.unplug(way)
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "heard")
        guard case .source(.deviceLost) = outcome.capture.cause else {
            Issue.record("\(outcome.capture.cause)")
            return
        }
        let heardCount = try await heardCount()
        #expect(heardCount >= 8_000)
        #expect(outcome.account.encodedFrames == heardCount)
    }

    // MARK: - A press inside the tail, and what a take tells of its beginning and its end

    @Test func aPressInsideTheTailGoesOnWithTheTake() async throws {
        let (take, log) = try start {
            // So long that no load of the machine makes the press late.
            $0.capture.tail = Tail(
                quiet: .seconds(600), usual: .seconds(600), longest: .seconds(600))
        }
        #expect(await log.wait { $0.isBegun })
        take.stop()
        take.resume()
        #expect(await log.wait { $0.isResumed })
        let before = card.account.captured
        _ = try #require(await server.wait(untilBytes: 2 * before + 16_000))
        // That is an end, too.
        card.unplug(.afterRing)
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "heard")
        #expect(outcome.account.gapFrames == 0)
        #expect(outcome.times.stopped == nil)
        #expect(try await heardCount() >= before + 8_000)
        let events = try await log.all()
        #expect(events.count { $0.isResumed } == 1)
    }

    // MARK: - Microphones that misbehave, each told while it records

    @Test func aHeadsetThatBeginsLateIsAwaited() async throws {
        card.setHanging()
        let (take, log) = try start()
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
        let take = try start().take
        _ = try #require(await server.wait(untilBytes: 16_000))
        card.setStuck()
        let before = server.requests.first?.body.count ?? 0
        _ = try #require(await server.wait(untilBytes: before + 48_000))
        take.stop()
        let outcome = try await take.end()
        #expect(outcome.capture.cause == .finished)
        #expect(card.account.starts == 2)
        let (account, gaps) = (outcome.account, outcome.capture.gaps)
        #expect(account.gapFrames > 0)
        #expect(gaps.map(\.frames).reduce(0, +) == account.gapFrames)
        #expect(gaps.allSatisfy { $0.cause == .overrun })
        #expect(account.capturedFrames + account.gapFrames == account.encodedFrames)
        #expect(account.encodedFrames * 2 + 44 == account.encodedBytes)
        #expect(account.encodedBytes == account.journaledBytes)
        #expect(account.sentBytes == account.journaledBytes - account.bodyOffset)
        let body = try #require(await server.finishedRequest()).body
        #expect(body.count == 2 * account.encodedFrames)
    }

    @Test func aCardThatHangsForGoodIsToldBeforeTheTakeEnds() async throws {
        let (take, log) = try start()
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
