// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing

@testable import TakeStore

/// Where cues are in a recording, and what may be sent meanwhile.
@Suite struct CueSpansTests {
    @Test func nothingBehindAnOpenSpanIsSettled() {
        let cues = CueSpans()
        #expect(cues.settledFrames(of: 5_000) == 5_000)
        cues.begin(at: 320)
        #expect(cues.settledFrames(of: 100) == 100)
        #expect(cues.settledFrames(of: 5_000) == 320)
        #expect(cues.all == [320..<(320 + CueSpans.longest)])
        cues.end(at: 4_000)
        #expect(cues.settledFrames(of: 5_000) == 5_000)
        #expect(cues.all == [320..<4_000])
    }

    @Test func aSpanThatIsNeverClosedHoldsNothingBackAfterASecond() {
        let cues = CueSpans()
        cues.begin(at: 320)
        #expect(cues.settledFrames(of: 16_319) == 320)
        #expect(cues.settledFrames(of: 16_320) == 16_320)
        cues.end(at: 100_000)
        #expect(cues.all == [320..<16_320])
        // One without a beginning is none.
        cues.end(at: 200_000)
        #expect(cues.all.count == 1)
    }

    @Test func onlyWhatIsInASpanIsSilenced() {
        let cues = CueSpans()
        cues.restore([2..<4, 9..<20])
        var samples = [Int16](repeating: 7, count: 8)
        cues.silence(&samples, from: 1)
        #expect(samples == [7, 0, 0, 7, 7, 7, 7, 7])
        cues.silence(&samples, from: 3)
        #expect(samples == [0, 0, 0, 7, 7, 7, 0, 0])
    }

    @Test(arguments: [[[5]], [[-1, 5]], [[5, 0]], [[5, 16_001]], [[.max, 2]], [[1, 2, 3]]])
    func whatIsNoSpanInAManifestIsNone(_ cues: [[Int]]) throws {
        var manifest = TakeManifest(
            id: try #require(TakeID("20261121-052233-k3f9q2m7x4tz")), created: .distantPast,
            audio: "audio.wav", format: "pcm", source: "here",
            url: "there")
        manifest.cues = cues + [[320, 100]]
        #expect(manifest.cueSpans == [320..<420])
        manifest.setCues([])
        #expect(manifest.cues == nil)
    }
}
