// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs
@testable import AudioCore
@testable import TakeStore
@testable import Utter

/// Where a recording is cut.
@Suite struct StretchCutterTests {
    private static func journal(_ speech: ToneSpeech, of frames: Int) throws -> Journal {
        let journal = Journal()
        let bytes = WAVEncoder.header + WAVBytes.pcm(Array(speech.samples[..<frames]))
        try journal.append(bytes.span)
        return journal
    }

    private static func place(_ frame: Int) -> RecordingPlace {
        RecordingPlace(frame: frame, offset: AudioCodec.pcm.bodyOffset + 2 * frame)
    }

    /// The count of what was recorded is ahead of what the disk has.
    @Test(arguments: [nil, 96_000])
    func aRecordingOfWhichTheDiskHasTooLittleIsNotCutYet(_ end: Int?) throws {
        var random = SeededRandom()
        var speech = ToneSpeech()
        while speech.samples.count < 96_000 {
            speech.say(3)
            speech.pause(3_200, using: &random)
        }
        let request = CutRequest(
            start: RecordingPlace(), limit: StretchLimit(frames: 64_000), end: end.map(Self.place))
        for frames in [640, 4_480, 63_680] {
            let cutter = StretchCutter(
                of: try Self.journal(speech, of: frames), as: .pcm, shortest: 0,
                powers: PowerTrack(summary: []))
            #expect(try cutter.cuts(request).isEmpty, "\(frames)")
        }
        let whole = StretchCutter(
            of: try Self.journal(speech, of: 96_000), as: .pcm, shortest: 0,
            powers: PowerTrack(summary: []))
        let cuts = try whole.cuts(request)
        #expect(cuts.count == 1 && (48_000...64_000).contains(cuts.first?.end.frame ?? 0))
    }

    /// How loud it was is what was noted, and not what stands in the file, which has silence here.
    @Test(arguments: [.pcm, .wav, .oggOpus] as [AudioCodec])
    func aCutStandsWhereTheRecordingWasQuiet(_ format: AudioCodec) throws {
        var random = SeededRandom()
        var speech = ToneSpeech()
        while speech.samples.count < 51_200 { speech.say(3) }
        let pause = speech.samples.count..<(speech.samples.count + 9_600)
        speech.pause(pause.count, using: &random)
        while speech.samples.count < 96_000 { speech.say(5) }
        let powers = PowerTrack()
        powers.add(speech.samples.span)
        let encoder = try format.makeEncoder()
        var bytes: [UInt8] = []
        try encoder.begin(into: &bytes)
        try encoder.encode([Int16](repeating: 0, count: speech.samples.count).span, into: &bytes)
        let journal = Journal()
        try journal.append(bytes.span)
        let cutter = StretchCutter(of: journal, as: format, shortest: 0, powers: powers)
        let cuts = try cutter.cuts(
            CutRequest(start: RecordingPlace(), limit: StretchLimit(frames: 64_000)))
        let cut = try #require(cuts.first)
        let middle = (pause.lowerBound + pause.upperBound) / 2
        #expect(abs(cut.end.frame - middle) <= 640 && cut.next == cut.end, "\(cut), \(pause)")
        // Decoded, each unit stands at the same place.
        let sizes = try [true, false].map { measures in
            var units: [AudioUnit] = []
            try format.makeUnitReader { _ in measures }.take(bytes.span, into: &units)
            return units.map { [$0.byteCount, $0.frameCount] }
        }
        #expect(sizes[0] == sizes[1] && sizes[0].count > 250)
    }

    /// An earlier run has noted how loud the first 4 s were; the file has a pause elsewhere there.
    ///
    /// What follows is measured, and noted for the next run.
    @Test(arguments: [.pcm, .flac, .oggOpus] as [AudioCodec])
    func ofAKeptTakeOnlyWhatIsNotNotedIsMeasured(_ format: AudioCodec) throws {
        var random = SeededRandom()
        var speech = ToneSpeech()
        var pauses: [Range<Int>] = []
        for end in [57_600, 105_600] {
            while speech.samples.count < end { speech.say(3) }
            let start = speech.samples.count
            speech.pause(4_800, using: &random)
            pauses.append(start..<speech.samples.count)
        }
        while speech.samples.count < 144_000 { speech.say(5) }
        let powers = PowerTrack(summary: [])
        powers.add(1e6, upTo: 49_600)
        powers.add(1, upTo: 54_400)
        powers.add(1e6, upTo: 64_000)
        let bytes = try format.file(of: speech.samples)
        let journal = Journal()
        try journal.append(bytes.span)
        let request = CutRequest(
            start: RecordingPlace(), limit: StretchLimit(frames: 64_000),
            end: RecordingPlace(frame: speech.samples.count, offset: bytes.count))
        let cutter = StretchCutter(of: journal, as: format, shortest: 0, powers: powers)
        let cuts = try cutter.cuts(request).map(\.end.frame)
        try #require(cuts.count == 2)
        #expect(abs(cuts[0] - 52_000) <= 640, "\(cuts)")
        #expect(pauses[1].contains(cuts[1]), "\(cuts), \(pauses)")
        #expect(powers.end > 112_000)
        // The next run has its notes alone, and cuts at the same places.
        let next = PowerTrack(summary: powers.summary)
        let again = StretchCutter(of: journal, as: format, shortest: 0, powers: next)
        let later = try again.cuts(request).map(\.end.frame)
        #expect(later.count == 2 && zip(cuts, later).allSatisfy { abs($0 - $1) <= 1_600 })
    }
}
