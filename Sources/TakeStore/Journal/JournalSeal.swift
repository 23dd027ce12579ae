// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform

/// What a sealed journal holds.
package struct JournalSeal: Sendable, Equatable {
    /// Its length in bytes.
    package var byteCount: Int
    /// The SHA-256 of its bytes, as 64 hexadecimal digits.
    package var sha256: String
    /// The write that not even memory could take; bytes after it are lost.
    package var loss: SystemError?

    /// Creates the seal of a journal.
    package init(byteCount: Int, sha256: String, loss: SystemError?) {
        self.byteCount = byteCount
        self.sha256 = sha256
        self.loss = loss
    }
}
