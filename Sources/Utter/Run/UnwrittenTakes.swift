// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization
package import TakeStore

/// The takes whose `take.json` could not be replaced the last time that it was tried.
///
/// What became of such a take is not on the disk: an answered one will be sent again. It is known
/// for sure once the sync thread has ended, after the take's last event. Usable from any thread.
package final class UnwrittenTakes: Sendable {
    private let reasons = Mutex<[TakeID: String]>([:])

    init() {}

    /// The takes, oldest first, and why.
    package var all: [(id: TakeID, reason: String)] {
        reasons.withLock { reasons in
            reasons.map { (id: $0.key, reason: $0.value) }.sorted { $0.id.text < $1.id.text }
        }
    }

    /// The manifest of a take could not be written, or nil when it could.
    func note(_ id: TakeID, _ error: SystemError?) {
        reasons.withLock { $0[id] = error?.description }
    }
}
