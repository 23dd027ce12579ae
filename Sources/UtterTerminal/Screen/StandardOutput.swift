// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// The transcript, and nothing else.
package enum StandardOutput {
    /// Nil when standard output is not a terminal.
    package static var columns: Int? {
        isatty(STDOUT_FILENO) == 1 ? terminalColumns(STDOUT_FILENO) ?? 80 : nil
    }

    /// `COLUMNS`, or else the terminal's width.
    package static func columns(orOf variable: String?) -> Int? {
        variable.flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } ?? columns
    }

    /// False, with `errno`, when not all of it was written.
    package static func print(_ text: String) -> Bool {
        write(Array(text.utf8) + [0x0A])
    }

    /// Says that nothing more will be written; what is written all the same goes nowhere.
    package static func end() {
        let nowhere = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard nowhere >= 0 else { return }
        dup2(nowhere, STDOUT_FILENO)
        close(nowhere)
    }

    /// False, with `errno`, when not all bytes were written.
    package static func write(_ bytes: [UInt8]) -> Bool {
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
