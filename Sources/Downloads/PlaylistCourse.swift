// SPDX-License-Identifier: Apache-2.0

/// Which segments of a playlist are to be fetched, when it is loaded again, and when that ends; pure.
///
/// Segments that are there already count. An encoder that begins its numbers again makes a new run
/// of the same recording.
struct PlaylistCourse: Sendable {
    /// The number of the last segment that was taken; nil before the first.
    private var last: Int?
    /// Number of the first segment of the last playlist.
    private var first: Int?
    /// A segment's number in the recording, less its own.
    private var offset = 0
    /// Identities of the seen segments, by their numbers in the recording.
    private var identities: [Int: String] = [:]
    /// Segments of the last playlist, if it was far behind and had none that is new.
    private var behind: [MediaSegment] = []
    private var unchangedCount = 0
    /// Limit of the recording in seconds; nil: none.
    private let longest: Double?
    private var taken = 0.0
    /// Segments that were gone before they were seen.
    private(set) var lostCount = 0

    /// So many times in a row a live playlist may stay as it was.
    static let unchangedLimit = 30

    init(after entries: [LocalPlaylist.Entry] = [], longest: Double? = nil) {
        (last, self.longest) = (entries.last?.sequence, longest)
        taken = entries.reduce(0) { $0 + $1.duration }
        for entry in entries { identities[entry.sequence] = entry.identity }
    }

    enum Next: Sendable, Equatable {
        /// After so many seconds.
        case reload(after: Double)
        case ends
        /// It has not changed for too long.
        case standsStill
    }

    /// - Returns: what is to be fetched, in order, and what comes then.
    mutating func take(_ playlist: MediaPlaylist) -> (new: [MediaSegment], next: Next) {
        var (new, playlist): ([MediaSegment], MediaPlaylist) = ([], playlist)
        var isNewRun = align(&playlist)
        for segment in playlist.segments {
            identities[segment.sequence + offset] = segment.identity
        }
        for var segment in playlist.segments[start(of: playlist)...] {
            segment.number = segment.sequence + offset
            if let last, segment.number <= last { continue }
            if let longest, taken >= longest { return (new, .ends) }
            if let last, segment.number > last + 1 { lostCount += segment.number - last - 1 }
            if isNewRun || last.map({ segment.number > $0 + 1 }) == true {
                segment.isDiscontinuous = true
            }
            isNewRun = false
            last = segment.number
            taken += segment.duration
            new.append(segment)
        }
        if playlist.isEnded { return (new, .ends) }
        if let longest, taken >= longest { return (new, .ends) }
        unchangedCount = new.isEmpty ? unchangedCount + 1 : 0
        guard unchangedCount < Self.unchangedLimit else { return (new, .standsStill) }
        // The pause is a target duration after a change, half of it otherwise (RFC 8216 §6.3.4).
        let pause = Double(playlist.targetDuration) / (new.isEmpty ? 2 : 1)
        return (new, .reload(after: max(0.5, pause)))
    }

    /// Finds where the playlist's numbers belong in the recording; true of a new run, behind all else.
    ///
    /// Numbers that go back are one if other segments have them now: a server behind may have an old
    /// playlist for a while. An encoder may give its segments the same names again: they are a new run
    /// if a playlist ends more than its own length behind the last segment that was taken, and the next
    /// one goes on from there and is behind still. An old copy stays as it is, or catches up at once.
    private mutating func align(_ playlist: inout MediaPlaylist) -> Bool {
        guard let begin = playlist.segments.first, let end = playlist.segments.last
        else { return false }
        let seen = behind
        behind = []
        defer { first = begin.sequence + offset }
        guard let last, end.sequence + offset < last || begin.sequence + offset < first ?? .min
        else { return false }
        if playlist.segments.contains(where: { identities[$0.sequence + offset] == $0.identity }) {
            let goesOn =
                seen.contains { $0.sequence == begin.sequence }
                && !seen.contains { $0.sequence == end.sequence }
            guard goesOn, end.sequence + offset < last else {
                let isFar = end.sequence + offset + playlist.segments.count <= last
                behind = isFar ? playlist.segments : []
                return false
            }
            // They were not taken yet.
            playlist.segments = seen.filter { $0.sequence < begin.sequence } + playlist.segments
        }
        let same = playlist.segments.filter { $0.identity == identities[last] }
        // An earlier process has taken some of the run.
        if same.count == 1 {
            offset = last - same[0].sequence
            return false
        }
        offset = last + 1 - playlist.segments[0].sequence
        return true
    }

