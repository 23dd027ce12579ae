// SPDX-License-Identifier: Apache-2.0

/// One line for a person, which another process may have to write.
package struct ToldLine: Codable, Sendable, Equatable {
    package enum Kind: String, Codable {
        case line
        case error
        case hint
        /// Text that is written as it is, line feeds included.
        case plain
    }

    package var kind: Kind
    package var text: String

    package static func line(_ text: String) -> ToldLine { ToldLine(kind: .line, text: text) }
    package static func error(_ text: String) -> ToldLine { ToldLine(kind: .error, text: text) }
    package static func hint(_ text: String) -> ToldLine { ToldLine(kind: .hint, text: text) }
    package static func plain(_ text: String) -> ToldLine { ToldLine(kind: .plain, text: text) }
}
