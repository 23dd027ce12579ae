// SPDX-License-Identifier: Apache-2.0

public import LinuxPlatform

/// What a sealed journal holds.
public struct JournalSeal: Sendable, Equatable {
    /// Its length in bytes.
    public var byteCount: Int
    /// The SHA-256 of its bytes, as 64 hexadecimal digits.
    public var sha256: String
    /// The write that not even memory could take; bytes after it are lost.
    public var loss: SystemError?

    /// Creates the seal of a journal.
    public init(byteCount: Int, sha256: String, loss: SystemError?) {
        self.byteCount = byteCount
        self.sha256 = sha256
        self.loss = loss
    }
}
