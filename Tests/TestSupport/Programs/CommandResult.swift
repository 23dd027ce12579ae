// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform

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

    package var outputText: String { String(decoding: output, as: UTF8.self) }

    package var errorText: String { String(decoding: error, as: UTF8.self) }

    package var screenText: String { String(decoding: screen, as: UTF8.self) }
}

/// Why a program could not be run, or did not end.
package enum CommandError: Error, Sendable, CustomStringConvertible {
    case notStarted(program: String, SystemError)

    /// A pipe or thread for it was not to be had.
    case system(SystemError)

    /// It ran longer than it was given and was killed; what it had written until then is told.
    case tooLong(program: String, after: Duration, output: String, error: String)

    case notBuilt(String)

    package var description: String {
        switch self {
        case .notStarted(let program, let error): "cannot start '\(program)': \(error.description)"
        case .system(let error): error.description
        case .tooLong(let program, let limit, let output, let error):
            "'\(program)' was killed after \(limit); it had written '\(output)' and '\(error)'"
        case .notBuilt(let product): "this build has no '\(product)'"
        }
    }
}
