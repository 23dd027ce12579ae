// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Capture

@Suite struct WAVReplayPaceTests {
    private let folder: TemporaryFolder
    private let samples = TestSignal.voice(frames: 16_100, sampleRate: 16_000)

    init() throws {
        folder = try TemporaryFolder()
    }

    private func path() throws -> String {
        try folder.write(WAVBytes.speech(samples), to: "voice.wav")
    }

    @Test func inRealTimeEachPeriodComesWhenItsLastFrameExists() throws {
        let clock = ManualClock()
        let source = FileReplay(path: try path(), pace: .realTime, now: clock.now)
        let recorded = try source.record(clock: clock)
        #expect(recorded.samples == samples)
        #expect(recorded.deliveries.count == 51)
        for (index, delivery) in recorded.deliveries.dropLast().enumerated() {
            #expect(delivery == Delivery(frameCount: 320, elapsed: .milliseconds(20 * (index + 1))))
        }
        // The last 100 frames are 6.25 ms, and are not kept back for a whole period.
        #expect(
            recorded.deliveries.last
                == Delivery(frameCount: 100, elapsed: .microseconds(1_006_250)))
    }

    @Test func atTwiceThePaceEverythingComesInHalfTheTime() throws {
        let clock = ManualClock()
        let source = FileReplay(path: try path(), pace: .times(2), now: clock.now)
        let recorded = try source.record(clock: clock)
        #expect(recorded.samples == samples)
        #expect(
            recorded.deliveries.first == Delivery(frameCount: 320, elapsed: .milliseconds(10)))
        #expect(recorded.deliveries.last?.elapsed == .microseconds(503_125))
    }

    @Test(arguments: [Pace.unpaced, .times(0), .times(-1), .times(.nan), .times(.infinity)])
    func unpacedTheClockIsNotAsked(pace: Pace) throws {
        let clock = ManualClock()
        let source = FileReplay(path: try path(), pace: pace, now: clock.now)
        let recorded = try source.record(clock: clock)
        #expect(recorded.samples == samples)
        #expect(clock.elapsed == .zero)
    }

    @Test func aLateReaderGetsWhatIsDuePeriodByPeriodAndIsThenOnTime() throws {
        let clock = ManualClock()
        let source = FileReplay(path: try path(), now: clock.now)
        _ = try source.open()
        defer { source.close() }
        var received: [Int16] = []
        #expect(
            try source.readOnce(room: 4_096, into: &received)
                == .wait(.until(clock.start + .milliseconds(20))))
        clock.advance(by: .milliseconds(50))
        #expect(try source.readOnce(room: 4_096, into: &received) == .frames(320))
        #expect(try source.readOnce(room: 4_096, into: &received) == .frames(320))
        #expect(
            try source.readOnce(room: 4_096, into: &received)
                == .wait(.until(clock.start + .milliseconds(60))))
        clock.advance(by: .milliseconds(1_000))
        #expect(try source.readOnce(room: 320, into: &received) == .frames(320))
        #expect(received == Array(samples.prefix(960)))
    }

    @Test func aBufferSmallerThanAPeriodStillGetsEverything() throws {
        let clock = ManualClock()
        let source = FileReplay(path: try path(), now: clock.now)
        let recorded = try source.record(clock: clock, room: 33)
        #expect(recorded.samples == samples)
    }

    @Test func aStopEndsTheReplayAfterWhatWasDelivered() throws {
        let clock = ManualClock()
        let source = FileReplay(path: try path(), now: clock.now)
        _ = try source.open()
        var received: [Int16] = []
        _ = try source.readOnce(room: 4_096, into: &received)
        clock.advance(by: .milliseconds(20))
        #expect(try source.readOnce(room: 4_096, into: &received) == .frames(320))
        clock.advance(by: .milliseconds(500))
        source.requestStop()
        #expect(try source.readOnce(room: 4_096, into: &received) == .end)
        #expect(received.count == 320)
        source.close()
        source.close()
    }

    @Test func periodsOfOddRatesDoNotDrift() throws {
        let clock = ManualClock()
        let samples = TestSignal.voice(frames: 11_025 * 5, sampleRate: 11_025)
        let path = try folder.write(WAVBytes.speech(samples, rate: 11_025), to: "odd.wav")
        let recorded = try FileReplay(path: path, now: clock.now).record(clock: clock)
        #expect(recorded.samples == samples)
        #expect(clock.elapsed == .seconds(5))
    }
}
