// SPDX-License-Identifier: Apache-2.0

/// Why a secret, a profile or a file of settings cannot be read; the description says it in one line.
public struct ReadingError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Remedy: Sendable, Equatable {
        case correct(file: String)
        case move
        case closeToReaders(path: String)
        case closeToWriters(path: String)
        case writeFirstLine
        case writeToPipe
    }

    /// What happened and why.
    public let description: String
    package let remedy: Remedy?

    package init(_ description: String, _ remedy: Remedy? = nil) {
        (self.description, self.remedy) = (description, remedy)
    }
}
