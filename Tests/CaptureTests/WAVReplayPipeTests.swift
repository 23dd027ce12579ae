// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import AudioCodecs
@testable import Capture

@Suite struct WAVReplayPipeTests {
    private let samples = TestSignal.voice(frames: 4_000, sampleRate: 16_000)

    @Test func aHeaderThatComesByteByByteIsRead() throws {
        let bytes = WAVBytes.speech(samples)
        let pipe = try TestPipe()
        try pipe.write(Array(bytes.prefix(4)))
        let prefix = Array(bytes.prefix(4))
        var first = [UInt8](repeating: 0, count: 4)
        try #require(Glibc.read(pipe.readEnd, &first, 4) == 4)
        #expect(InputType(prefix.span) == .wav && first == prefix)
        try pipe.write(Array(bytes.dropFirst(4)))
        pipe.closeWriteEnd()
        let source = FileReplay.samples(
            of: pipe.readEnd, name: "standard input", pace: .unpaced, prefix: first)
        #expect(try source.record().samples == samples)
    }

    @Test func aPipeThatIsLateMakesTheSourceWaitForIt() throws {
        let bytes = WAVBytes.speech(samples)
        let pipe = try TestPipe()
        try pipe.write(Array(bytes.prefix(44 + 700)))
        let clock = ManualClock()
        let source = FileReplay.samples(
            of: pipe.readEnd, name: "pipe", pace: .realTime, now: clock.now)
        _ = try source.open()
        defer { source.close() }
        var received: [Int16] = []
        #expect(
            try source.readOnce(room: 4_096, into: &received)
                == .wait(.until(clock.start + .milliseconds(20))))
        clock.advance(by: .milliseconds(60))
        #expect(try source.readOnce(room: 4_096, into: &received) == .frames(320))
        // 30 frames are there, which is not a period.
        #expect(try source.readOnce(room: 4_096, into: &received) == .wait(.forDescriptors))
        var descriptors: [pollfd] = []
        source.appendPollDescriptors(to: &descriptors)
        #expect(descriptors.map(\.fd) == [pipe.readEnd])
        try pipe.write(Array(bytes[(44 + 700)..<(44 + 1_500)]))
        #expect(try source.readOnce(room: 4_096, into: &received) == .frames(320))
        clock.advance(by: .seconds(5))
        pipe.closeWriteEnd()
        #expect(try source.readOnce(room: 4_096, into: &received) == .frames(110))
        #expect(try source.readOnce(room: 4_096, into: &received) == .end)
        #expect(received == Array(samples.prefix(750)))
        #expect(source.warning?.contains("1500 of the 8000 bytes") == true)
    }

    @Test func inRealTimeAPipeIsPacedLikeAFile() throws {
        let pipe = try TestPipe(WAVBytes.speech(samples))
        let clock = ManualClock()
        let source = FileReplay.samples(
            of: pipe.readEnd, name: "pipe", pace: .realTime, now: clock.now)
        let recorded = try source.record(clock: clock)
        #expect(recorded.samples == samples)
        #expect(clock.elapsed == .milliseconds(250))
        #expect(recorded.deliveries.first == Delivery(frameCount: 320, elapsed: .milliseconds(20)))
    }

    @Test func aPipeThatEndsInItsHeaderSaysWhere() throws {
        let pipe = try TestPipe(Array(WAVBytes.speech(samples).prefix(20)))
        let source = FileReplay.samples(of: pipe.readEnd, name: "pipe", pace: .realTime)
        #expect(
            throws: CaptureError.unusableAudio(
                name: "pipe", detail: "byte 20: the file ends before its data chunk")
        ) {
            try source.open()
        }
    }

    @Test func aFIFOIsWaitedForWithoutBlockingItsOpening() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("fifo")
        try #require(mkfifo(path, 0o600) == 0)
        // Held open by the test, so that the writer's opening does not wait either.
        let writer = Glibc.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        try #require(writer >= 0)
        let bytes = WAVBytes.speech(samples)
        try #require(Glibc.write(writer, bytes, bytes.count) == bytes.count)
        let source = FileReplay(path: path, pace: .unpaced)
        #expect(try source.record().samples == samples)
        close(writer)
    }
}
