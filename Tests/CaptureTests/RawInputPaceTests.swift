// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import AudioCore
@testable import Capture

/// Raw samples are replayed at a pace as a WAV file is.
@Suite struct RawInputPaceTests {
    private let samples = TestSignal.voice(frames: 16_100, sampleRate: 16_000)

    private func source(
        _ pipe: TestPipe, pace: Pace, _ clock: ManualClock, prefix: [UInt8] = []
    ) -> FileReplay {
        FileReplay.samples(
            of: pipe.readEnd, name: "standard input", rawFormat: .speech, pace: pace,
            prefix: prefix, now: clock.now)
    }

    @Test func inRealTimeEachPeriodComesWhenItsLastFrameExists() throws {
        let clock = ManualClock()
        let bytes = WAVBytes.pcm(samples)
        let pipe = try TestPipe(Array(bytes.dropFirst(4)))
        let recorded = try source(
            pipe, pace: .realTime, clock, prefix: Array(bytes.prefix(4))
        ).record(clock: clock)
        #expect(recorded.samples == samples)
        #expect(recorded.deliveries.count == 51)
        for (index, delivery) in recorded.deliveries.dropLast().enumerated() {
            #expect(delivery == Delivery(frameCount: 320, elapsed: .milliseconds(20 * (index + 1))))
        }
        #expect(
            recorded.deliveries.last
                == Delivery(frameCount: 100, elapsed: .microseconds(1_006_250)))
    }

    @Test func atTwiceThePaceEverythingComesInHalfTheTime() throws {
        let clock = ManualClock()
        let pipe = try TestPipe(WAVBytes.pcm(samples))
        let recorded = try source(pipe, pace: .times(2), clock).record(clock: clock)
        #expect(recorded.samples == samples)
        #expect(clock.elapsed == .microseconds(503_125))
    }

    @Test func aFileOnStandardInputIsHeldBackToo() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(WAVBytes.pcm(samples), to: "audio.raw")
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        let clock = ManualClock()
        let source = FileReplay.samples(
            of: file, name: "file", rawFormat: .speech, pace: .realTime, now: clock.now)
        let recorded = try source.record(clock: clock)
        #expect(recorded.samples == samples)
        #expect(recorded.deliveries.count == 51)
        #expect(clock.elapsed == .microseconds(1_006_250))
    }

    @Test func aPipeThatIsLateMakesTheReplayWaitForAWholePeriod() throws {
        let clock = ManualClock()
        let pipe = try TestPipe()
        let source = source(pipe, pace: .realTime, clock)
        _ = try source.open()
        defer { source.close() }
        var received: [Int16] = []
        let bytes = WAVBytes.pcm(samples)
        try pipe.write(Array(bytes[..<300]))
        #expect(
            try source.readOnce(room: 4_096, into: &received)
                == .wait(.until(clock.start + .milliseconds(20))))
        clock.advance(by: .milliseconds(20))
        #expect(try source.readOnce(room: 4_096, into: &received) == .wait(.forDescriptors))
        try pipe.write(Array(bytes[300..<900]))
        #expect(try source.readOnce(room: 4_096, into: &received) == .frames(320))
        pipe.closeWriteEnd()
        #expect(
            try source.readOnce(room: 4_096, into: &received)
                == .wait(.until(clock.start + .microseconds(28_125))))
        clock.advance(by: .milliseconds(20))
        #expect(try source.readOnce(room: 4_096, into: &received) == .frames(130))
        #expect(try source.readOnce(room: 4_096, into: &received) == .end)
        #expect(received == Array(samples.prefix(450)))
    }
}
