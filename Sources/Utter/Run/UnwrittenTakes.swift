// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization
package import TakeStore

/// The takes whose `take.json` could not be replaced the last time that it was tried.
///
/// The disk does not know how such a take ended: an answered one will be sent again. The list is
/// final once the sync thread has ended, after the take's last event. Usable from any thread.
package final class UnwrittenTakes: Sendable {
    private struct Unwritten {
        var reason: String
        var clear: @Sendable () -> Void
    }

    /// A disk that fails for weeks must not fill memory: the newest matter.
    static let limit = 1_000
    private let takes = Mutex<[TakeID: Unwritten]>([:])

    /// The takes, oldest first, and why.
    package var all: [(id: TakeID, reason: String)] {
        takes.withLock { takes in
            takes.map { (id: $0.key, reason: $0.value.reason) }.sorted { $0.id.text < $1.id.text }
        }
    }

    /// The manifest of a take could not be written, or nil when it could; `clear` takes away what
    /// is of no use when the disk has nothing of the take in the end.
    func note(_ id: TakeID, _ error: SystemError?, clear: @escaping @Sendable () -> Void = {}) {
        takes.withLock { takes in
            takes[id] = error.map { Unwritten(reason: $0.description, clear: clear) }
            guard takes.count > Self.limit else { return }
            if let oldest = takes.keys.min(by: { $0.text < $1.text }) { takes[oldest] = nil }
        }
    }

    /// Once the sync thread has ended.
    func clear() {
        for take in takes.withLock({ Array($0.values) }) { take.clear() }
    }
}
