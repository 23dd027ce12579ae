// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import AudioCodecs
@testable import AudioCore
@testable import Capture

/// What is replayed at a pace comes as it was spoken, wherever it is read from.
@Suite struct ReplayPaceTests {
    private let folder: TemporaryFolder
    private let clock = ManualClock()
    private let samples = TestSignal.voice(frames: 16_100, sampleRate: 16_000)

    init() throws {
        folder = try TemporaryFolder()
    }

    enum Input: CaseIterable, Sendable {
        case wavFile, wavPipe, rawFile, rawPipe, opusPipe
    }

    private func wavFile(_ pace: Pace = .realTime) throws -> FileReplay {
        let path = try folder.write(WAVBytes.speech(samples), to: "voice.wav")
        return FileReplay(path: path, pace: pace, now: clock.now)
    }

    private func record(_ input: Input, _ pace: Pace) throws -> Recorded {
        let (raw, now) = (WAVBytes.pcm(samples), clock.now)
        switch input {
        case .wavFile: return try wavFile(pace).record(clock: clock)
        case .rawFile:
            let file = Glibc.open(try folder.write(raw, to: "audio.raw"), O_RDONLY | O_CLOEXEC)
            try #require(file >= 0)
            defer { close(file) }
            return try FileReplay.samples(
                of: file, name: "file", rawFormat: .speech, pace: pace, now: now
            ).record(clock: clock)
        case .wavPipe, .opusPipe, .rawPipe:
            let isRaw = input == .rawPipe
            let coded = try input == .opusPipe ? oggOpus(samples) : WAVBytes.speech(samples)
            let bytes = isRaw ? raw : coded
            // What was read before is not played twice.
            let pipe = try TestPipe(Array(bytes.dropFirst(4)))
            return try FileReplay.samples(
                of: pipe.readEnd, name: "pipe", rawFormat: isRaw ? .speech : nil, pace: pace,
                prefix: Array(bytes.prefix(4)), now: now
            ).record(clock: clock)
        }
    }

    @Test(arguments: Input.allCases)
    func inRealTimeEachPeriodComesWhenItsLastFrameExists(_ input: Input) throws {
        let recorded = try record(input, .realTime)
        #expect(input == .opusPipe || recorded.samples == samples)
        var expected = (1...50).map { Delivery(frameCount: 320, elapsed: .milliseconds(20 * $0)) }
        // The last 100 frames are 6.25 ms, and are not kept back for a whole period.
        expected.append(Delivery(frameCount: 100, elapsed: .microseconds(1_006_250)))
        #expect(recorded.deliveries == expected)
    }

