// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// What is printed beside the transcript.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON object with the transcript and the account of every sample.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print no status on standard error, only errors.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Print each step with its time.")
    var verbose = false

    mutating func validate() throws {
        if quiet && verbose { throw ValidationError("-q and -v exclude each other.") }
    }
}
