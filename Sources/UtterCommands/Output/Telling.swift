// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import UtterControl
internal import UtterTerminal

extension StandardOutput {
    /// Writes what was asked for, and ends its line.
    static func give(_ text: String) throws(CommandFailure) {
        guard !StandardOutput.print(text) else { return }
        let reason = SystemError.last("write").reason
        throw CommandFailure("standard output takes nothing: \(reason)", status: .localIO)
    }

    /// Writes what a command is there for, and ends its line.
    ///
    /// - Throws: the status to exit with, when not all of it could be written; why is said, unless the
    ///   reader has read enough.
    static func show(_ text: String) throws {
        guard !StandardOutput.print(text) else { return }
        let error = SystemError.last("write")
        guard error.code != EPIPE else { throw ExitStatus.localIO.code }
        throw Launch.exit(
            CommandFailure("standard output takes nothing: \(error.reason)", status: .localIO))
    }
}

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
}
