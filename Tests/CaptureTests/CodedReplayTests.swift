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

    private func replay(_ path: String) throws -> (Recorded, warning: String?) {
        let source = FileReplay(path: path, pace: .unpaced)
        let recorded = try source.record()
        return (recorded, source.warning)
    }

    @Test(arguments: [1, 319, 320, 321, 4_000, 40_000])
    func ourOwnRecordingComesBackWithAsManyFrames(_ count: Int) throws {
        let path = try folder.write(oggOpus(Array(voice.prefix(count))), to: "audio.ogg")
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
        // Every third frame, of the left channel.
        let heard = try ForeignTool("opusdec").run(["--quiet", "--rate", "48000", path, "-"])
            .samples
        let judge = stride(from: 0, to: heard.count, by: 3 * channelCount).map { heard[$0] }
        // The 16 kHz decoder's low-pass moves nothing by more than a frame.
        let likeness = (0...2).map {
            TestSignal.correlation(
                Array(recorded.samples.dropFirst($0)), Array(judge.dropFirst(1)))
        }
        #expect((likeness.max() ?? 0) > 0.9, "\(likeness)")
    }

    @Test func aPipeIsDecodedAsItComesHoweverItIsDivided() throws {
        var random = SeededRandom()
        let bytes = try oggOpus(voice)
        let whole = try replay(try folder.write(bytes, to: "whole.ogg")).0.samples
        for _ in 0..<10 {
            let pipe = try TestPipe()
            try pipe.write(Array(bytes.prefix(400)))
            let source = FileReplay.samples(
                of: pipe.readEnd, name: "pipe", pace: .unpaced)
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

    @Test func whatBreaksOffOrIsDamagedYieldsWhatIsThere() throws {
        let bytes = try oggOpus(voice)
        let half = try folder.write(Array(bytes.prefix(bytes.count / 2)), to: "half.ogg")
        let (brokenOff, warning) = try replay(half)
        #expect((10_000..<30_000).contains(brokenOff.samples.count))
        #expect(warning == "'\(half)' breaks off; what is there was taken")
        var damaged = bytes
        damaged[bytes.count / 2] ^= 0xFF
        let path = try folder.write(damaged, to: "damaged.ogg")
        let (rest, damage) = try replay(path)
        #expect(rest.samples.count == 39_680 && rest.lostFrameCount == 320)
        #expect(damage?.hasPrefix("'\(path)' is damaged at byte ") == true)
    }

    @Test(arguments: [Pace.unpaced, .realTime])
    func aHoleIsToldAtItsPlaceAtAnyPace(_ pace: Pace) throws {
        let bytes = try oggOpus(voice)
        let pages = try OggPage.all(in: bytes)
        // Ten pages of 20 ms, from the 32nd of the voice on.
        let holed =
            Array(bytes[..<pages[34].range.lowerBound])
            + bytes[pages[44].range.lowerBound...]
        let path = try folder.write(holed, to: "holed.ogg")
        let clock = ManualClock()
        let source = FileReplay(path: path, pace: pace, now: clock.now)
        let recorded = try source.record(clock: clock)
        #expect(recorded.samples.count == 40_000 - 3_200 && recorded.lostFrameCount == 3_200)
        #expect(source.warning?.hasSuffix(" (0.2 s are silent)") == true)
        if pace == .realTime { #expect(clock.elapsed >= .milliseconds(2_480)) }
    }

    @Test func aFileOfFLACMayStandBehindALongTag() throws {
        let tag = Array("ID3\u{3}\0\0\0\u{60}\0\0".utf8) + [UInt8](repeating: 0, count: 0x60 << 14)
        let flac = try ForeignTool("flac").run(["-s", "-c", Clip.goForward.path]).output
        let (recorded, warning) = try replay(try folder.write(tag + flac, to: "tagged.flac"))
        #expect(recorded.samples == (try replay(Clip.goForward.path).0.samples))
        #expect(warning == nil)
    }

    @Test func aHeaderAloneIsNotUsable() throws {
        let bytes = try oggOpus(voice)
        let path = try folder.write(Array(bytes.prefix(60)), to: "head.ogg")
        #expect(
            throws: CaptureError.unusableAudio(
                name: path, detail: "Ogg Opus: the stream ended before its headers were complete")
        ) {
            try FileReplay(path: path).open()
        }
    }
}
