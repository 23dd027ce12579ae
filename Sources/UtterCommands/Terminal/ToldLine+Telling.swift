// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import UtterControl
internal import UtterTerminal

extension [ToldLine] {
    func tell() {
        for line in self {
            switch line.kind {
            case .line: StandardError.line(line.text)
            case .error: StandardError.error(line.text)
            case .hint: StandardError.hint(line.text)
            case .plain: StandardError.write(TerminalText.sanitized(line.text))
            }
        }
    }

    /// Adds what to do about an error, if there is something.
    mutating func add(hint: String?) {
        if let hint { append(.hint(hint)) }
    }
}
