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
        var digest = SHA256()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var offset = 0
        while true {
            let found = unsafe buffer.withUnsafeMutableBytes { bytes in
                Result { () throws(SystemError) in unsafe try read(at: offset, into: bytes) }
            }
            guard case .bytes(let count) = try found.get() else { break }
            digest.update(buffer.span.extracting(first: count))
            offset += count
        }
        return "sha-256=:\(String(decoding: Base64.encoded(digest.bytes), as: UTF8.self)):"
    }
}
