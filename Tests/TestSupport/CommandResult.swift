// SPDX-License-Identifier: Apache-2.0

/// What a program left behind when it had ended.
public struct CommandResult: Sendable {
    /// How a program ended.
    public enum Status: Sendable, Hashable {
        /// It ended by itself with this exit status.
        case exited(Int32)

        /// A signal of this number ended it.
        case signalled(Int32)
    }

    /// How it ended.
    public let status: Status

    /// All it wrote to its standard output.
    public let output: [UInt8]

    /// All it wrote to its standard error, when that was no terminal.
    public let error: [UInt8]

    /// All it wrote to its terminal, with what the terminal echoed.
    public let screen: [UInt8]

    /// The time from its start to its end.
    public let duration: Duration

    /// The largest resident memory, in KiB.
    public let peakMemory: Int

    /// Processor time of all its threads.
    public let processorTime: Duration

    /// The standard output as text.
    public var outputText: String { String(decoding: output, as: UTF8.self) }

    /// The standard error as text.
    public var errorText: String { String(decoding: error, as: UTF8.self) }

    /// The terminal's bytes as text.
    public var screenText: String { String(decoding: screen, as: UTF8.self) }
}
