// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
package import LinuxPlatform

/// The take's memory of its copy in an archive.
///
/// An archive's queue is a second store, with a take for each copy that it is still to get: with a
/// second name of the audio file, so that the first may go, and with `ArchivedContents`.
package struct ArchiveNote: Sendable, Codable, Equatable {
    /// The URL of the audio, for a person: without its query.
    package let place: String
    /// Whether it has been put into the queue; until then the audio stays.
    package internal(set) var isQueued = false

    init(place: String) { self.place = place }
}

/// The objects that an archive gets of a take; their names differ behind the first dot.
package struct ArchivedContents: Sendable, Codable, Equatable {
    /// Such as `wav`, `txt` and `json`, in the order in which they are stored.
    package let suffixes: [String]
    package let transcript: String?
    /// The name of the service's profile, and what the person said to it.
    package let profile: String?
    package let words: [String: String]?

    package init(
        suffixes: [String], transcript: String?, profile: String?, words: [String: String]?
    ) {
        (self.suffixes, self.transcript) = (suffixes, transcript)
        (self.profile, self.words) = (profile, words)
    }

    fileprivate func suffix(of url: String) -> String? {
        let path = url.prefix { $0 != "?" }
        return suffixes.first { path.hasSuffix(".\($0)") }
    }

    /// The URL of another object of the take.
    package func renamed(_ url: String, to suffix: String) -> String {
        guard let old = self.suffix(of: url) else { return url }
        let mark = url.firstIndex(of: "?") ?? url.endIndex
        return url[..<mark].dropLast(old.count) + suffix + url[mark...]
    }
}

extension TakeManifest {
    /// The object that the queue sends now; nil for a take that was recorded.
    package var archivedSuffix: String? { archived?.suffix(of: url) }

    /// Goes on with the next object, once one is stored; false when all are.
    mutating func sendNextObject() -> Bool {
        guard let contents = archived, let record = delivery, let suffix = archivedSuffix,
            let next = contents.suffixes.drop(while: { $0 != suffix }).dropFirst().first
        else { return false }
        startAnew(at: contents.renamed(url, to: next), by: record)
        return true
    }

    /// A take of the archive's queue, whose audio has this name, too: with its first object.
    package func queued(
        _ contents: ArchivedContents, to url: String, by delivery: DeliveryManifest
    ) -> TakeManifest {
        var entry = TakeManifest(
            id: id, created: Date(), audio: audio, format: format, source: "", url: url,
            delivery: delivery)
        entry.created = created
        (entry.byteCount, entry.sha256) = (byteCount, sha256)
        (entry.frames, entry.gapFrames) = (frames, gapFrames)
        entry.archived = contents
        entry.keep(reason: nil)
        return entry
    }
}

/// The second store: what the archive is still to get.
extension TakeStore {
    package func hasTake(_ id: TakeID) -> Bool { takes.hasOwnFolder(id.text) }

    /// The takes that have audio, as far as the note of them knows; nearly free for the others.
    package func idsWithAudio() throws(TakeStoreError) -> [TakeID] {
        let noted = noted
        return try ids().filter { noted.mayHaveAudio($0.text) && audioByteCount(of: $0) != nil }
    }

    /// Puts an answered take into the queue: durable when this returns, so that the take's own audio
    /// may go.
    ///
    /// Blocks on the disk. Called with the take's lock held. A take that is in the queue already stays
    /// there as it is.
    package func enqueue(
        _ manifest: TakeManifest, of folder: TakeFolder
    ) throws(SystemError) {
        guard !hasTake(manifest.id) else { return }
        // A killed program may have left a part of it, without a name until it is whole.
        removeUnborn(manifest.id)
        let entry = try makeTake(manifest.id) { entry throws(SystemError) in
            try entry.save(manifest)
            try entry.folder.adopt(
                manifest.audio, of: folder.folder,
                // Half a copy must not be taken for the audio.
                copyingAs: TakeFolder.answerName + TakeFolder.newSuffix,
                // The key in the first is destroyed with it.
                copies: manifest.isEncrypted)
            try entry.folder.sync()
        }
        entry.unlock()
        for folder in try foldersToSync() { try folder.sync() }
        noteSynced()
    }

    private func removeUnborn(_ id: TakeID) {
        let hidden = Self.unbornPrefix + id.text
        // Where there is none, and where it is in use, nothing is to be done.
        guard let left = try? takes.openFolder(hidden), (try? left.lock()) == true else { return }
        TakeFolder(id: id, folder: left).removeFiles()
        try? takes.removeFolder(hidden)  // The folder is left for the next time.
    }

    /// False when it was not in the queue.
    ///
    /// - Throws: `TakeStoreError` when another process stores it now.
    @discardableResult
    package func dequeue(_ id: TakeID) throws(TakeStoreError) -> Bool {
        guard hasTake(id) else { return false }
        try remove(try take(id))
        return true
    }

    /// Goes on with a take of the queue whose object is stored.
    ///
    /// Blocks on the disk.
    ///
    /// - Returns: whether that was the last one, so that the take has left the queue; nil when another
    ///   process has it, or its object is not stored.
    package func advance(_ id: TakeID) throws(TakeStoreError) -> Bool? {
        let entry = try take(id)
        // A take that cannot be locked is in use.
        guard (try? entry.lock()) == true else { return nil }
        defer { entry.unlock() }
        var manifest = try entry.manifest()
        guard manifest.state == .answered, holds(entry) else { return nil }
        if manifest.sendNextObject() {
            do throws(SystemError) {
                try entry.save(manifest)
            } catch {
                throw .unchangeable(
                    take: id.text, change: "archived further", reason: error.description)
            }
            return false
        }
        try remove(entry)
        return true
    }
}

extension TakeFolder {
    /// The audio as it lies on the disk, encrypted or not.
    package func storedAudio(of manifest: TakeManifest) throws(TakeStoreError) -> TakeAudio {
        do throws(SystemError) {
            return TakeAudio(
                plain: makePlainFile(try folder.openFile(manifest.audio)),
                size: try folder.byteCount(of: manifest.audio), path: "\(path)/\(manifest.audio)")
        } catch {
            throw unlessGone(.unreadable(take: id.text, reason: "its audio: \(error.reason)"))
        }
    }
}
