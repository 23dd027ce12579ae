// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Downloads

@Suite struct PlaylistTests {
    private func media(_ lines: String) throws -> MediaPlaylist {
        guard case .media(let media) = try Playlist(Array("#EXTM3U\n\(lines)\n".utf8)) else {
            throw PlaylistError.noPlaylist
        }
        return media
    }

    private static let head = "#EXT-X-TARGETDURATION:6\n"

    @Test func segmentsAreReadInTheirOrder() throws {
        let media = try media(
            Self.head + """
                #EXT-X-MEDIA-SEQUENCE:7
                #EXT-X-UNHEARD-OF:1
                # a comment
                #EXTINF:5.5,a title, with a comma
                a.ts?x=1
                #EXT-X-DISCONTINUITY
                #EXTINF:6
                b.ts
                #EXT-X-GAP
                #EXTINF:6,
                c.ts
                #EXT-X-ENDLIST
                """)
        #expect(media.isEnded && !media.isEvent && media.targetDuration == 6)
        #expect(media.segments.map(\.sequence) == [7, 8, 9])
        #expect(media.segments.map(\.resource.reference) == ["a.ts?x=1", "b.ts", "c.ts"])
        #expect(media.segments.map(\.duration) == [5.5, 6, 6])
        #expect(media.segments.map(\.isDiscontinuous) == [false, true, false])
        #expect(media.segments.map(\.isGap) == [false, false, true])
    }

