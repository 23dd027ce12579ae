// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import Glibc
internal import LinuxPlatform
internal import SpeechService
internal import Synchronization

/// Fetches one download to its end, on a thread of its own, which may block.
struct DownloadRun {
    let downloads: Downloads
    let isUnasked: Bool
    let isCancelled: @Sendable () -> Bool
    let meter: DownloadMeter
    let notices = Notices()
    var download: Download
    var note: DownloadNote
    /// The copy that was there when this run began.
    private var copy: (path: String, byteCount: Int?)?

    /// How much comes between two syncs, in bytes.
    static let syncInterval = 16 << 20

    init(
        _ download: Download, in downloads: Downloads, isUnasked: Bool,
        _ tell: @escaping @Sendable (DownloadProgress) -> Void,
        isCancelled: @escaping @Sendable () -> Bool
    ) {
        (self.download, self.downloads, self.isUnasked) = (download, downloads, isUnasked)
        self.isCancelled = isCancelled
        note = DownloadNote(download)
        meter = DownloadMeter(DownloadFolder.id(of: download.url), tell)
    }

    mutating func run() throws(DownloadFailure) -> FetchedFile {
        let place = downloads.path
        let folder = try onDisk { () throws(SystemError) in
            let parent = try Folder.make(at: place)
            try parent.closeToOthers()
            return try DownloadFolder(meter.id, in: parent, makes: true)
        }
        try lock(folder)
        defer { folder.folder.unlock() }
        if let known = try folder.note() {
            note = known
            note.adopt(download)
        }
        download.destination = note.destination
        download.longest = note.longest.map { .seconds($0) }
        // They were written by us.
        download.ownOrigins.formUnion(note.ownOrigins.compactMap { try? Origin($0) })
        if isUnasked, folder.isPaused { throw .paused }
        try onDisk { () throws(SystemError) in
            try folder.folder.removeFile(DownloadFolder.pauseName)
        }
        try folder.save(note)
        do throws(DownloadFailure) {
            return try fetch(in: folder)
        } catch {
            guard error != .left, error != .paused else { throw error }
            // It has been changed meanwhile.
            note = (try? folder.note()) ?? note  // What failed first is told, here and below.
            (note.reason, note.isLasting) = (error.description, error.isLasting)
            try? folder.save(note)  // The first error is told.
            throw error
        }
    }

    /// Waits until no other process, and no other task, fetches the same.
    private func lock(_ folder: DownloadFolder) throws(DownloadFailure) {
        let news = try? Wakeup(isPolled: false)  // It needs no descriptor.
        while try onDisk({ () throws(SystemError) in try !folder.folder.lock() }) {
            if isUnasked || isCancelled() { throw .left }
            news?.wait(.until(.now + .milliseconds(100)))
        }
    }

    private mutating func fetch(in folder: DownloadFolder) throws(DownloadFailure) -> FetchedFile {
        if let sha256 = download.sha256, let path = note.path {
            // An unreadable file is fetched again.
            let isRight = (try? Self.digest(of: path)) == sha256
            if isRight, isCopyWanted { return try file(isUnchanged: true) }
            download.isFresh = !isRight
        }
        let knownTag = try knownTag(in: folder)
        let fetch = FileFetch(
            download: download, transport: try downloads.transport(), turns: downloads.turns,
            token: try token(),
            isOver: { [isCancelled, meter] in
                meter.catchUp()
                return isCancelled() ? .left : folder.isPaused ? .paused : nil
            },
            notices: notices)
        let parent = try onDisk { () throws(SystemError) in try Folder.make(at: downloads.path) }
        let room = try Room(in: parent, without: folder.id, downloads.limits)
        let target = try target(in: folder, room)
        let ending = try fetch.load(
            download.url, isOpened: true, knownTag: knownTag, into: target)
        guard case .whole(let url) = ending else { return try file(isUnchanged: true) }
        note.tag = target.part.tag
        guard target.part.byteCount > 0 else { throw .unusable("it is empty") }
        try check(folder)
        let bytes = try onDisk { () throws(SystemError) in
            target.part.byteCount <= Playlist.byteLimit
                ? try folder.folder.contents(of: DownloadFolder.partName, limit: Playlist.byteLimit)
                : []
        }
        let isPlaylist =
            Playlist.begins(bytes) && bytes.firstRange(of: Array("#EXT-X-".utf8)) != nil
        guard isPlaylist || !FileSuffix.isPlaylist(url, type: target.type) else {
            throw .unusable("\(PlaylistError.noPlaylist)")
        }
        // Some scripts call all that they send so.
        guard isPlaylist || bytes.first != 0x3C || !FileSuffix.isWebPage(target.type) else {
            throw .unusable("it is a web page, not a recording")
        }
        if isPlaylist {
            note.isPlaylist = true
            var playlist = PlaylistFetch(fetch, in: folder, room, meter, notices)
            let names = try playlist.run(bytes, at: url)
            note.byteCount = playlist.byteCount
            try finish(folder, LocalPlaylist.name, names, partName: PlaylistFetch.newName)
        } else {
            try target.sync()
            note.byteCount = target.part.byteCount
            let suffix = FileSuffix.of(url, type: target.type)
            try finish(folder, "\(folder.id).\(suffix)", partName: DownloadFolder.partName)
        }
        return try file(isUnchanged: false)
    }

