// SPDX-License-Identifier: Apache-2.0

/// Why a benchmark cannot be run.
struct BenchmarkError: Error, CustomStringConvertible {
    /// What is missing or went wrong.
    let description: String

    init(_ description: String) { self.description = description }
}
