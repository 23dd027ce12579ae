// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization

/// How full the spool is.
extension TakeStore {
    /// Says which limit a new take would pass; nil when there is room.
    ///
    /// Where the disk is short, the takes that a person has removed are deleted for good first.
    ///
    /// Nearly free unless a limit is near: it counts names, of which answered takes are some, reads
    /// the note of the takes with audio, and asks the file system once. Only when one of them is
    /// over its limit are the takes looked at that may have audio.
    package func shortage(by limits: SpoolLimits) -> SpoolShortage? {
        if let free = freeByteCount(wanting: limits.free), free < limits.free {
            return .free(free, limit: limits.free)
        }
        // What cannot be counted is no reason to refuse; making the take's folder will tell.
        let names = (try? takes.entryCount(upTo: limits.takes)) ?? 0
        let noted = noted
        let estimate = noted.byteCount + growth.load(ordering: .relaxed)
        guard names >= limits.takes || estimate >= limits.bytes else { return nil }
        let (ids, bytes) = audio(by: noted)
        // What has been deleted meanwhile is known now.
        growth.store(bytes - noted.byteCount, ordering: .relaxed)
        if ids.count >= limits.takes { return .takes(ids.count, limit: limits.takes) }
        if bytes >= limits.bytes { return .bytes(bytes, limit: limits.bytes) }
        return nil
    }

    /// Notes which takes have audio, for the next start.
    ///
    /// - Parameter isAnew: whether all takes are looked at, which is slow with many of them.
    package func measure(anew isAnew: Bool = false) {
        let noted = noted
        let (ids, bytes) = audio(by: isAnew ? AudioNote() : noted)
        // What cannot be listed now is noted next time.
        guard let names = try? takes.names() else { return }
        let found = AudioNote(names: names, takes: ids, byteCount: bytes)
        if found.bytes != noted.bytes { note(found.bytes, as: .audio) }
        growth.store(0, ordering: .relaxed)
    }

    /// Notes that a take is back, perhaps with audio.
    func noteReturn(of id: TakeID) {
        guard let size = audioByteCount(of: id) else { return }
        var noted = noted
        noted.add(id, byteCount: size)
        note(noted.bytes, as: .audio)
    }

    /// Says that there are so many bytes of audio more: those of a take that this process has made.
    ///
    /// From any thread.
    package func hasGrown(by byteCount: Int) {
        growth.add(byteCount, ordering: .relaxed)
    }

    /// The takes that have audio, in the order in which they began.
    package var audioTakes: [TakeID] { audio(by: noted).takes }

    /// Whether less of the disk is free than the limits want.
    package func isDiskShort(by limits: SpoolLimits) -> Bool {
        takes.freeByteCount.map { $0 < limits.free } ?? false
    }

    /// What is free, after giving back what was removed if that is less than is wanted.
    private func freeByteCount(wanting count: Int) -> Int? {
        guard let free = takes.freeByteCount, free < count, destroyRemoved(where: { _ in true })
        else { return takes.freeByteCount }
        return takes.freeByteCount
    }

    private var noted: AudioNote { AudioNote(note(.audio)) }

    /// The takes that have audio, which those that are answered have not as a rule, and its size.
    private func audio(by noted: AudioNote) -> (takes: [TakeID], bytes: Int) {
        var (found, bytes): ([TakeID], Int) = ([], 0)
        // As above.
        for name in ((try? takes.names()) ?? []) where noted.mayHaveAudio(name) {
            guard let id = TakeID(name), let size = audioByteCount(of: id) else { continue }
            found.append(id)
            bytes += size
        }
        return (found, bytes)
    }

    /// The size of a take's audio by a look at its name alone; nil when there is none.
    package func audioByteCount(of id: TakeID) -> Int? {
        for name in TakeFolder.audioNames {
            // Of several names only one is there.
            if let size = takes.size(of: "\(id.text)/\(name)") { return size }
        }
        return nil
    }
}
