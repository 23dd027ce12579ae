// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization

extension TakeStore {
    /// Learns which takes wait for nothing of those that the note does not know, until so many wait.
    ///
    /// - Returns: whether there is one, and this process has not looked before.
    func readUnknown(in noted: AudioNote, upTo limit: Int) -> Bool {
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

    /// Removed takes, and audio of answered takes whose text was handed over: they can be deleted when
    /// the disk is short, in this order.
    var spares: [(id: TakeID, isRemoved: Bool)] {
        removed.map { ($0.id, true) }
            + released(by: noted).sorted().compactMap { TakeID($0).map { ($0, false) } }
    }

    var spareByteCount: Int {
        spares.compactMap { id, isRemoved in
            isRemoved ? removedByteCount(of: id) : audioByteCount(of: id)
        }.reduce(0, +)
    }

    var noted: AudioNote { AudioNote(note(.audio)) }

    func released(by noted: AudioNote) -> Set<String> {
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