    @Test(arguments: [Input.wavFile, .rawPipe])
    func atTwiceThePaceEverythingComesInHalfTheTime(_ input: Input) throws {
        let recorded = try record(input, .times(2))
        #expect(recorded.samples == samples)
        #expect(
            recorded.deliveries.first == Delivery(frameCount: 320, elapsed: .milliseconds(10)))
        #expect(recorded.deliveries.last?.elapsed == .microseconds(503_125))
    }

    @Test(arguments: [Pace.unpaced, .times(0), .times(-1), .times(.nan), .times(.infinity)])
    func unpacedTheClockIsNotAsked(pace: Pace) throws {
        #expect(try record(.wavFile, pace).samples == samples)
        #expect(clock.elapsed == .zero)
    }

    @Test func aLateReaderGetsWhatIsDuePeriodByPeriodAndIsThenOnTime() throws {
        let source = try wavFile()
        _ = try source.open()
        defer { source.close() }
        var received: [Int16] = []
        func read(_ room: Int = 4_096) throws -> SourceRead {
            try source.readOnce(room: room, into: &received)
        }
        #expect(try read() == .wait(.until(clock.start + .milliseconds(20))))
        clock.advance(by: .milliseconds(50))
        #expect(try read() == .frames(320))
        #expect(try read() == .frames(320))
        #expect(try read() == .wait(.until(clock.start + .milliseconds(60))))
        clock.advance(by: .milliseconds(1_000))
        #expect(try read(320) == .frames(320))
        #expect(received == Array(samples.prefix(960)))
    }

    @Test(arguments: [false, true])
    func aPipeThatIsLateMakesTheReplayWaitForAWholePeriod(isRaw: Bool) throws {
        let bytes = isRaw ? WAVBytes.pcm(samples) : WAVBytes.speech(samples)
        let start = isRaw ? 0 : 44
        let pipe = try TestPipe()
        try pipe.write(Array(bytes[..<(start + 700)]))
        let source = FileReplay.samples(
            of: pipe.readEnd, name: "pipe", rawFormat: isRaw ? .speech : nil, pace: .realTime,
            now: clock.now)
        _ = try source.open()
        defer { source.close() }
        var received: [Int16] = []
        func read() throws -> SourceRead { try source.readOnce(room: 4_096, into: &received) }
        #expect(try read() == .wait(.until(clock.start + .milliseconds(20))))
        clock.advance(by: .milliseconds(40))
        #expect(try read() == .frames(320))
        // 30 frames are there, which is not a period.
        #expect(try read() == .wait(.forDescriptors))
        var events = PolledDescriptors()
        source.addDescriptors(to: &events)
        #expect(events.descriptors.map(\.fd) == [pipe.readEnd])
        try pipe.write(Array(bytes[(start + 700)..<(start + 1_500)]))
        #expect(try read() == .frames(320))
        pipe.closeWriteEnd()
        #expect(try read() == .wait(.until(clock.start + .microseconds(46_875))))
        clock.advance(by: .seconds(5))
        #expect(try read() == .frames(110))
        #expect(try read() == .end)
        #expect(received == Array(samples.prefix(750)))
        let warning = "'pipe' breaks off; what is there was taken"
        #expect(source.warning == (isRaw ? nil : warning))
    }

    @Test func aBufferSmallerThanAPeriodStillGetsEverything() throws {
        #expect(try wavFile().record(clock: clock, room: 33).samples == samples)
    }

    @Test func aStopEndsTheReplayAfterWhatWasDelivered() throws {
        let source = try wavFile()
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
        let samples = TestSignal.voice(frames: 11_025 * 5, sampleRate: 11_025)
        let path = try folder.write(WAVBytes.speech(samples, rate: 11_025), to: "odd.wav")
        let recorded = try FileReplay(path: path, now: clock.now).record(clock: clock)
        #expect(recorded.samples == samples)
        #expect(clock.elapsed == .seconds(5))
    }
}

@Suite struct ReplayScheduleTests {
    @Test(arguments: [1, 2.5, 0.1, 1_000])
    func framesAndInstantsAgree(speed: Double) {
        var random = SeededRandom()
        let start = ContinuousClock.now
        for rate in [8_000, 11_025, 16_000, 44_100, 48_000, 384_000] {
            let schedule = ReplaySchedule(start: start, sampleRate: rate, speed: speed)
            for _ in 0..<200 {
                let frames = Int.random(in: 1...10_000_000_000, using: &random)
                let instant = schedule.instant(ofFrames: frames)
                let comment = "seed \(random.seed), \(frames) frames at \(rate) Hz"
                #expect(schedule.frames(at: instant) >= frames, "\(comment)")
                let before = instant - .nanoseconds(1)
                #expect(schedule.frames(at: before) <= frames - (speed > 100 ? 0 : 1), "\(comment)")
            }
        }
    }

    @Test func aFrameIsNeverEarlyAndAnHourDoesNotDrift() {
        let start = ContinuousClock.now
        let schedule = ReplaySchedule(start: start, sampleRate: 11_025, speed: 1)
        // 220 frames at 11025 Hz last 19.9546485… ms.
        #expect(schedule.instant(ofFrames: 220) - start == .nanoseconds(19_954_649))
        #expect(schedule.instant(ofFrames: 11_025 * 3_600) - start == .seconds(3_600))
    }

    @Test func beforeTheStartNothingIsDue() {
        let start = ContinuousClock.now
        let schedule = ReplaySchedule(start: start, sampleRate: 16_000, speed: 1)
        #expect(schedule.frames(at: start) == 0)
        #expect(schedule.frames(at: start - .seconds(5)) == 0)
        #expect(schedule.frames(at: start + .seconds(1_000_000_000_000)) > 1_000_000)
    }
}
