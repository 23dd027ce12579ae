// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc

/// The program that holds the recogniser and the HTTP server.
///
/// It is a program of its own so that every other start of `utter` is spared their libraries.
enum EndpointProgram {
    private static let name = "utter-endpoint"

    /// Becomes that program; returns only when it cannot be found, with how to exit.
    static func execute(_ arguments: [String]) -> any Error {
        Signals.unblock()
        let folder = Launch.programFolder
        for path in ["\(folder)/\(name)", "\(folder)/../libexec/utter/\(name)"] {
            var pointers = unsafe ([name] + arguments).map { unsafe strdup($0) } + [nil]
            unsafe execv(path, &pointers)
            unsafe pointers.forEach { unsafe free($0) }
        }
        return Launch.exit(
            CommandFailure(
                "\(name) is missing beside \(folder)/utter",
                hint: "build it with: swift build --product \(name)", status: .internalError))
    }
}
