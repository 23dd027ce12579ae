// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCore

@Suite struct SpeechConverterTests {
    private func converted(
        _ samples: [Int16], from format: StreamFormat, quality: ResamplingQuality = .live,
        in pieces: [Range<Int>]? = nil
    ) throws -> [Int16] {
        let converter = try SpeechConverter(from: format, quality: quality)
        var output: [Int16] = []
        for piece in pieces ?? [samples.indices] {
            try converter.convert(samples.span.extracting(piece), into: &output)
        }
        try converter.finish(into: &output)
        return output
    }

    /// What sox makes of it: mean of the channels, 16 kHz, no dither.
    private func soxConverted(_ samples: [Int16], from format: StreamFormat) throws -> [Int16] {
        let folder = try TemporaryFolder()
        let path = try folder.write(WAVBytes.pcm(samples), to: "source.raw")
        return try ForeignTool("sox").run([
            "-D", "-t", "s16", "-r", "\(format.sampleRate)", "-c", "\(format.channelCount)", path,
            "-t", "s16", "-r", "16000", "-c", "1", "-",
        ]).samples
    }

    @Test func speechPassesUntouchedAndAtOnce() throws {
        var random = SeededRandom()
        let samples = random.noise(count: 1_000)
        let converter = try SpeechConverter(from: .speech)
        var output: [Int16] = []
        try converter.convert(samples.span, into: &output)
        #expect(output == samples)
        try converter.finish(into: &output)
        #expect(output == samples)
    }

    @Test func channelsAreMixedByTheirMean() throws {
        let stereo = StreamFormat(sampleRate: 16_000, channelCount: 2)
        let samples: [Int16] = [
            1, 2, -1, -2, 32_767, 32_767, -32_768, -32_768, 32_767, -32_768, 5, 7, -3, -3,
        ]
        #expect(try converted(samples, from: stereo) == [2, -1, 32_767, -32_768, 0, 6, -3])
        let three = StreamFormat(sampleRate: 16_000, channelCount: 3)
        #expect(try converted([1, 1, 2, -1, -1, -2, 9], from: three) == [1, -1])
    }

    /// What each channel has of a voice, and which of them is taken alone; nil is the mean.
    static let mixes: [([Double], channel: Int?)] = [
        ([1, -1], 0), ([0.5, -0.55], 1), ([1, -0.9], 0), ([1, 0], nil), ([0, 1], nil),
        ([1, 1], nil), ([1, -0.3], nil), ([0, 0, 1, 0, 0, 0], 2), ([0, 1, 0, 0], 1),
        ([1, 1, 0, 0], nil), ([1, -1, 0.2], 0), ([0.001, -0.001], nil),
    ]

    @Test(arguments: mixes)
    func aMeanThatLosesAVoiceGivesWayToTheLoudestChannel(
        _ gains: [Double], _ channel: Int?
    ) throws {
        var random = SeededRandom()
        let voice = TestSignal.voice(frames: 8_123, sampleRate: 16_000)
        let samples = voice.flatMap { sample in gains.map { Int16(Double(sample) * $0) } }
        let format = StreamFormat(sampleRate: 16_000, channelCount: gains.count)
        let ours = try converted(samples, from: format)
        let expected = (0..<voice.count).map { frame in
            let all = samples[frame * gains.count..<(frame + 1) * gains.count].map(Int.init)
            return channel.map { all[$0] }
                ?? Int((Double(all.reduce(0, +)) / Double(gains.count) + 0.5).rounded(.down))
        }
        #expect(ours.map(Int.init) == expected)
        for _ in 0..<5 {
            let pieces = random.pieces(of: samples.count, upTo: 2_000)
            #expect(try converted(samples, from: format, in: pieces) == ours, "seed \(random.seed)")
        }
    }

    @Test func theMeanComesBackEachTime() throws {
        let voice = TestSignal.voice(frames: 32_000, sampleRate: 16_000)
        // The channels are in opposite phase, then alike, and so once more.
        let right = voice.map { -$0 } + voice.map { $0 / 2 }
        let samples = (0..<2).flatMap { _ in zip(voice + voice, right).flatMap { [$0, $1] } }
        let ours = try converted(samples, from: StreamFormat(sampleRate: 16_000, channelCount: 2))
        for end in [64_000, 128_000] {
            let last = zip(ours[end - 1_600..<end], voice.suffix(1_600))
            #expect(last.allSatisfy { abs(Int($0) * 4 - Int($1) * 3) <= 8 }, "\(end)")
        }
    }

    @Test func theChannelGoesWithTheVoiceAndTheMeanComesBack() throws {
        let voice = TestSignal.voice(frames: 16_000, sampleRate: 16_000)
        let none = [Int16](repeating: 0, count: voice.count)
        // In opposite phase; then on the second channel alone; then on both.
        let left = voice + none + voice + voice
        let right = voice.map { -$0 } + voice + voice + voice
        let samples = zip(left, right).flatMap { [$0, $1] }
        let ours = try converted(samples, from: StreamFormat(sampleRate: 16_000, channelCount: 2))
        #expect(ours.prefix(16_000) == voice[...])
        let second = zip(ours[16_000..<32_000], voice)
        #expect(second.allSatisfy { $0 == $1 || abs(Int($0) * 2 - Int($1)) <= 1 })
        #expect(ours.suffix(16_000) == voice[...])
    }

