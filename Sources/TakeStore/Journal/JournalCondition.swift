// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform

package struct JournalCondition: Sendable, Equatable {
    /// The write or sync that failed, for as long as a part of the take lives in memory only.
    package var failure: SystemError?
    /// Why the disk promised no room ahead: it is nearly full.
    package var shortage: Shortage?
    /// How long bytes have waited for the disk when it took more than a second.
    package var slowSync: Duration?

    package init() {}

    package struct Shortage: Sendable, Equatable {
        package var error: SystemError
        /// Bytes that it still has, or nil when that is unknown.
        package var freeByteCount: Int?

        init(error: SystemError, freeByteCount: Int?) {
            self.error = error
            self.freeByteCount = freeByteCount
        }
    }
}

/// Where a journal that cannot trust its file any more gets a new one.
///
/// Both are called on the sync thread and block on the disk.
struct JournalHome: Sendable {
    /// Creates an empty file beside the audio.
    let makeFile: @Sendable () throws(SystemError) -> any JournalFile
    /// Puts the file that was made last in the place of the audio, durably.
    let replaceAudio: @Sendable () throws(SystemError) -> Void
}
