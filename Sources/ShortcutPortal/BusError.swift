// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// Why something could not be done on the bus.
struct BusError: Error, Equatable {
    /// The name of an error that another program has answered; empty when the bus itself fails.
    let name: String
    /// What happened, in one line.
    let description: String

    /// An error of the library, which is negative.
    init(_ code: Int32, _ call: String) {
        name = ""
        description = SystemError(call: call, code: -code).description
    }

    /// An error that another program has answered.
    init(name: String, message: String) {
        self.name = name
        description = message.isEmpty ? name : message
    }
}
