// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Synchronization
internal import TakeStore

/// The origins whose services want the length of a body.
///
/// Kept in a small file of the state folder, which other processes change, too; without a spool, in
/// the memory of the process. Usable from any thread; the first look reads the file, and may block
/// on the disk.
final class LengthOrigins: Sendable {
    /// A service that was put right is tried again after 30 days, in seconds.
    private static let lifetime = 30 * 86_400
    static let limit = 100

    /// When each was noted, in seconds since 1970.
    private typealias Times = [String: Int]

    private let spool: Spool?
    private let sync: SyncLoop
    private let known = Mutex<(times: Times, isRead: Bool)>(([:], false))

    init(in spool: Spool?, sync: SyncLoop) { (self.spool, self.sync) = (spool, sync) }

    func contains(_ origin: String) -> Bool {
        let (times, isRead) = known.withLock { $0 }
        if Self.lasting(times)[origin] != nil { return true }
        // Where nothing is kept, nothing is known.
        guard !isRead, let store = try? spool?.store() else { return false }
        let found = Self.times(in: store.note(.lengthOrigins))
        return known.withLock { known in
            known = (Self.lasting(known.times, found), true)
            return known.times[origin] != nil
        }
    }

    /// Remembers an origin; the file knows it once the sync thread has changed that.
    func insert(_ origin: String) {
        let new = [origin: Int(Date().timeIntervalSince1970)]
        known.withLock { $0.times = Self.lasting($0.times, new) }
        sync.perform { [spool] in
            // Without it, the next run finds out by itself.
            try? spool?.store().change(.lengthOrigins) { bytes in
                let lines = Self.lasting(Self.times(in: bytes), new)
                    .map { "\($0.value) \($0.key)\n" }
                return Array(lines.sorted().joined().utf8)
            }
        }
    }

    private static func lasting(_ old: Times, _ new: Times = [:]) -> Times {
        let now = Int(Date().timeIntervalSince1970)
        let all = old.merging(new) { max($0, $1) }.filter { $0.value + lifetime > now }
        let newest = all.sorted { $0.value > $1.value }.prefix(limit)
        return Times(uniqueKeysWithValues: newest.map { ($0.key, $0.value) })
    }

    private static func times(in bytes: [UInt8]) -> Times {
        var times: Times = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let time = Int(words[0]) else { continue }
            times[String(words[1])] = time
        }
        return times
    }
}
