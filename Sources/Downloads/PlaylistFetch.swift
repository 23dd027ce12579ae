// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import SpeechService
internal import Synchronization

/// Fetches the segments of a playlist, four at once, and makes a playlist of the files.
///
/// A round loads the playlist and then its new segments. A segment that fails is tried in the next
/// round, whose playlist may name other URLs. Touched by the thread of the download alone.
struct PlaylistFetch {
    /// The new playlist until it has its place.
    static let newName = "index.new"
    private static let laneCount = 4

    private let fetch: FileFetch
    private let segments: SegmentFetch
    private let folder: DownloadFolder
    private let meter: DownloadMeter
    private let notices: Notices
    /// The entries that are there, and how many bytes their list has on the disk.
    private var entries: [LocalPlaylist.Entry]
    private var listByteCount: Int
    /// References to variants: the one that is fetched, those that cannot be, and all the others.
    private var chosen: String?
    private var failed: Set<String> = []
    private var others: [String] = []

    /// Bytes of all segments.
    var byteCount: Int { segments.room.came }

    init(
        _ fetch: FileFetch, in folder: DownloadFolder, _ room: Room, _ meter: DownloadMeter,
        _ notices: Notices
    ) {
        (self.fetch, self.folder, self.meter, self.notices) = (fetch, folder, meter, notices)
        folder.removeLeftovers()
        entries = folder.entries()
        listByteCount = entries.reduce(0) { $0 + $1.line.utf8.count }
        for name in entries.compactMap(\.name) { room.add(folder.folder.size(of: name) ?? 0) }
        segments = SegmentFetch(fetch: fetch, folder: folder.folder, room: room)
    }

    /// Fetches all files, and returns their names; the new playlist is called `newName`.
    mutating func run(_ text: [UInt8], at url: ServiceURL) throws(DownloadFailure) -> [String] {
        var (text, place, failures) = ([UInt8]?(text), url, 0)
        /// The URL of the chosen variant.
        var variant: ServiceURL?
        var (course, isLive, wasGood) = (newCourse(), false, false)
        while true {
            let before = entries.count
            var isRead = false
            do throws(DownloadFailure) {
                if text == nil { (text, place) = try load(variant ?? fetch.download.url) }
                var (media, base) = try media(of: text ?? [], at: place)
                (isRead, wasGood) = (true, true)
                if base != place { variant = base }
                text = nil
                for index in media.segments.indices {
                    media.segments[index].identity = segments.identity(
                        of: media.segments[index].resource, base)
                }
                isLive = isLive || !media.isEnded
                if !isLive, !isSame(media) {
                    try folder.clear()
                    (entries, listByteCount) = ([], 0)
                    segments.room.clear()
                    course = newCourse()
                }
                let (new, next) = course.take(media)
                if course.lostCount > 0 {
                    notices.note(
                        "\(course.lostCount) segments were gone before they could be fetched")
                }
                guard entries.count + new.count <= Playlist.segmentLimit else {
                    throw .unusable("\(PlaylistError.tooLong)")
                }
                try fetch(new, at: base, isLive: isLive)
                failures = 0
                switch next {
                case .reload(let seconds): try fetch.pause(.seconds(seconds))
                case .ends: return try finish()
                case .standsStill:
                    notices.note(
                        "the live playlist has not changed for too long, and counts as ended")
                    return try finish()
                }
            } catch {
                switch error {
                case .unreachable, .busy, .refused: break
                // A page, or nothing, may stand for a while where a playlist was.
                case .unusable where wasGood && !isRead: break
                default: throw error
                }
                failures = entries.count > before ? 1 : failures + 1
                if failures >= FileFetch.pauses.count {
                    // Many servers remove a live playlist when it ends.
                    if isLive, !isRead, error.isLasting {
                        notices.note(
                            "the live playlist cannot be had any more, and counts as ended: \(error)"
                        )
                        return try finish()
                    }
                    // Segments of another variant are not gone on with.
                    guard !isLive, let chosen, chosen != others.last else { throw error }
                    failed.insert(chosen)
                    failures = 1
                }
                try fetch.pause(FileFetch.pauses[failures - 1])
                (text, variant) = (nil, nil)
                // It has taken segments that are not there.
                if isRead { course = newCourse() }
            }
        }
    }

    private func newCourse() -> PlaylistCourse {
        PlaylistCourse(after: entries, longest: fetch.download.longest.map { $0 / .seconds(1) })
    }

    private func load(_ url: ServiceURL) throws(DownloadFailure) -> ([UInt8], ServiceURL) {
        let target = FetchTarget(
            nil, limit: Playlist.byteLimit, "\(PlaylistError.noPlaylist)")
        guard case .whole(let place) = try fetch.load(url, isOpened: true, into: target) else {
            throw .unusable("it answers 304, unasked")
        }
        return (target.bytes, place)
    }

