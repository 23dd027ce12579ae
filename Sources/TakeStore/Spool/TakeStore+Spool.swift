// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization

extension TakeStore {
    enum Spare: Sendable {
        case removed(RemovedTake)
        /// The audio of an answered take whose text was handed over.
        case audio(TakeID)
    }

    /// Says which limit a new take would pass; nil when there is room, or will be once `spares` are
    /// deleted.
    ///
    /// Changes nothing. Audio whose text was handed over does not count.
    ///
    /// Nearly free unless a limit is near: it counts names, those of answered takes too, reads the
    /// size in the note of the takes with audio, and asks the file system once. Only when one of
    /// them is over its limit are takes looked at: those that wait, up to the limit. Each process
    /// reads once the takes that the note does not know, so that no wrong note costs a take.
    /// `recording` is the bytes of a take that is being recorded, which is in no note yet.
    package func shortage(by limits: SpoolLimits, recording: Int = 0) -> SpoolShortage? {
        if let free = takes.freeByteCount, free < limits.free, free + spareByteCount < limits.free {
            return .free(free, limit: limits.free)
        }
        // A failure to count is no reason to refuse; making the take's folder will tell.
        let names = (try? takes.entryCount(upTo: limits.takes)) ?? 0
        let note = note(.audio)
        let grown = growth.withLock { $0 }
        let notedBytes = AudioNote.byteCount(in: note) ?? 0
        let estimate = notedBytes + recording + grown.bytes(behind: notedBytes)
        guard names >= limits.takes || estimate >= limits.bytes else { return nil }
        let noted = AudioNote(note)
        let released = released(by: noted)
        var (count, bytes) = (0, 0)
        // A failure to list is no reason, either.
        for name in ((try? takes.names()) ?? [])
        where noted.mayHaveAudio(name) && !released.contains(name) {
            guard let id = TakeID(name), let size = audioByteCount(of: id) else { continue }
            (count, bytes) = (count + 1, bytes + size)
            guard count >= limits.takes else { continue }
            return readUnknown(in: noted, upTo: count)
                ? shortage(by: limits, recording: recording) : .takes(limit: count)
        }
        // Audio that was deleted meanwhile is known now.
        growth.withLock { $0.note(bytes, behind: notedBytes, at: grown.total) }
        guard bytes >= limits.bytes else { return nil }
        return readUnknown(in: noted, upTo: limits.takes)
            ? shortage(by: limits, recording: recording) : .bytes(bytes, limit: limits.bytes)
    }

    /// Says of which limit nine tenths are in use; like `shortage`.
    package func nearness(to limits: SpoolLimits, recording: Int = 0) -> SpoolShortage? {
        let nearly = SpoolLimits(
            takes: limits.takes - limits.takes / 10, bytes: limits.bytes - limits.bytes / 10,
            free: 0)
        return switch shortage(by: nearly, recording: recording) {
        case .takes where nearly.takes < limits.takes: .takes(limit: limits.takes)
        case .bytes(let count, _): .bytes(count, limit: limits.bytes)
        default: nil
        }
    }

    /// Learns which takes wait for nothing of those that the note does not know, until so many wait.
    ///
    /// - Returns: whether there is one, and this process has not looked before.
    private func readUnknown(in noted: AudioNote, upTo limit: Int) -> Bool {
        guard !hasReadUnknown.exchange(true, ordering: .relaxed) else { return false }
        let released = released(by: noted)
        var (waiting, found) = (0, false)
        // Without a list nothing is learnt.
        for id in (try? ids()) ?? []
        where waiting < limit && noted.mayHaveAudio(id.text) && !released.contains(id.text)
            && audioByteCount(of: id) != nil
        {
            // An unreadable take counts as waiting.
            if !noted.isWaiting(id.text), (try? take(id).manifest().isReleasedAnswer) == true {
                noteRelease(of: id)
                found = true
            } else {
                waiting += 1
            }
        }
        return found
    }

    func noteReturn(of id: TakeID) {
        guard let size = audioByteCount(of: id) else { return }
        var noted = noted
        noted.add(id, byteCount: size)
        note(noted.bytes, as: .audio)
    }

    /// Counts the growth of a take that this process has made; from any thread.
    package func hasGrown(by byteCount: Int) {
        growth.withLock { $0.total += byteCount }
    }

    /// This process has handed over the text of a take: its audio waits no more; from any thread.
    package func noteRelease(of id: TakeID) { _ = released.withLock { $0.insert(id.text) } }

    func isReleased(_ id: TakeID) -> Bool { released.withLock { $0.contains(id.text) } }

