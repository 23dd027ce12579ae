// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform

/// Why the control socket cannot be used, or why what was asked for there is not done.
///
/// It goes over the socket: what happened and why, what to do, and the status to exit with.
package struct ControlFailure: Error {
    /// The statuses that are decided here, as the manual of `utter` lists them.
    enum Status: Int32 {
        case heardNothing = 1
        case usage = 64
        case nothingRecorded = 67
        case internalError = 70
        case notDelivered = 75
        case configuration = 78
    }

    package var message: String
    package var hint: String?
    package var exit: Int32
    /// What the system refused, which may have a hint of its own.
    package var cause: SystemError?

    package init(_ message: String, hint: String?, exit: Int32) {
        (self.message, self.hint, self.exit) = (message, hint, exit)
    }

    init(_ message: String, hint: String? = nil, status: Status, cause: SystemError? = nil) {
        self.init(message, hint: hint, exit: status.rawValue)
        self.cause = cause
    }

    /// What counts without a program that records.
    package static let nothingRecorded = ControlFailure(
        "nothing is being recorded",
        hint: "begin with: utter start; the last transcript is printed by: utter last",
        status: .nothingRecorded)

    /// What counts for a start that a stop has overtaken.
    static let stoppedBefore = ControlFailure(
        "the recording was stopped before it began", status: .heardNothing)
}