    /// The first media playlist among the variants that can be had.
    private mutating func media(
        of text: [UInt8], at url: ServiceURL
    ) throws(DownloadFailure) -> (MediaPlaylist, ServiceURL) {
        switch try read(text) {
        case .media(let media): return (media, url)
        case .variants(let variants, let variables):
            others = variants.map(\.reference).filter { !failed.contains($0) }
            for reference in others {
                do throws(DownloadFailure) {
                    let (inner, place) = try load(fetch.resolve(reference, from: url))
                    guard case .media(let media) = try read(inner, variables) else {
                        throw .unusable("its variants are playlists of variants")
                    }
                    chosen = reference
                    return (media, place)
                } catch {
                    switch error {
                    case .refused, .busy, .unreachable, .unusable: break
                    default: throw error
                    }
                    guard reference != others.last else { throw error }
                }
            }
            throw .unusable("none of its variants can be had")
        }
    }

    private func read(
        _ text: [UInt8], _ variables: [String: String] = [:]
    ) throws(DownloadFailure) -> Playlist {
        do throws(PlaylistError) {
            return try Playlist(text, importing: variables)
        } catch {
            throw .unusable(error.description)
        }
    }

    private func isSame(_ media: MediaPlaylist) -> Bool {
        let known = Dictionary(media.segments.map { ($0.sequence, $0.identity) }) { first, _ in
            first
        }
        return entries.allSatisfy { known[$0.sequence] ?? $0.identity == $0.identity }
    }

    /// Fetches segments side by side, and lists each that is there behind all before it.
    private mutating func fetch(
        _ new: [MediaSegment], at base: ServiceURL, isLive: Bool
    ) throws(DownloadFailure) {
        let lanes = try onDisk { () throws(SystemError) in try Lanes(new.count) }
        let lane: @Sendable () -> Void = { [segments] in
            while let index = lanes.next() {
                lanes.end(
                    index,
                    Result { () throws(DownloadFailure) in
                        try segments.entry(of: new[index], at: base, isLive)
                    })
            }
        }
        let threads = try onDisk { () throws(SystemError) in
            try (0..<min(Self.laneCount, new.count)).map { _ throws(SystemError) in
                try NamedThread(name: "fetch", lane)
            }
        }
        defer { for thread in threads { thread.join() } }
        let list = try list()
        while let done = lanes.takeDone() {
            for entry in try done.get() {
                let line = Array(entry.line.utf8)
                try onDisk { () throws(SystemError) in
                    try writeAll(line.span, to: list.number, at: listByteCount)
                }
                entries.append(entry)
                listByteCount += line.count
            }
            meter.tell(byteCount, segments: entries.count)
        }
    }

    /// The list on the disk, cut behind the last line that is whole.
    private func list() throws(DownloadFailure) -> OwnedDescriptor {
        try onDisk { () throws(SystemError) in
            let file = try folder.folder.openOrCreateFile(LocalPlaylist.partName)
            try truncateFile(file.number, to: listByteCount)
            return file
        }
    }

    private func finish() throws(DownloadFailure) -> [String] {
        let names = Set(entries.compactMap(\.map)).sorted() + entries.compactMap(\.name)
        guard entries.contains(where: { $0.name != nil }) else {
            throw .unusable("its playlist has no segment that could be fetched")
        }
        let gapCount = entries.count { $0.name == nil }
        if gapCount > 0 {
            notices.note(
                gapCount == 1
                    ? "a segment could not be had; a gap is left"
                    : "\(gapCount) segments could not be had; gaps are left")
        }
        try onDisk { () throws(SystemError) in
            try folder.folder.replaceFile(
                Self.newName, with: Array(LocalPlaylist.text(of: entries).utf8))
        }
        return names
    }
}

/// Whose turn which segment is, and what has become of each; from any thread.
private final class Lanes: Sendable {
    private struct State {
        var next = 0
        var ended: [Int: LocalPlaylist.Entry] = [:]
        /// As many were taken, or have failed.
        var takenCount = 0
        var runningCount = 0
        var failure: DownloadFailure?
    }

    private let count: Int
    private let state = Mutex(State())
    private let news: Wakeup

    init(_ count: Int) throws(SystemError) {
        self.count = count
        news = try Wakeup(isPolled: false)
    }

    func next() -> Int? {
        state.withLock { state in
            guard state.failure == nil, state.next < count else { return nil }
            defer { (state.next, state.runningCount) = (state.next + 1, state.runningCount + 1) }
            return state.next
        }
    }

    func end(_ index: Int, _ result: Result<LocalPlaylist.Entry, DownloadFailure>) {
        state.withLock { state in
            state.runningCount -= 1
            switch result {
            case .success(let entry): state.ended[index] = entry
            // The first counts.
            case .failure(let error): state.failure = state.failure ?? error
            }
        }
        news.signal()
    }

    /// Waits for those whose turn it is to be listed, and at last for the failure; nil once all are.
    func takeDone() -> Result<[LocalPlaylist.Entry], DownloadFailure>? {
        while true {
            let result = state.withLock {
                state -> Result<[LocalPlaylist.Entry], DownloadFailure>? in
                var done: [LocalPlaylist.Entry] = []
                while let entry = state.ended.removeValue(forKey: state.takenCount) {
                    done.append(entry)
                    state.takenCount += 1
                }
                if !done.isEmpty { return .success(done) }
                guard let failure = state.failure, state.runningCount == 0 else { return nil }
                return .failure(failure)
            }
            if let result { return result }
            if state.withLock({ $0.takenCount == count }) { return nil }
            // Each end signals; a lane that ends without one has found a failure.
            news.wait(.until(.now + .milliseconds(250)))
        }
    }
}
