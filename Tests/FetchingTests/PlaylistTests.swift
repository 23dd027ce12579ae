// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Fetching

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
                "voice.m3u8", "https://cdn.example/middle.m3u8", "high.m3u8", "mute.m3u8",
            ])
        #expect(variables == ["host": "cdn.example"])
    }

    @Test(arguments: [
        "", "#EXTINF:6,\na", "#EXT-X-TARGETDURATION:0", "#EXT-X-TARGETDURATION:6\na.ts",
        "#EXT-X-TARGETDURATION:6\n#EXTINF:-1,\na", "#EXT-X-TARGETDURATION:6\n#EXTINF:nan,\na",
        "#EXT-X-TARGETDURATION:6\n#EXTINF:1e300,\na",
        "#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:99999999999999999999",
        "#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:-1",
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

@Suite struct PlaylistCourseTests {
    private func playlist(_ numbers: Range<Int>, isEnded: Bool = false) -> MediaPlaylist {
        let segments = numbers.map {
            MediaSegment(sequence: $0, resource: .init(reference: "\($0)"), duration: 6)
        }
        return MediaPlaylist(segments: segments, targetDuration: 6, isEnded: isEnded)
    }

    @Test func aRecordingIsTakenWhole() {
        var course = PlaylistCourse()
        let (new, next) = course.take(playlist(0..<10, isEnded: true))
        #expect(new.map(\.sequence) == Array(0..<10) && next == .ends)
        var later = PlaylistCourse(after: 6)
        #expect(later.take(playlist(0..<10, isEnded: true)).new.map(\.sequence) == [7, 8, 9])
    }

    @Test(.spec("RFC 8216 §6.3.4")) func aLiveOneIsJoinedNearItsEndAndLoadedAgain() {
        var course = PlaylistCourse()
        var (new, next) = course.take(playlist(10..<20))
        #expect(new.map(\.sequence) == [17, 18, 19] && next == .reload(after: 6))
        (new, next) = course.take(playlist(10..<20))
        #expect(new.isEmpty && next == .reload(after: 3))
        (new, next) = course.take(playlist(23..<25))
        #expect(new.map(\.isDiscontinuous) == [true, false] && course.lostCount == 3)
        (new, next) = course.take(playlist(23..<26, isEnded: true))
        #expect(new.map(\.sequence) == [25] && next == .ends)
    }

    @Test func oneThatKeepsItsSegmentsIsTakenFromItsBeginning() {
        var course = PlaylistCourse()
        var event = playlist(0..<10)
        event.isEvent = true
        #expect(course.take(event).new.count == 10)
    }

    @Test func aTimeEndsIt() {
        var course = PlaylistCourse(longest: 15)
        let (new, next) = course.take(playlist(0..<10))
        #expect(new.count == 3 && next == .ends)
        var later = PlaylistCourse(after: 2, longest: 15, taken: 18)
        #expect(later.take(playlist(0..<10)).new.isEmpty)
    }

    @Test func oneThatStandsStillEnds() {
        var course = PlaylistCourse()
        var steps = 0
        while case .reload = course.take(playlist(0..<3)).next { steps += 1 }
        #expect(steps == PlaylistCourse.unchangedLimit)
    }
}

@Suite struct LocalPlaylistTests {
    private static let entries = [
        LocalPlaylist.Entry("4 6.0 a1 4.m4s map-1.mp4 0\n"),
        LocalPlaylist.Entry("5 5.5 a2 - - 0\n"),
        LocalPlaylist.Entry("6 6.0 a3 6.m4s map-1.mp4 0\n"),
        LocalPlaylist.Entry("7 6.0 a3 7.m4s map-2.mp4 1\n"),
    ].compactMap(\.self)

    @Test func itNamesFilesBesideItAlone() {
        let text = LocalPlaylist.text(of: Self.entries)
        let expected = """
            #EXTM3U
            #EXT-X-VERSION:7
            #EXT-X-TARGETDURATION:6
            #EXT-X-MEDIA-SEQUENCE:0
            #EXT-X-PLAYLIST-TYPE:VOD
            #EXT-X-MAP:URI="map-1.mp4"
            #EXTINF:6.0,
            4.m4s
            #EXT-X-DISCONTINUITY
            #EXTINF:6.0,
            6.m4s
            #EXT-X-DISCONTINUITY
            #EXT-X-MAP:URI="map-2.mp4"
            #EXTINF:6.0,
            7.m4s
            #EXT-X-ENDLIST

            """
        #expect(text == expected)
    }

    @Test func aTornLineDoesNotCount() {
        let text = Self.entries.map(\.line).joined()
        for count in 0...text.utf8.count {
            let part = String(decoding: Array(text.utf8.prefix(count)), as: UTF8.self)
            let entries = LocalPlaylist.entries(in: part)
            #expect(entries == Array(Self.entries.prefix(part.count { $0 == "\n" })))
        }
    }
}

extension LocalPlaylist.Entry {
    fileprivate init?(_ line: String) {
        guard let entry = LocalPlaylist.entries(in: line).first else { return nil }
        self = entry
    }
}
