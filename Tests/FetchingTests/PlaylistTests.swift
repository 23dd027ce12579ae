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

@Suite struct DownloadAnswerTests {
    private static let tag = "\"a\""
    private static let rest = FileRequest(FilePart(byteCount: 40, total: 100, tag: tag))

    private func step(
        _ request: FileRequest, _ status: Int, _ fields: [String: String] = [:]
    ) -> FileRequest.Step {
        request.step(status: status, headers: fields.map { (name: $0.key, value: $0.value) })
    }

    @Test func aPartIsAskedForWithItsTagAlone() {
        let fields = Self.rest.fields.map { "\($0.name): \($0.value)" }
        #expect(
            fields == ["Accept-Encoding: identity", "Range: bytes=40-", "If-Range: \"a\""])
        let untagged = FileRequest(FilePart(byteCount: 40, total: 100))
        #expect(untagged.fields.map(\.name) == ["Accept-Encoding"])
        let range = FileRequest(FilePart(byteCount: 5, total: 50, tag: Self.tag), of: 100..<150)
        #expect(range.fields[1].value == "bytes=105-149")
        #expect(FileRequest(knownTag: "\"b\"").fields.last?.value == "\"b\"")
    }

    @Test func aPartThatFitsIsAppended() {
        let found = step(Self.rest, 206, ["content-range": "bytes 40-99/100", "etag": Self.tag])
        #expect(found == .take(at: 40, skipping: 0, Self.rest.part))
        // Only some of it: the rest is asked for again.
        let some = step(Self.rest, 206, ["content-range": "bytes 40-59/100", "etag": Self.tag])
        #expect(some == .take(at: 40, skipping: 0, Self.rest.part))
    }

    @Test(arguments: [
        ["content-range": "bytes 41-99/100", "etag": "\"a\""],
        ["content-range": "bytes 0-99/100", "etag": "\"a\""],
        ["content-range": "bytes 40-119/120", "etag": "\"a\""],
        ["content-range": "bytes 40-99/100", "etag": "\"b\""],
        ["content-range": "bytes 40-99/100", "etag": "W/\"a\""],
        ["content-range": "bytes 40-99/100"], ["content-range": "bytes 40-99/*"],
        ["content-range": "bytes 99-40/100"],
        ["content-range": "bytes 40-100/100"], ["content-range": "items 40-99/100"], [:],
    ])
    func aPartThatDoesNotFitBeginsAnew(_ fields: [String: String]) {
        #expect(step(Self.rest, 206, fields) == .anew)
    }

    @Test func aWholeFileBeginsAnew() {
        let found = step(Self.rest, 200, ["content-length": "120", "etag": "\"b\""])
        #expect(found == .take(at: 0, skipping: 0, FilePart(total: 120, tag: "\"b\"")))
        let weak = step(FileRequest(), 200, ["content-length": "120", "etag": "W/\"b\""])
        #expect(weak == .take(at: 0, skipping: 0, FilePart(total: 120, tag: "W/\"b\"")))
        // It shows that a copy is the same, and not that a part belongs to it.
        let part = FileRequest(FilePart(byteCount: 40, total: 120, tag: "W/\"b\""))
        #expect(part.fields.count == 1)
        #expect(step(FileRequest(), 200) == .take(at: 0, skipping: 0, FilePart()))
    }

    @Test func aStatus200WithAPartIsTakenForWhatItSays() {
        let fields = ["content-range": "bytes 40-99/100", "content-length": "60"]
        #expect(step(Self.rest, 200, fields) == .anew)
        let tagged = step(Self.rest, 200, fields.merging(["etag": Self.tag]) { $1 })
        #expect(tagged == .take(at: 40, skipping: 0, Self.rest.part))
        let unasked = step(FileRequest(), 200, fields)
        #expect(unasked == .unusable("it answers with a part that was not asked for"))
        let whole = step(FileRequest(), 200, ["content-range": "bytes 0-99/100"])
        #expect(whole == .take(at: 0, skipping: 0, FilePart(total: 100)))
    }

    @Test func aRangeThatIsNotKeptIsCutOutOfTheWhole() {
        let request = FileRequest(of: 100..<150)
        let whole = step(request, 200, ["content-length": "1000"])
        #expect(whole == .take(at: 0, skipping: 100, FilePart(total: 50)))
        let part = step(request, 206, ["content-range": "bytes 100-149/1000"])
        #expect(part == .take(at: 0, skipping: 0, FilePart(total: 50)))
        #expect(
            step(request, 200, ["content-length": "149"])
                == .unusable("its file ends before the range"))
        #expect(
            step(request, 206, ["content-range": "bytes 0-49/1000"])
                == .unusable("it answers with a part that was not asked for"))
        #expect(
            step(request, 206, ["content-range": "bytes 100-119/120"])
                == .unusable("its file ends before the range"))
    }

    @Test func aRangeBehindTheEndIsTheWholeOrAnotherFile() {
        let complete = FileRequest(FilePart(byteCount: 100, tag: Self.tag))
        #expect(step(complete, 416, ["content-range": "bytes */100"]) == .whole)
        #expect(step(complete, 416, ["content-range": "bytes */99"]) == .anew)
        #expect(step(complete, 416) == .anew)
        #expect(
            step(complete, 416, ["content-range": "bytes */100", "etag": "\"b\""]) == .anew)
        #expect(step(FileRequest(), 416) == .refused(status: 416))
    }

    @Test func otherAnswersAreToldApart() {
        #expect(step(FileRequest(knownTag: Self.tag), 304) == .unchanged)
        #expect(step(FileRequest(), 304) == .unusable("it answers 304, unasked"))
        #expect(step(FileRequest(), 302, ["location": "/b"]) == .moved(to: "/b"))
        for status in [408, 425, 429, 500, 503] {
            #expect(step(FileRequest(), status) == .busy(status: status, after: nil))
        }
        for status in [204, 401, 403, 404, 410] {
            #expect(step(FileRequest(), status) == .refused(status: status))
        }
        #expect(
            step(FileRequest(), 200, ["content-encoding": "gzip"])
                == .unusable("it comes in the encoding 'gzip', unasked"))
    }

    @Test func whatAServerSaysOfTheNextTryCounts() {
        let found = FileRequest().step(status: 503, headers: [(name: "retry-after", value: "7")])
        #expect(found == .busy(status: 503, after: 7))
        let date = FileRequest().step(
            status: 429, headers: [(name: "retry-after", value: "Wed, 25 Nov 2026 09:00:00 GMT")])
        #expect(date == .busy(status: 429, after: nil))
    }
}
