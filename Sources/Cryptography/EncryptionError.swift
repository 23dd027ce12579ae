// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform

package enum EncryptionError: Error, Equatable {
    /// It was sealed under another key, or belongs to another take.
    case wrongKey
    /// It was altered or damaged.
    case damaged
    /// A later program has written it.
    case laterVersion(Int)
    /// The disk failed, or memory ran out.
    case system(SystemError)
}
