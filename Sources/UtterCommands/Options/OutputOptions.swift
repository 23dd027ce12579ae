// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// What is printed beside the transcript.
package struct OutputOptions: ParsableArguments {
    /// Creates options that have not been parsed yet.
    package init() {}

    @Flag(help: "Print one JSON object with the transcript and the account of every sample.")
    package var json = false

    @Flag(name: .shortAndLong, help: "Print no status on standard error, only errors.")
    package var quiet = false

    @Flag(name: .shortAndLong, help: "Print each step with its time.")
    package var verbose = false

    package mutating func validate() throws {
        if quiet && verbose { throw ValidationError("-q and -v exclude each other.") }
    }
}
