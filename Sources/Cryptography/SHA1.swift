// SPDX-License-Identifier: Apache-2.0

internal import CCrypto

/// For protocols alone that name it, and not against forgers.
package enum SHA1 {
    package static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 20)
        _ = unsafe CCrypto.SHA1(bytes, bytes.count, &digest)
        return digest
    }
}
