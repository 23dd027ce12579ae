// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// A line for a person, which another process may write.
package struct ToldLine: Codable, Sendable, Equatable {
    enum Kind: String, Codable {
        case line
        case error
        case hint
        /// As it is, line feeds included.
        case plain
    }

    var kind: Kind
    var text: String

    package static func line(_ text: String) -> ToldLine { ToldLine(kind: .line, text: text) }
    package static func error(_ text: String) -> ToldLine { ToldLine(kind: .error, text: text) }
    package static func hint(_ text: String) -> ToldLine { ToldLine(kind: .hint, text: text) }
    package static func plain(_ text: String) -> ToldLine { ToldLine(kind: .plain, text: text) }
}

extension [ToldLine] {
    package func tell() {
        for line in self {
            switch line.kind {
            case .line: StandardError.line(line.text)
            case .error: StandardError.error(line.text)
            case .hint: StandardError.hint(line.text)
            case .plain: StandardError.write(TerminalText.sanitized(line.text))
            }
        }
    }

    package mutating func add(hint: String?) {
        if let hint { append(.hint(hint)) }
    }
}
