// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
package import LinuxPlatform

extension RequestBody {
    /// The value of the field by which a service knows the body again (RFC 9530 §2).
    ///
    /// Of a sealed source; reads all of it: blocks on the disk.
    ///
    /// - Throws: `SystemError` when the source cannot be read.
    package func contentDigest() throws(SystemError) -> String {
        let digest = try digest()
        return "sha-256=:\(String(decoding: Base64.encoded(digest.bytes), as: UTF8.self)):"
    }
}
