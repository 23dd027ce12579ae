// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService

@Suite struct SubtitleAnswerTests {
    static let srt = """
        1
        00:00:00,000 --> 00:00:02,500
        And so, my <i>fellow</i>
        Americans

        2
        01:02:03,250 --> 01:02:04,000
         ask not


        """
    static let webVTT =
        "\u{FEFF}WEBVTT - made by whisper\r\nKind: captions\r\n\r\nNOTE a --> b is no cue\r\n\r\n"
        + "STYLE\r\n::cue { color: red }\r\n\r\nintro\r\n00:00.500 --> 00:02.000 align:start\r\n"
        + "<v Ann>Hi &amp; hello</v>\r\n\r\n00:02.000 --> 00:03.000\r\n- bye"

    @Test func anSRTFileIsReadWithItsTimesUnlessItIsCalledText() {
        for (rule, type) in [
            (AnswerRule(framing: .subtitles), nil), (.automatic, "text/plain"), (.automatic, nil),
        ] {
            let decoded = decode(rule, Self.srt, mediaType: type)
            #expect(decoded.text == "And so, my fellow Americans ask not")
            #expect(
                decoded.transcript.segments == [
                    RecognizedWord(text: "And so, my fellow Americans", start: 0, end: 2.5),
                    RecognizedWord(text: "ask not", start: 3723.25, end: 3724),
                ])
        }
        let plain = decode(AnswerRule(framing: .text), Self.srt).transcript.text
        #expect(plain.hasPrefix("1 00:00:00,000 -->"))
    }

    @Test(.spec("W3C WebVTT §4"))
    func aWebVTTFileIsReadWithItsVoices() {
        let rules: [(AnswerRule, String?)] = [
            (AnswerRule(framing: .subtitles), nil), (.automatic, "text/vtt; charset=utf-8"),
        ]
        for (rule, type) in rules {
            let decoded = decode(rule, Self.webVTT, mediaType: type)
            #expect(decoded.text == "Hi & hello - bye")
            #expect(decoded.transcript.segments.map(\.speaker) == ["Ann", nil])
        }
    }

    @Test(arguments: [
        ("five < six and seven > four", "five < six and seven > four"),
        ("5 < 6 and 7 > 3", "5 < 6 and 7 > 3"), ("a <b> c </B> d", "a  c  d"), ("<I>x</I>", "x"),
        ("<c.yellow.bg_blue>x</c>", "x"), ("<font color=\"#fff\">x</font>", "x"),
        ("a<br/>b<br>c", "abc"),
        ("<00:00:01.000>one <00:01:02.500><c>two</c>", "one two"), ("<lang en>x</lang>", "x"),
        ("<ruby>漢<rt>kan</rt></ruby>", "漢kan"), ("<v.loud Ann>x</v>", "x"),
        ("<u>x</u> <s>y</s>", "x y"),
        ("<unknown> tag", "<unknown> tag"), ("if a<bc and d>e", "if a<bc and d>e"),
        ("a <- b -> c", "a <- b -> c"),
        ("<i and j> stay", "<i and j> stay"), ("x < y", "x < y"),
        ("mail <a@b.example>", "mail <a@b.example>"),
        ("Tom &amp; Jerry &lt;3", "Tom & Jerry <3"), ("&amp;lt;", "&lt;"),
        ("&#233;&#xE9;&#XE9;", "ééé"),
        ("a&nbsp;b", "a b"), ("&lrm;a&rlm;", "\u{200E}a\u{200F}"), ("&quot;a&apos;", "\"a'"),
        ("AT&T; R&D", "AT&T; R&D"), ("&bogus; &#0; &#x110000;", "&bogus; \u{0} &#x110000;"),
        ("1 <2> 3", "1 <2> 3"),
    ])
    func knownTagsAloneAreLeftOut(_ cue: String, _ text: String) {
        let file = "1\n00:00:00,000 --> 00:00:01,000\n\(cue)\n"
        #expect(decode(AnswerRule(framing: .subtitles), file).text == text)
    }

    @Test(arguments: [srt, webVTT, "WEBVTT\n\n", "1\n00:00 --> \nx", "no cue at all", "\n\n"])
    func chunksMayEndAtAnyByte(body: String) {
        expectSameForEverySplit(AnswerRule(framing: .subtitles), body)
        expectSameForEverySplit(.automatic, body, mediaType: "text/plain")
    }

    /// Players show them; a number and a part of a time are what a cut file ends with.
    @Test(arguments: [
        ("1\n00:00:00,000-->00:00:01,000\ngo\n", "go"),
        (
            "1\n00:00:00,000 --> 00:00:01,000\ngo\n\nforward\n\n2\n00:01 --> 00:02\nten",
            "go forward ten"
        ),
        ("1\n00:00:00,000 --> 00:00:01,000\ngo\n\n2\n00:00:xx --> 00:00:02,000\nten", "go ten"),
        ("1\n00:00:00,000 --> 00:00:01,000\ngo\n\n2\n00:00:01,0", "go"),
        ("1\n00:00:00,000 --> 00:00:01,000\ngo\n\n2\n00:00:01,000 --> 00", "go"),
        ("WEBVTT\n\n00:00.000 --> 00:01.000\ngo\n\nNOTE\nlater", "go"),
    ])
    func wordsOfAnOddCueAreHeard(_ body: String, _ text: String) {
        let decoded = decode(AnswerRule(framing: .subtitles), body)
        #expect(decoded.text == text && !decoded.transcript.segments.contains { $0.text.isEmpty })
    }

    @Test func nothingHeardIsAnEmptyText() {
        for body in ["WEBVTT\n\n", "\n"] {
            #expect(decode(AnswerRule(framing: .subtitles), body).text == "")
        }
        #expect(decode(AnswerRule(framing: .subtitles), "").error == .empty)
        #expect(
            decode(AnswerRule(framing: .subtitles), "just text").error
                == .missingText(path: "-->", excerpt: "just text"))
    }
}