    /// A live recording is joined three target durations before its end (RFC 8216 §6.3.3); one that
    /// keeps its segments is fetched whole.
    private func start(of playlist: MediaPlaylist) -> Int {
        guard last == nil, !playlist.isEnded, !playlist.isEvent else { return 0 }
        var (index, rest) = (playlist.segments.count, 0.0)
        while index > 0, rest < Double(3 * playlist.targetDuration) {
            index -= 1
            rest += playlist.segments[index].duration
        }
        return index
    }
}

/// The playlist of what was fetched, for a player: it names files beside it and nothing else.
///
/// While segments are fetched, a file has a line for each that is there, in order, so
/// that a later run goes on behind it.
struct LocalPlaylist: Sendable {
    static let name = "index.m3u8"
    /// Name of the incomplete playlist, while segments are fetched.
    static let partName = "index.part"

    struct Entry: Sendable, Equatable {
        var sequence: Int
        var duration: Double
        /// Origin of the segment, without secrets; another recording has another one.
        var identity: String
        /// Name of the segment's file; nil when it is missing.
        var name: String?
        var map: String?
        var isDiscontinuous: Bool

        init(_ segment: MediaSegment, name: String?, map: String?) {
            (sequence, duration) = (segment.number, segment.duration)
            isDiscontinuous = segment.isDiscontinuous
            (identity, self.name, self.map) = (segment.identity, name, map)
        }

        fileprivate init?(_ words: [Substring]) {
            guard words.count == 6, let sequence = Int(words[0]), let duration = Double(words[1])
            else { return nil }
            let text = { (word: Substring) in word == "-" ? nil : String(word) }
            (self.sequence, self.duration, identity) = (sequence, duration, String(words[2]))
            (name, map, isDiscontinuous) = (text(words[3]), text(words[4]), words[5] == "1")
        }

        var line: String {
            [
                "\(sequence)", "\(duration)", identity, name ?? "-", map ?? "-",
                isDiscontinuous ? "1" : "0",
            ].joined(separator: " ") + "\n"
        }
    }

    /// Reads the lines of `Entry.line`; one that was not written to its end does not count.
    static func entries(in text: String) -> [Entry] {
        var entries: [Entry] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            guard let entry = Entry(line.split(separator: " ")) else { break }
            entries.append(entry)
        }
        return entries
    }

    /// The playlist of all entries that have a file.
    static func text(of entries: [Entry]) -> String {
        let target = entries.map(\.duration).max() ?? 1
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:\(Int(target.rounded(.up)))",
            "#EXT-X-MEDIA-SEQUENCE:0", "#EXT-X-PLAYLIST-TYPE:VOD",
        ]
        var (map, isBroken): (String?, Bool) = (nil, false)
        for entry in entries {
            isBroken = isBroken || entry.isDiscontinuous || entry.name == nil
            guard let name = entry.name else { continue }
            if isBroken, lines.count > 5 { lines.append("#EXT-X-DISCONTINUITY") }
            if entry.map != map, let new = entry.map { lines.append("#EXT-X-MAP:URI=\"\(new)\"") }
            (map, isBroken) = (entry.map, false)
            lines += ["#EXTINF:\(entry.duration),", name]
        }
        return lines.joined(separator: "\n") + "\n#EXT-X-ENDLIST\n"
    }
}
