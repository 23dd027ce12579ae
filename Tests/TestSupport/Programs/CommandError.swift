// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform

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
