// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService

@Suite struct SubtitleTextTests {
    private let cues = [
        SubtitleText.Cue(start: 0, end: 59.9995, text: "a <b> & c --> d", speaker: nil),
        SubtitleText.Cue(start: 3_661.5, end: 3_662, text: "yes", speaker: "Anna"),
    ]

    @Test func subRipHasNumbersAndCommas() {
        #expect(
            SubtitleText.srt(cues) == """
                1
                00:00:00,000 --> 00:01:00,000
                a <b> & c -> d

                2
                01:01:01,500 --> 01:01:02,000
                Anna: yes

                """)
    }

    @Test func webVTTEscapesAndNamesVoices() {
        #expect(
            SubtitleText.vtt(cues) == """
                WEBVTT

                00:00:00.000 --> 00:01:00.000
                a &lt;b&gt; &amp; c --&gt; d

                01:01:01.500 --> 01:01:02.000
                <v Anna>yes

                """)
    }
}