    @Test func aRangeWithoutABeginningFollowsTheLastOfItsFile() throws {
        let media = try media(
            Self.head + """
                #EXT-X-MAP:URI="a.mp4",BYTERANGE="100"
                #EXTINF:6,
                #EXT-X-BYTERANGE:50@100
                a.mp4
                #EXTINF:6,
                #EXT-X-BYTERANGE:60
                a.mp4
                """)
        #expect(media.segments.map(\.resource.range) == [100..<150, 150..<210])
        #expect(media.segments.map(\.map?.range) == [0..<100, 0..<100])
        #expect(throws: PlaylistError.malformed(line: 5, "has a byte range that begins nowhere")) {
            try self.media(Self.head + "#EXTINF:6,\n#EXT-X-BYTERANGE:60\na.mp4")
        }
    }

    @Test(.spec("RFC 8216 §5.2")) func aKeyHoldsUntilTheNextOne() throws {
        let media = try media(
            Self.head + """
                #EXT-X-MEDIA-SEQUENCE:258
                #EXT-X-KEY:METHOD=AES-128,URI="k1"
                #EXTINF:6,
                a
                #EXT-X-KEY:METHOD=AES-128,URI="k2",IV=0xA0000000000000000000000000000001
                #EXTINF:6,
                b
                #EXT-X-KEY:METHOD=NONE
                #EXTINF:6,
                c
                """)
        #expect(media.segments.map(\.resource.key?.reference) == ["k1", "k2", nil])
        #expect(media.segments[0].vector == [UInt8](repeating: 0, count: 14) + [1, 2])
        #expect(media.segments[1].vector == [0xA0] + [UInt8](repeating: 0, count: 14) + [1])
    }

    @Test(arguments: [
        ("SAMPLE-AES", "", "SAMPLE-AES"), ("ISO-23001-7", "", "ISO-23001-7"),
        ("SAMPLE-AES", ",KEYFORMAT=\"com.apple.streamingkeydelivery\"", "FairPlay (SAMPLE-AES)"),
        ("AES-128", ",KEYFORMAT=\"com.microsoft.playready\"", "PlayReady (AES-128)"),
    ])
    func whatIsProtectedIsRefusedByItsName(
        _ method: String, _ format: String, _ name: String
    ) throws {
        let word = method.filter { $0.isLetter || $0 == "-" }
        #expect(throws: PlaylistError.protected(by: name.replacing(method, with: word))) {
            try media(Self.head + "#EXT-X-KEY:METHOD=\(method),URI=\"k\"\(format)")
        }
    }

    @Test func theVariantWithAVoiceAndLeastElseComesFirst() throws {
        let text = """
            #EXTM3U
            #EXT-X-DEFINE:NAME="host",VALUE="cdn.example"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="low",NAME="en",DEFAULT=YES,URI="voice.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="low",NAME="de",URI="stimme.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=100,CODECS="avc1.4d401f"
            mute.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=900,CODECS="avc1.4d401f,mp4a.40.2"
            high.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=500,AUDIO="low",CODECS="avc1.4d401f"
            low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=700
            https://{$host}/middle.m3u8
            """
        guard case .variants(let variants, let variables) = try Playlist(Array(text.utf8)) else {
            Issue.record("no variants")
            return
        }
        #expect(
            variants.map(\.reference) == [
                "voice.m3u8", "https://cdn.example/middle.m3u8", "high.m3u8",
            ])
        #expect(variables == ["host": "cdn.example"])
    }

    /// As players do: the digits in front count, and what is nothing else is none.
    @Test(
        arguments: [
            ("0.5 tvg-id=\"a\",Title", 0.5), ("6", 6), ("6.,", 6), (".5,", 0.5), ("1.2.3,", 1.2),
            (" 2.5 ,a", 2.5), ("10;x,", 10), ("", 0), (",a", 0), ("-1,IPTV", 0), ("nan,", 0),
            ("1e300,", 1), ("99999999999999999999999999,", 86_400), ("٣,", 0),
        ] as [(String, Double)])
    func aDurationIsItsDigits(_ text: String, _ seconds: Double) throws {
        #expect(try media(Self.head + "#EXTINF:\(text)\na").segments.map(\.duration) == [seconds])
    }

    @Test(
        arguments: [
            ("6", 6), ("0", 8), ("", 8), ("-3", 8), ("9.7", 9), ("10 s", 10), ("99999", 8),
            ("99999999999999999999", 8), (nil, 8),
        ] as [(String?, Int)])
    func aTargetThatIsNoneIsThatOfTheLongestSegment(_ text: String?, _ seconds: Int) throws {
        let tag = text.map { "#EXT-X-TARGETDURATION:\($0)\n" } ?? ""
        #expect(try media(tag + "#EXTINF:7.2,\na").targetDuration == seconds)
        #expect(try media("#EXT-X-TARGETDURATION:0\n#EXTINF:0.2,\na").targetDuration == 1)
        #expect(try media("#EXT-X-TARGETDURATION:0").targetDuration == 1)
    }

    @Test(
        arguments: [
            ("7", 7), ("-1", 0), ("", 0), ("x", 0), ("12 a", 12),
            ("17648211123456789", 17_648_211_123_456_789), ("99999999999999999999", .max / 2),
        ] as [(String, Int)])
    func aMediaSequenceIsItsDigits(_ text: String, _ number: Int) throws {
        let found = try media(
            Self.head + "#EXT-X-MEDIA-SEQUENCE:\(text)\n#EXTINF:6,\na\n#EXTINF:6,\nb")
        #expect(found.segments.map(\.sequence) == [number, number + 1])
    }

    @Test(arguments: ["\n", "\r", "\r\n", "\n\n", "\r\n\r\n", "\n\r\n \r"])
    func linesEndAtCRAndLFAlone(_ end: String) throws {
        let text =
            Self.head + "#EXTINF:6,a\u{2028}b\u{85}c\u{0B}d\na.ts\n#EXTINF:6,\nb\u{2029}.ts\n"
        for mark in ["", "\u{FEFF}"] {
            let bytes = Array((mark + "#EXTM3U\n" + text).replacing("\n", with: end).utf8)
            #expect(Playlist.begins(bytes))
            guard case .media(let media) = try Playlist(bytes) else {
                Issue.record("no segments")
                return
            }
            #expect(media.segments.map(\.resource.reference) == ["a.ts", "b\u{2029}.ts"])
        }
    }

    @Test(arguments: [("\n\n", 5), ("\r\r\n", 5), ("\n# a comment\n \n", 6), ("\n", 4)])
    func aLineThatIsWrongIsNamedByItsNumber(_ gap: String, _ line: Int) {
        #expect(throws: PlaylistError.malformed(line: line, "lacks a URI")) {
            try media(Self.head + "#EXTINF:6" + gap + "#EXT-X-KEY:METHOD=AES-128\n\n")
        }
    }

    @Test(arguments: [
        "", "#EXT-X-TARGETDURATION:6\na.ts",
        "#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n#EXT-X-BYTERANGE:\(Int.max)@\(Int.max)\na",
        "#EXT-X-TARGETDURATION:6\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x"
            + String(repeating: "1", count: 33),
        "#EXT-X-TARGETDURATION:6\n#EXT-X-KEY:METHOD=AES-128",
        "#EXT-X-TARGETDURATION:6\n#EXT-X-SKIP:SKIPPED-SEGMENTS=3",
        "#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n{$nothing}.ts",
        "#EXT-X-STREAM-INF:BANDWIDTH=1\na\n#EXTINF:6,\nb",
    ])
    func whatIsWrongIsRefused(_ text: String) {
        #expect(throws: PlaylistError.self) { try media(text) }
    }

    @Test func sizesAreBounded() {
        let segments = String(repeating: "#EXTINF:1,\na\n", count: Playlist.segmentLimit + 1)
        #expect(throws: PlaylistError.tooLong) { try media(Self.head + segments) }
        let comment = "#" + String(repeating: " ", count: Playlist.byteLimit)
        #expect(throws: PlaylistError.noPlaylist) { try media(Self.head + comment) }
        // A variable may not double what others doubled.
        let doubling = (1..<40).map {
            "#EXT-X-DEFINE:NAME=\"v\($0)\",VALUE=\"{$v\($0 - 1)}{$v\($0 - 1)}\""
        }
        let text = "#EXT-X-DEFINE:NAME=\"v0\",VALUE=\"xxxx\"\n" + doubling.joined(separator: "\n")
        #expect(throws: PlaylistError.self) { try media(Self.head + text) }
    }
}