    func forgetRelease(of id: TakeID) { _ = released.withLock { $0.remove(id.text) } }

    package func isDiskShort(by limits: SpoolLimits) -> Bool {
        takes.freeByteCount.map { $0 < limits.free } ?? false
    }

    /// Deletes what can be spared while the disk is short, on the sync thread.
    package func makeRoom(by limits: SpoolLimits, on sync: SyncLoop) {
        guard isDiskShort(by: limits) else { return }
        sync.perform { [self] in
            sync.carryOn(spares[...]) { [self] spares in
                guard isDiskShort(by: limits), let spare = spares.popFirst() else { return false }
                delete(spare)
                return true
            }
        }
    }

    /// Takes and audio that can be deleted when the disk is short, in the order in which they go.
    private var spares: [Spare] {
        removed.map { .removed($0) }
            + released(by: noted).sorted().compactMap { TakeID($0) }.map { .audio($0) }
    }

    /// Deletes what can be spared; what cannot be deleted stays.
    private func delete(_ spare: Spare) {
        switch spare {
        case .removed(let take): destroyRemoved { $0.id == take.id }
        case .audio(let id): Retention.removeReleasedAudio(of: id, in: self)
        }
    }

    private var spareByteCount: Int {
        spares.reduce(0) { sum, spare in
            switch spare {
            case .removed(let take): sum + (removedByteCount(of: take.id) ?? 0)
            case .audio(let id): sum + (audioByteCount(of: id) ?? 0)
            }
        }
    }

    var noted: AudioNote { AudioNote(note(.audio)) }

    private func released(by noted: AudioNote) -> Set<String> {
        released.withLock { noted.released.union($0) }
    }

    func audioByteCount(of id: TakeID) -> Int? {
        TakeFolder.audioByteCount(in: takes, id.text)
    }
}

/// How many bytes of audio a process has added that the note does not know; pure.
///
/// A sweep makes a new note, and `shortage` measures what there is behind an old one. Either says what
/// was there at a total, so that what has been added since is never taken off.
struct SpoolGrowth: Sendable {
    /// Bytes of all takes that this process has made.
    var total = 0
    /// The total that the last sweep has seen.
    private var swept = 0
    /// The total without growth, while the note says so many bytes.
    private var measured: (note: Int, total: Int)?

    func bytes(behind note: Int) -> Int {
        total - (measured.flatMap { $0.note == note ? $0.total : nil } ?? swept)
    }

    /// There were so many bytes at a total, when the note said `note`.
    mutating func note(_ byteCount: Int, behind note: Int, at total: Int) {
        measured = (note, total - (byteCount - note))
    }

    /// The note knows what there was at a total.
    mutating func noteSweep(at total: Int) { (swept, measured) = (total, nil) }
}

extension TakeFolder {
    static func audioByteCount(in parent: Folder, _ name: String) -> Int? {
        for file in audioNames {
            // Only one of several names is there.
            if let size = parent.size(of: "\(name)/\(file)") { return size }
        }
        return nil
    }
}

/// When the disk takes no more takes.
///
/// A take that waits for its answer is never dropped to make room: a new take is not kept then.
public struct SpoolLimits: Sendable, Equatable {
    /// The most takes that may wait for an answer with their audio.
    package let takes: Int
    /// The most bytes of audio that are kept; the take that passes this is still kept whole.
    package let bytes: Int
    /// The bytes of the file system that stay free.
    package let free: Int

    /// Creates limits.
    public init(takes: Int, bytes: Int, free: Int) {
        self.takes = takes
        self.bytes = bytes
        self.free = free
    }

    /// 1,000 takes, 4 GiB, and 64 MiB free.
    public static let standard = SpoolLimits(takes: 1_000, bytes: 4 << 30, free: 64 << 20)
}

package enum SpoolShortage: Sendable, Equatable, CustomStringConvertible {
    case takes(limit: Int)
    case bytes(Int, limit: Int)
    case free(Int, limit: Int)

    package var description: String {
        switch self {
        case .takes(let limit): "too many recordings wait already: \(limit) is the limit"
        case .bytes(let count, let limit):
            "takes fill \(DiskSpace.text(count)) already, and \(DiskSpace.text(ofLimit: limit)) is the limit"
        case .free(let count, let limit): DiskSpace.shortage(count, limit: limit)
        }
    }

    /// For while the limit is near.
    package var warning: String {
        switch self {
        case .takes(let limit): "the limit of \(limit) waiting recordings is nearly reached"
        case .bytes(_, let limit):
            "takes fill nearly \(DiskSpace.text(ofLimit: limit)), which is the limit"
        case .free: description
        }
    }
}