    @Test(arguments: [1, 2, 3, 6])
    func soxMixesTheSameWay(channelCount: Int) throws {
        var random = SeededRandom()
        let format = StreamFormat(sampleRate: 16_000, channelCount: channelCount)
        let samples = random.noise(count: 6_000 * channelCount)
        let ours = try converted(samples, from: format)
        let expected = try soxConverted(samples, from: format)
        #expect(ours.count == expected.count)
        #expect(TestSignal.maximumDifference(ours, expected) <= 1, "seed \(random.seed)")
    }

    @Test(arguments: [
        8_000, 11_025, 12_000, 22_050, 24_000, 32_000, 44_100, 48_000, 88_200, 96_000, 192_000,
        384_000, 4_000, 100, 15_999, 16_001,
    ])
    func everyLengthComesOutExactly(rate: Int) throws {
        var random = SeededRandom()
        let format = StreamFormat(sampleRate: rate, channelCount: 1)
        let noise = random.noise(count: rate / 4)
        for quality in ResamplingQuality.allCases {
            for _ in 0..<8 {
                let length = Int.random(in: 0...rate / 4, using: &random)
                let samples = Array(noise.prefix(length))
                let output = try converted(samples, from: format, quality: quality)
                let exact = Double(length) * 16_000 / Double(rate)
                #expect(
                    output.count == Int(exact.rounded()),
                    "seed \(random.seed), \(length) frames at \(rate) Hz, \(quality)")
            }
        }
    }

    @Test(arguments: [8_000, 11_025, 22_050, 32_000, 44_100, 48_000, 96_000])
    func soxMakesTheSameOfAVoiceWithoutShift(rate: Int) throws {
        for channelCount in [1, 2] {
            let format = StreamFormat(sampleRate: rate, channelCount: channelCount)
            let samples = TestSignal.voice(
                frames: rate, sampleRate: rate, channelCount: channelCount)
            let expected = try soxConverted(samples, from: format)
            for quality in ResamplingQuality.allCases {
                let ours = try converted(samples, from: format, quality: quality)
                #expect(abs(ours.count - expected.count) <= 1)
                #expect(TestSignal.correlation(ours, expected) > 0.999)
            }
        }
    }

    @Test(arguments: [22_050, 44_100, 48_000])
    func soxMakesTheSameOfWhiteNoise(rate: Int) throws {
        // The hardest input, because every difference at the top of the band counts.
        var random = SeededRandom()
        let format = StreamFormat(sampleRate: rate, channelCount: 1)
        let samples = random.noise(count: rate).map { $0 / 4 }
        let expected = try soxConverted(samples, from: format)
        let best = try converted(samples, from: format, quality: .recording)
        #expect(TestSignal.correlation(best, expected) > 0.995, "seed \(random.seed)")
        let live = try converted(samples, from: format, quality: .live)
        #expect(TestSignal.correlation(live, expected) > 0.98, "seed \(random.seed)")
    }

    @Test(arguments: [(48_000, 2), (44_100, 6), (8_000, 1), (16_000, 2)])
    func howTheInputIsDividedMakesNoDifference(rate: Int, channelCount: Int) throws {
        var random = SeededRandom()
        let format = StreamFormat(sampleRate: rate, channelCount: channelCount)
        let samples = random.noise(count: 20_000 * channelCount / 2)
        let whole = try converted(samples, from: format)
        for limit in [1, 13, 1_000, 5_000] {
            let pieces = random.pieces(of: samples.count, upTo: limit)
            let output = try converted(samples, from: format, in: pieces)
            #expect(output.count == whole.count)
            #expect(output == whole, "seed \(random.seed), pieces up to \(limit)")
        }
    }

    @Test(arguments: [(8_000, 120), (44_100, 60), (48_000, 60)])
    func aLiveFilterHoldsBackLittle(rate: Int, frames: Int) throws {
        let format = StreamFormat(sampleRate: rate, channelCount: 1)
        let converter = try SpeechConverter(from: format)
        let samples = TestSignal.voice(frames: rate, sampleRate: rate)
        var output: [Int16] = []
        let period = format.framesPerPeriod
        for start in stride(from: 0, to: rate, by: period) {
            try converter.convert(
                samples.span.extracting(start..<min(rate, start + period)), into: &output)
            let spoken = min(rate, start + period) * 16_000 / rate
            #expect(spoken - output.count <= frames)
        }
    }

    @Test func aFinishedConverterIsAsNew() throws {
        let format = StreamFormat(sampleRate: 44_100, channelCount: 2)
        let samples = TestSignal.voice(frames: 10_000, sampleRate: 44_100, channelCount: 2)
        let converter = try SpeechConverter(from: format)
        for _ in 0..<2 {
            var output: [Int16] = []
            try converter.convert(samples.span, into: &output)
            try converter.finish(into: &output)
            #expect(try output == converted(samples, from: format))
        }
    }

    @Test(arguments: [(0, 1), (62, 1), (5_000_000, 1), (16_000, 0), (-1, 1)])
    func impossibleFormatsAreRefusedByName(rate: Int, channels: Int) {
        let error = #expect(throws: ConversionError.self) {
            _ = try SpeechConverter(
                from: StreamFormat(sampleRate: rate, channelCount: channels))
        }
        #expect(
            error?.description == "cannot convert audio of \(rate) Hz and \(channels) channels "
                + "to 16000 Hz mono")
    }
}
