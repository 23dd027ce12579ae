// SPDX-License-Identifier: Apache-2.0

import Glibc

@testable import Downloads

/// libFuzzer calls this with each input, again and again; `scripts/fuzz.sh` builds it.
///
/// The input is one playlist, or several with zeros between them, as a live one is loaded again and again.
/// Whatever it is, numbers stay within their bounds, segments come in order and once, and the
/// playlist that a player gets can be read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPlaylist(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    var course = PlaylistCourse(longest: 1e6)
    var entries: [LocalPlaylist.Entry] = []
    for text in input.split(separator: 0) {
        do throws(PlaylistError) {
            guard case .media(var media) = try Playlist(Array(text)) else { continue }
            for index in media.segments.indices {
                let resource = media.segments[index].resource
                media.segments[index].identity = String(resource.reference.utf8.count)
            }
            PlaylistFuzz.check(media)
            for segment in course.take(media).new {
                entries.append(LocalPlaylist.Entry(segment, name: "\(segment.number).ts", map: nil))
            }
        } catch {
            precondition(error.description.utf8.count < 300, "a long message")
        }
    }
    PlaylistFuzz.check(entries)
    return 0
}

enum PlaylistFuzz {
    static func check(_ media: MediaPlaylist) {
        precondition((1...3_600).contains(media.targetDuration), "a target out of bounds")
        precondition(media.segments.count <= Playlist.segmentLimit, "too many segments")
        for segment in media.segments {
            precondition((0...86_400).contains(segment.duration), "a duration out of bounds")
            precondition(segment.sequence >= 0 && segment.vector.count == 16, "a wrong number")
            precondition(segment.resource.range.map { !$0.isEmpty } ?? true, "an empty range")
        }
    }

    static func check(_ entries: [LocalPlaylist.Entry]) {
        let numbers = entries.map(\.sequence)
        precondition(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "a wrong order")
        let lines = entries.map(\.line).joined()
        precondition(LocalPlaylist.entries(in: lines) == entries, "a list that is not read again")
        let text = LocalPlaylist.text(of: entries)
        do throws(PlaylistError) {
            guard case .media(let again) = try Playlist(Array(text.utf8)) else {
                preconditionFailure("a playlist of segments has become one of variants")
            }
            precondition(again.segments.count == entries.count, "a segment that is lost")
        } catch {
            preconditionFailure("a playlist that is not read again")
        }
    }
}
