// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Downloads

@Suite struct PlaylistCourseTests {
    /// Segments of the encoder's run with that name.
    private func playlist(
        _ numbers: Range<Int>, of run: String = "a", isEnded: Bool = false
    ) -> MediaPlaylist {
        let segments = numbers.map { number in
            var segment = MediaSegment(
                sequence: number, resource: .init(reference: "\(run)\(number)"), duration: 6)
            segment.identity = segment.resource.reference
            return segment
        }
        return MediaPlaylist(segments: segments, targetDuration: 6, isEnded: isEnded)
    }

    private func entries(_ segments: [MediaSegment]) -> [LocalPlaylist.Entry] {
        segments.map { LocalPlaylist.Entry($0, name: "\($0.number).ts", map: nil) }
    }

    private func names(_ segments: [MediaSegment]) -> [String] {
        segments.map { ($0.isDiscontinuous ? "|" : "") + $0.identity }
    }

    /// One playlist after the other, and what is taken of all of them, `|` being a discontinuity.
    @Test(
        arguments: [
            ([(0..<4, "a"), (0..<2, "b")], "a0 a1 a2 a3 |b0 b1", 0),
            ([(0..<4, "a"), (0..<1, "b"), (0..<3, "b")], "a0 a1 a2 a3 |b0 b1 b2", 0),
            ([(7..<9, "a"), (2..<12, "b")], "a7 a8 |b2 b3 b4 b5 b6 b7 b8 b9 b10 b11", 0),
            ([(5..<7, "a"), (0..<2, "b"), (0..<1, "c")], "a5 a6 |b0 b1 |c0", 0),
            // An old playlist from another server of the same recording.
            ([(0..<4, "a"), (0..<3, "a"), (1..<5, "a")], "a0 a1 a2 a3 a4", 0),
            ([(0..<4, "a"), (0..<2, "b"), (0..<1, "b"), (0..<3, "b")], "a0 a1 a2 a3 |b0 b1 b2", 0),
            // An encoder may use the same names again.
            ([(0..<4, "a"), (0..<1, "a"), (0..<2, "a"), (0..<3, "a")], "a0 a1 a2 a3 |a0 a1 a2", 0),
            (
                [(0..<2, "a"), (2..<4, "a"), (0..<2, "a"), (0..<2, "a"), (1..<3, "a")],
                "a0 a1 a2 a3 |a0 a1 a2", 0
            ),
            // Old copies catch up, or stay a little behind.
            (
                [
                    (0..<9, "a"), (0..<2, "a"), (0..<2, "a"), (5..<10, "a"), (1..<3, "a"),
                    (6..<11, "a"),
                ], "a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 a10", 0
            ),
            (
                [
                    (0..<9, "a"), (0..<2, "a"), (4..<8, "a"), (2..<6, "a"), (3..<7, "a"),
                    (5..<10, "a"),
                ], "a0 a1 a2 a3 a4 a5 a6 a7 a8 a9", 0
            ),
            // Addresses that are signed anew.
            ([(0..<3, "a"), (0..<4, "b")], "a0 a1 a2 b3", 0),
            ([(0..<2, "a"), (5..<6, "b")], "a0 a1 |b5", 3),
        ] as [([(Range<Int>, String)], String, Int)])
    func anEncoderMayBeginAgain(
        _ playlists: [(numbers: Range<Int>, run: String)], _ expected: String, _ lostCount: Int
    ) {
        var course = PlaylistCourse()
        var all: [MediaSegment] = []
        for (numbers, run) in playlists {
            var next = playlist(numbers, of: run)
            next.isEvent = true
            all += course.take(next).new
        }
        #expect(names(all).joined(separator: " ") == expected)
        #expect(course.lostCount == lostCount)
        // Each has a number of its own, in order.
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.number < $1.number })
        // Another process goes on behind it.
        guard let last = playlists.last else { return }
        var later = PlaylistCourse(after: entries(all))
        #expect(later.take(playlist(last.numbers, of: last.run)).new.isEmpty)
        let one = last.numbers.lowerBound..<last.numbers.upperBound + 1
        let new = later.take(playlist(one, of: last.run)).new
        #expect(names(new) == ["\(last.run)\(last.numbers.upperBound)"])
    }

    @Test func aRecordingIsTakenWhole() {
        var course = PlaylistCourse()
        let (new, next) = course.take(playlist(0..<10, isEnded: true))
        #expect(new.map(\.sequence) == Array(0..<10) && next == .ends)
        var later = PlaylistCourse(after: entries(Array(new.prefix(7))))
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

    @Test func aTimeEndsIt() {
        var course = PlaylistCourse(longest: 15)
        let (new, next) = course.take(playlist(0..<10))
        #expect(new.count == 3 && next == .ends)
        var later = PlaylistCourse(after: entries(new), longest: 15)
        #expect(later.take(playlist(0..<10)).new.isEmpty)
    }

    /// It may have stood before as long as it liked.
    @Test func oneThatStandsStillEnds() {
        var course = PlaylistCourse()
        for _ in 1..<PlaylistCourse.unchangedLimit { _ = course.take(playlist(0..<3)) }
        var steps = 0
        while case .reload = course.take(playlist(0..<4)).next { steps += 1 }
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
