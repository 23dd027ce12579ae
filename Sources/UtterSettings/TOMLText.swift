// SPDX-License-Identifier: Apache-2.0

internal import SpeechService

/// Texts as TOML 1.0 writes them.
package enum TOMLText {
    /// A text as a basic string, which every string of JSON is.
    package static func quoted(_ text: String) -> String { JSONText.quoted(text) }

    /// A name as a bare key, or in quotes where it cannot be one.
    package static func key(_ name: String) -> String {
        let isBare = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
            default: false
            }
        }
        return isBare && !name.isEmpty ? name : quoted(name)
    }
}
