// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// Prints the transcript, and nothing else.
enum StandardOutput {
    /// The terminal's width in columns; nil when standard output is none.
    static var columns: Int? {
        isatty(STDOUT_FILENO) == 1 ? terminalColumns(STDOUT_FILENO) ?? 80 : nil
    }

    /// The width that the person asks for (`COLUMNS`), otherwise the terminal's; nil for neither.
    static func columns(orOf variable: String?) -> Int? {
        variable.flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } ?? columns
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

    /// Writes a line; false, with `errno`, when not all of it could be written.
    static func print(_ text: String) -> Bool {
        write(Array(text.utf8) + [0x0A])
    }

    /// Writes bytes; false, with `errno`, when not all of them could be written.
    static func write(_ bytes: [UInt8]) -> Bool {
        var bytes = bytes[...]
        while !bytes.isEmpty {
            let present = bytes
            // The caller finds the reason in `errno`.
            let count = try? retryingInterrupts("write") {
                unsafe present.withUnsafeBytes {
                    unsafe Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count)
                }
            }
            guard let count, count > 0 else { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }
}