    /// Gives up a file that is not the one that is wanted.
    private mutating func check(_ folder: DownloadFolder) throws(DownloadFailure) {
        guard let wanted = download.sha256 else { return }
        let found = try Self.digest(of: "\(folder.folder.path)/\(DownloadFolder.partName)")
        guard found != wanted else { return }
        try folder.clear()
        (note.tag, note.total, note.synced) = (nil, nil, 0)
        try folder.save(note)
        throw .unusable("its SHA-256 is \(found), and not \(wanted)")
    }

    private static func digest(of path: String) throws(DownloadFailure) -> String {
        try onDisk { () throws(SystemError) in try SHA256.ofFile(at: path).0.hexadecimal }
    }

    /// Whether what was fetched before is there as it was, at the place where it is wanted.
    private var isCopyWanted: Bool {
        // A file of another length was changed or damaged.
        guard let path = note.path, OwnFile.isRegular(path),
            note.isPlaylist || Self.byteCount(of: path) == note.byteCount
        else { return false }
        return download.destination.map { $0 == path || path.hasPrefix($0 + "/") } ?? true
    }

    /// The tag of the copy that is there; what is there is given up if it is not wanted.
    private mutating func knownTag(in folder: DownloadFolder) throws(DownloadFailure) -> String? {
        copy = note.path.map { ($0, note.byteCount) }
        if isCopyWanted, !download.isFresh, let tag = note.tag { return tag }
        if let parent = download.destination.map(Self.parent), !Folder.isFolder(at: parent) {
            throw .disk("there is no folder '\(parent)'")
        }
        if let destination = download.destination, destination != note.path,
            ["", "/" + LocalPlaylist.name].contains(where: { OwnFile.isRegular(destination + $0) })
        {
            throw .disk("'\(destination)' is there already")
        }
        guard download.isFresh || note.path != nil else { return nil }
        // The old file stays until the new one is whole.
        if note.isPlaylist { try folder.clear() }
        try onDisk { () throws(SystemError) in
            try folder.folder.removeFile(DownloadFolder.partName)
        }
        (note.tag, note.total, note.path, note.byteCount, note.synced) = (nil, nil, nil, nil, 0)
        note.isPlaylist = false
        return nil
    }

    /// Where the file goes, behind what is there of it.
    private func target(
        in folder: DownloadFolder, _ room: Room
    ) throws(DownloadFailure) -> FetchTarget {
        let part = note.path == nil ? folder.part(by: note) : FilePart()
        let file = try onDisk { () throws(SystemError) in
            makePlainFile(try folder.folder.openOrCreateFile(DownloadFolder.partName))
        }
        var noted = note
        // On the thread that carries requests alone.
        return FetchTarget(file, part, limit: room.left, room.reason) {
            [meter] target throws(DownloadFailure) in
            let part = target.part
            meter.tell(part.byteCount, of: part.total)
            if noted.tag != part.tag || noted.total != part.total || noted.path != nil
                || noted.boot != Folder.bootName || part.byteCount < noted.synced
            {
                (noted.tag, noted.total, noted.path) = (part.tag, part.total, nil)
                (noted.boot, noted.synced) = (Folder.bootName, 0)
                try folder.save(noted)
            }
            try room.check(at: part.byteCount)
            guard part.byteCount - noted.synced >= Self.syncInterval else { return }
            try target.sync()
            noted.synced = part.byteCount
            try folder.save(noted)
        }
    }

    private func token() throws(DownloadFailure) -> (name: String, value: String)? {
        guard let credential = download.credential else { return nil }
        guard case .header(let name) = credential.place, let value = credential.value else {
            throw .token("it cannot stand in a header field")
        }
        return (name, value)
    }

