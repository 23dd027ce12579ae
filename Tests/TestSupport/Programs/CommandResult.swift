// SPDX-License-Identifier: Apache-2.0

/// What a program left behind when it had ended.
package struct CommandResult: Sendable {
    package enum Status: Sendable, Hashable {
        case exited(Int32)

        /// A signal of this number ended it.
        case signalled(Int32)
    }

    package let status: Status
    package let output: [UInt8]

    /// All it wrote to its standard error, when that was no terminal.
    package let error: [UInt8]

    /// All it wrote to its terminal, with what the terminal echoed.
    package let screen: [UInt8]

    package let duration: Duration

    /// The largest resident memory, in KiB.
    package let peakMemory: Int

    /// Processor time of all its threads.
    package let processorTime: Duration

    package var outputText: String { String(decoding: output, as: UTF8.self) }

    package var errorText: String { String(decoding: error, as: UTF8.self) }

    package var screenText: String { String(decoding: screen, as: UTF8.self) }
}
