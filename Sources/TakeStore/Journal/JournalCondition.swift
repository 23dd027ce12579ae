// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform

/// How well the disk serves a journal.
package struct JournalCondition: Sendable, Equatable {
    /// The write or sync that failed, for as long as a part of the take lives in memory only.
    package var failure: SystemError?
    /// Why the disk promised no room ahead: it is nearly full.
    package var shortage: Shortage?
    /// How long bytes have waited for the disk when it took more than a second.
    package var slowSync: Duration?

    /// A disk that does all that it is asked for.
    package init() {}

    /// A disk that has no room to give away any more.
    package struct Shortage: Sendable, Equatable {
        /// What the disk said.
        package var error: SystemError
        /// Bytes that it still has, or nil when that is unknown.
        package var freeByteCount: Int?

        /// Creates a shortage.
        package init(error: SystemError, freeByteCount: Int?) {
            self.error = error
            self.freeByteCount = freeByteCount
        }
    }
}
