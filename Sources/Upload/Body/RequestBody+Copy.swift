// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
package import LinuxPlatform

extension RequestBody {
    /// The digest of a body with a sealed source; blocks on the disk.
    package func sha256() throws(SystemError) -> String { try digest().hexadecimal }

    func digest() throws(SystemError) -> SHA256 {
        var digest = SHA256()
        try forEachPiece { piece throws(SystemError) in digest.update(piece.span) }
        return digest
    }

    /// The bytes around the recording pass through `clean`; blocks on the disk.
    package func copy(
        upTo byteCount: Int, to descriptor: Int32, clean: ([UInt8]) -> [UInt8]
    ) throws(SystemError) {
        var body = self
        (body.prologue, body.epilogue) = (clean(prologue), clean(epilogue))
        let limit = byteCount + body.prologue.count - prologue.count
        var offset = 0
        try body.forEachPiece { piece throws(SystemError) in
            let part = Array(piece.prefix(max(0, limit - offset)))
            try writeAll(part.span, to: descriptor, at: offset)
            offset += part.count
        }
    }

    private func forEachPiece(
        _ take: (ArraySlice<UInt8>) throws(SystemError) -> Void
    ) throws(SystemError) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var offset = 0
        while true {
            let found = unsafe buffer.withUnsafeMutableBytes { bytes in
                Result { () throws(SystemError) in unsafe try read(at: offset, into: bytes) }
            }
            guard case .bytes(let count) = try found.get() else { return }
            try take(buffer[..<count])
            offset += count
        }
    }

    /// The value of `Content-Digest` (RFC 9530 §2) of a sealed source; blocks on the disk.
    package func contentDigest() throws(SystemError) -> String {
        let digest = try digest()
        return "sha-256=:\(String(decoding: Base64.encoded(digest.bytes), as: UTF8.self)):"
    }
}
