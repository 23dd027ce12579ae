// SPDX-License-Identifier: Apache-2.0

/// A file that was sent, known by what it holds: the same under any name.
package struct SentFile: Sendable, Codable, Hashable {
    /// Its length.
    package var byteCount: Int
    /// Its SHA-256 in hexadecimal.
    package var sha256: String

    package init(byteCount: Int, sha256: String) {
        (self.byteCount, self.sha256) = (byteCount, sha256)
    }
}
