// SPDX-License-Identifier: Apache-2.0

extension Unicode.Scalar {
    /// Whether it belongs to Chinese or Japanese, whose words no space parts.
    package var isIdeographic: Bool {
        properties.isIdeographic || (0x3040...0x30FF).contains(value)
    }

    /// The same with the marks of these scripts, which are as wide as their signs.
    package var needsNoSpace: Bool {
        isIdeographic || (0x3000...0x303F).contains(value) || (0xFF01...0xFF65).contains(value)
    }
}
