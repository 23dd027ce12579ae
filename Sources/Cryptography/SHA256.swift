// SPDX-License-Identifier: Apache-2.0

internal import CCrypto

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

    /// 64 lower-case digits.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
