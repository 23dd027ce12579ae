// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs
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
                of: try Self.journal(speech, of: frames), as: .pcm, shortest: 0)
            #expect(try cutter.cuts(request).isEmpty, "\(frames)")
        }
        let whole = StretchCutter(of: try Self.journal(speech, of: 96_000), as: .pcm, shortest: 0)
        let cuts = try whole.cuts(request)
        #expect(cuts.count == 1 && (48_000...64_000).contains(cuts.first?.end.frame ?? 0))
    }
}
