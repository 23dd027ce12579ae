// SPDX-License-Identifier: Apache-2.0

internal import CCrypto
internal import Glibc
package import LinuxPlatform

package struct SHA256 {
    private var context = SHA256_CTX()

    package init() { unsafe SHA256_Init(&context) }

    package mutating func update(_ bytes: Span<UInt8>) {
        _ = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe SHA256_Update(&context, buffer.baseAddress, buffer.count)
        }
    }

    package var bytes: [UInt8] {
        var last = context
        var digest = [UInt8](repeating: 0, count: 32)
        unsafe SHA256_Final(&digest, &last)
        return digest
    }

    /// Blocks on the disk.
    package static func ofFile(at path: String) throws(SystemError) -> (SHA256, byteCount: Int) {
        let file = OwnedDescriptor(
            taking: try retryingInterrupts("open \(path)") {
                unsafe open(path, O_RDONLY | O_CLOEXEC)
            })
        var (digest, byteCount) = (SHA256(), 0)
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = try retryingInterrupts("read \(path)") {
                unsafe read(file.number, &buffer, buffer.count)
            }
            guard count > 0 else { return (digest, byteCount) }
            digest.update(buffer.span.extracting(first: count))
            byteCount += count
        }
    }

    /// 64 lower-case digits.
    package var hexadecimal: String { bytes.hexadecimal }

    package static func hexadecimal(of text: String) -> String {
        var digest = SHA256()
        digest.update(Array(text.utf8).span)
        return digest.hexadecimal
    }
}

extension [UInt8] {
    /// Two lower-case digits for each byte.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        let text = flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
