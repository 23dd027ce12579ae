// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs
@testable import AudioCore
@testable import Capture

/// Ogg Opus as a source: our own, and that of opusenc, judged by opusdec.
@Suite struct CodedReplayTests {
    private let folder: TemporaryFolder
    private let voice = TestSignal.voice(frames: 40_000, sampleRate: 16_000)

    init() throws {
        folder = try TemporaryFolder()
    }

    private func encoded(_ samples: [Int16]) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let encoder = try OggOpusEncoder()
        try encoder.begin(into: &bytes)
        try encoder.encode(samples.span, into: &bytes)
        try encoder.finish(into: &bytes)
        return bytes
    }

    private func replay(_ path: String) throws -> (Recorded, warning: String?) {
        let source = FileReplay(path: path, pace: .unpaced)
        let recorded = try source.record()
        return (recorded, source.warning)
    }

    /// What opusdec hears at 48 kHz, every third frame; the left channel of several.
    private func decoded(_ path: String, channelCount: Int = 1) throws -> [Int16] {
        let raw = folder.path("decoded.raw")
        try ForeignTool("opusdec").run(["--quiet", "--rate", "48000", path, raw])
        let bytes = try folder.read("decoded.raw")
        return stride(from: 0, to: bytes.count - 1, by: 6 * channelCount).map {
            Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
        }
    }

    @Test(arguments: [1, 319, 320, 321, 4_000, 40_000])
    func ourOwnRecordingComesBackWithAsManyFrames(_ count: Int) throws {
        let path = try folder.write(encoded(Array(voice.prefix(count))), to: "audio.ogg")
        let (recorded, warning) = try replay(path)
        #expect(recorded.format == .speech)
        #expect(recorded.samples.count == count)
        #expect(warning == nil)
    }

    @Test(arguments: [1, 2])
    func aFileOfOpusencSoundsAsItDoesToOpusdec(_ channelCount: Int) throws {
        let samples = TestSignal.voice(
            frames: 120_000, sampleRate: 48_000, channelCount: channelCount)
        let wav = try folder.write(
            WAVBytes.speech(samples, rate: 48_000, channels: channelCount), to: "in.wav")
        let path = folder.path("foreign.opus")
        try ForeignTool("opusenc").run(["--quiet", "--bitrate", "96", wav, path])
        let (recorded, warning) = try replay(path)
        #expect(recorded.format == .speech)
        #expect(recorded.samples.count == 40_000)
        #expect(warning == nil)
        let judge = try decoded(path, channelCount: channelCount)
        // The 16 kHz decoder's low-pass moves nothing by more than a frame.
        let likeness = (0...2).map {
            TestSignal.correlation(
                Array(recorded.samples.dropFirst($0)), Array(judge.dropFirst(1)))
        }
        #expect((likeness.max() ?? 0) > 0.9, "\(likeness)")
    }

    @Test func moreThanTwoChannelsAreRefusedWithTheReason() throws {
        let path = folder.path("six.opus")
        try ForeignTool("ffmpeg").run([
            "-v", "error", "-f", "lavfi", "-i", "sine=duration=0.1", "-ac", "6", "-c:a", "libopus",
            path,
        ])
        #expect(
            throws: CaptureError.unusableAudio(
                name: path,
                detail: "Ogg Opus: 6 channels in mapping family 1 are not supported, only mono "
                    + "and stereo")
        ) {
            try FileReplay(path: path).open()
        }
    }

    @Test func inRealTimeEachPeriodComesWhenItsLastFrameExists() throws {
        let clock = ManualClock()
        let pipe = try TestPipe(encoded(Array(voice.prefix(16_100))))
        let source = FileReplay.decoding(
            .oggOpus, of: pipe.readEnd, name: "standard input", pace: .realTime, now: clock.now)
        let recorded = try source.record(clock: clock)
        #expect(recorded.deliveries.count == 51)
        #expect(recorded.deliveries.first == .init(frameCount: 320, elapsed: .milliseconds(20)))
        #expect(recorded.deliveries.last?.elapsed == .microseconds(1_006_250))
    }

    @Test func aPipeIsDecodedAsItComesHoweverItIsDivided() throws {
        var random = SeededRandom()
        let bytes = try encoded(voice)
        let whole = try replay(try folder.write(bytes, to: "whole.ogg")).0.samples
        for _ in 0..<10 {
            let pipe = try TestPipe()
            try pipe.write(Array(bytes.prefix(400)))
            let source = FileReplay.decoding(
                .oggOpus, of: pipe.readEnd, name: "pipe", pace: .unpaced)
            var received: [Int16] = []
            var rest = Array(bytes.dropFirst(400))
            // The first sound is in the first 400 bytes or soon after: open must not wait for it.
            try pipe.write(Array(rest.prefix(2_000)))
            rest.removeFirst(min(2_000, rest.count))
            _ = try source.open()
            for piece in random.pieces(of: rest.count, upTo: 900) where !piece.isEmpty {
                try pipe.write(Array(rest[piece]))
                while case .frames = try source.readOnce(room: 1_000, into: &received) {}
            }
            pipe.closeWriteEnd()
            while case .frames = try source.readOnce(room: 1_000, into: &received) {}
            #expect(received == whole, "seed \(random.seed)")
            #expect(source.warning == nil)
            source.close()
        }
    }

    @Test func whatBreaksOffOrIsDamagedYieldsWhatComesBefore() throws {
        let bytes = try encoded(voice)
        let half = try folder.write(Array(bytes.prefix(bytes.count / 2)), to: "half.ogg")
        let (brokenOff, warning) = try replay(half)
        #expect((10_000..<30_000).contains(brokenOff.samples.count))
        #expect(warning == "'\(half)' breaks off; what is there was taken")
        var damaged = bytes
        damaged[bytes.count / 2] ^= 0xFF
        let path = try folder.write(damaged, to: "damaged.ogg")
        let (before, damage) = try replay(path)
        #expect((10_000..<30_000).contains(before.samples.count))
        #expect(damage?.hasPrefix("'\(path)' is damaged; what comes before was taken: ") == true)
    }

    @Test func aHeaderAloneIsNotUsable() throws {
        let bytes = try encoded(voice)
        let path = try folder.write(Array(bytes.prefix(60)), to: "head.ogg")
        #expect(
            throws: CaptureError.unusableAudio(
                name: path, detail: "Ogg Opus: the stream ended before its headers were complete")
        ) {
            try FileReplay(path: path).open()
        }
    }
}
