// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension ChildProcess {
    /// How a program has ended, by its status of `waitpid(2)`.
    package static func end(by status: Int32) -> String {
        let signal = status & 0x7F
        return signal == 0 ? "ended with status \(status >> 8)" : "was ended by signal \(signal)"
    }

    /// The last line that a program has written into a file.
    package static func lastWords(in descriptor: Int32) -> String {
        let limit = 2_048
        var buffer = [UInt8](repeating: 0, count: limit)
        let size = lseek(descriptor, 0, SEEK_END)
        let count = unsafe pread(descriptor, &buffer, limit, max(0, size - off_t(limit)))
        let lines = buffer.prefix(max(0, count)).split(separator: 0x0A)
        return lines.last.map { TerminalText.excerpt(of: $0) } ?? ""
    }
}
