// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Synchronization
internal import TakeStore

/// Remembers entries for a time, by names without a space.
///
/// Kept in a small file of the state folder, which other processes change, too; without a spool, in
/// memory. From any thread; the first look reads the file, and may block on the disk.
final class TimedNote: Sendable {
    struct Entry: Sendable, Equatable {
        /// In seconds since 1970; the later of two entries counts.
        var time: TimeInterval
        var text = ""
    }

    private let note: TakeStore.Note
    private let spool: Spool?
    private let sync: SyncLoop
    private let limit: Int
    /// In seconds after an entry's time.
    private let lifetime: TimeInterval
    /// A look for an unknown name reads the file again: another process may know it.
    private let looksAgain: Bool
    private let known = Mutex<(entries: [String: Entry], isRead: Bool)>(([:], false))

    init(
        _ note: TakeStore.Note, in spool: Spool?, sync: SyncLoop, limit: Int,
        lifetime: TimeInterval = 0, looksAgain: Bool = false
    ) {
        (self.note, self.spool, self.sync) = (note, spool, sync)
        (self.limit, self.lifetime, self.looksAgain) = (limit, lifetime, looksAgain)
    }

    subscript(name: String) -> Entry? {
        let now = Date().timeIntervalSince1970
        let (entries, isRead) = known.withLock { $0 }
        if let entry = entries[name], entry.time + lifetime > now { return entry }
        // Where nothing is kept, nothing is known.
        guard looksAgain || !isRead, let store = try? spool?.store() else { return nil }
        let found = Self.entries(in: store.note(note))
        return known.withLock { known in
            known = (merged(known.entries, found, at: now), true)
            return known.entries[name]
        }
    }

    /// The sync thread changes the file later.
    func insert(_ entry: Entry, by name: String) {
        let now = Date().timeIntervalSince1970
        known.withLock { $0.entries = merged($0.entries, [name: entry], at: now) }
        guard let spool else { return }
        sync.perform { [self] in
            // Without it, the next run finds out by itself.
            try? spool.store().change(note) { bytes in
                let lines = merged(Self.entries(in: bytes), [name: entry], at: now)
                    .map { "\(Int($0.value.time)) \($0.key) \($0.value.text)\n" }
                return Array(lines.sorted().joined().utf8)
            }
        }
    }

    private func merged(
        _ old: [String: Entry], _ new: [String: Entry], at now: TimeInterval
    ) -> [String: Entry] {
        let all = old.merging(new) { $0.time > $1.time ? $0 : $1 }
            .filter { $0.value.time + lifetime > now }
        guard all.count > limit else { return all }
        let newest = all.sorted { $0.value.time > $1.value.time }.prefix(limit)
        return Dictionary(uniqueKeysWithValues: newest.map { ($0.key, $0.value) })
    }

    private static func entries(in bytes: [UInt8]) -> [String: Entry] {
        var entries: [String: Entry] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 2)
            guard words.count > 1, let time = TimeInterval(words[0]) else { continue }
            entries[String(words[1])] = Entry(
                time: time, text: words.count > 2 ? String(words[2]) : "")
        }
        return entries
    }
}