    /// Gives the whole file its place, after that was noted: a file that is not there is fetched again.
    private mutating func finish(
        _ folder: DownloadFolder, _ name: String, _ others: [String] = [], partName: String
    ) throws(DownloadFailure) {
        var place = "\(folder.folder.path)/\(name)"
        if let destination = download.destination {
            let isFolder = Folder.isFolder(at: destination)
            let own = note.isPlaylist ? "\(destination)/\(folder.id)" : free(in: destination, name)
            place = isFolder ? own : destination
            if note.isPlaylist { place += "/\(name)" }
        }
        (note.path, note.reason, note.isLasting, note.total) = (place, nil, false, nil)
        note.notices = notices.all
        try folder.save(note)
        do throws(DownloadFailure) {
            try put(folder, name, others, partName: partName, at: place)
        } catch {
            // The whole file waits here for another place.
            note.path = nil
            try folder.save(note)
            throw error
        }
    }

    /// The URL's own name in a folder; one that another file has gets a number.
    private func free(in folder: String, _ usual: String) -> String {
        guard let (stem, end) = FileSuffix.name(of: download.url) else {
            return "\(folder)/\(usual)"
        }
        let paths = (1...99).lazy.map { "\(folder)/\(stem)\($0 > 1 ? "-\($0)" : "")\(end)" }
        return paths.first { $0 == copy?.path || Self.byteCount(of: $0) == nil }
            ?? "\(folder)/\(usual)"
    }

    private static func parent(of path: String) -> String {
        let parent = path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)
        return parent.isEmpty ? "/" : String(parent)
    }

    private static func byteCount(of path: String) -> Int? {
        var status = stat()
        return unsafe lstat(path.cPath, &status) == 0 ? Int(status.st_size) : nil
    }

    private func put(
        _ folder: DownloadFolder, _ name: String, _ others: [String], partName: String,
        at place: String
    ) throws(DownloadFailure) {
        // Our own copy of before makes room for the new one, if it is as it was.
        let replaces =
            copy?.path == place && !note.isPlaylist
            && Self.byteCount(of: place) == copy?.byteCount
        let parent = Self.parent(of: place)
        try onDisk { () throws(SystemError) in
            guard download.destination != nil else {
                return try folder.folder.renameFile(partName, to: name)
            }
            if note.isPlaylist { _ = try Folder.make(at: parent) }
            for other in others where folder.folder.size(of: other) != nil {
                try folder.folder.place(other, at: "\(parent)/\(other)")
            }
            try folder.folder.place(partName, at: place, replaces: replaces)
        }
        guard note.isPlaylist else { return }
        try onDisk { () throws(SystemError) in
            try folder.folder.removeFile(LocalPlaylist.partName)
            try folder.folder.removeFile(DownloadFolder.partName)
        }
    }

    private func file(isUnchanged: Bool) throws(DownloadFailure) -> FetchedFile {
        guard let path = note.path else { throw .unknown(meter.id) }
        if isUnchanged { for notice in note.notices ?? [] { notices.note(notice) } }
        return FetchedFile(
            id: meter.id, path: path, byteCount: note.byteCount ?? 0, isPlaylist: note.isPlaylist,
            isUnchanged: isUnchanged, notices: notices.all)
    }
}

/// Remarks for a person about a download, each once; from any thread.
final class Notices: Sendable {
    private let texts = Mutex<[String]>([])

    func note(_ text: String) { texts.withLock { if !$0.contains(text) { $0.append(text) } } }

    var all: [String] { texts.withLock { $0 } }
}

/// Tells how far a download has come, four times a second at most; from any thread.
final class DownloadMeter: Sendable {
    let id: String
    private let tell: @Sendable (DownloadProgress) -> Void
    private struct Told {
        var time = ContinuousClock.now - .seconds(1)
        var first: Int?
        /// The progress since it was told last.
        var untold: DownloadProgress?
    }

    private let told = Mutex(Told())
    private let began = ContinuousClock.now

    init(_ id: String, _ tell: @escaping @Sendable (DownloadProgress) -> Void) {
        (self.id, self.tell) = (id, tell)
    }

    func tell(_ byteCount: Int, of total: Int? = nil, segments: Int? = nil) {
        told.withLock { told in
            let first = told.first ?? byteCount
            told.first = first
            let seconds = max(0.001, (ContinuousClock.now - began) / .seconds(1))
            told.untold = DownloadProgress(
                id: id, byteCount: byteCount, total: total, segmentCount: segments,
                rate: Int(Double(max(0, byteCount - first)) / seconds))
        }
        catchUp(isWhole: byteCount == total)
    }

    /// Tells what was not told because it came too soon behind something else.
    func catchUp(isWhole: Bool = false) {
        let progress = told.withLock { told -> DownloadProgress? in
            guard isWhole || .now - told.time >= .milliseconds(250) else { return nil }
            guard let progress = told.untold.take() else { return nil }
            told.time = .now
            return progress
        }
        if let progress { tell(progress) }
    }
}
