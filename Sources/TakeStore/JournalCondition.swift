// SPDX-License-Identifier: Apache-2.0

public import LinuxPlatform

/// How well the disk serves a journal.
public struct JournalCondition: Sendable, Equatable {
    /// The write or sync that failed, for as long as a part of the take lives in memory only.
    public var failure: SystemError?
    /// Why the disk promised no room ahead: it is nearly full.
    public var shortage: Shortage?
    /// How long bytes have waited for the disk when it took more than a second.
    public var slowSync: Duration?

    /// A disk that does all that it is asked for.
    public init() {}

    /// A disk that has no room to give away any more.
    public struct Shortage: Sendable, Equatable {
        /// What the disk said.
        public var error: SystemError
        /// Bytes that it still has, or nil when nobody knows.
        public var freeByteCount: Int?

        /// Creates a shortage.
        public init(error: SystemError, freeByteCount: Int?) {
            self.error = error
            self.freeByteCount = freeByteCount
        }
    }
}
