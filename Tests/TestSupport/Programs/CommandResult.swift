// SPDX-License-Identifier: Apache-2.0

/// What a program left behind when it had ended.
package struct CommandResult: Sendable {
    /// How a program ended.
    package enum Status: Sendable, Hashable {
        /// It ended by itself with this exit status.
        case exited(Int32)

        /// A signal of this number ended it.
        case signalled(Int32)
    }

    /// How it ended.
    package let status: Status

    /// All it wrote to its standard output.
    package let output: [UInt8]

    /// All it wrote to its standard error, when that was no terminal.
    package let error: [UInt8]

    /// All it wrote to its terminal, with what the terminal echoed.
    package let screen: [UInt8]

    /// The time from its start to its end.
    package let duration: Duration

    /// The largest resident memory, in KiB.
    package let peakMemory: Int

    /// Processor time of all its threads.
    package let processorTime: Duration

    /// The standard output as text.
    package var outputText: String { String(decoding: output, as: UTF8.self) }

    /// The standard error as text.
    package var errorText: String { String(decoding: error, as: UTF8.self) }

    /// The terminal's bytes as text.
    package var screenText: String { String(decoding: screen, as: UTF8.self) }
}
