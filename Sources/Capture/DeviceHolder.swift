// SPDX-License-Identifier: Apache-2.0

/// A program that records from a sound card.
public struct DeviceHolder: Sendable, Hashable {
    package var process: Int32
    package var program: String

    package init(process: Int32, program: String) {
        self.process = process
        self.program = program
    }

    /// The name and the number.
    public var description: String { "'\(program)' (process \(process))" }
}

extension DeviceHolder: CustomStringConvertible {}
