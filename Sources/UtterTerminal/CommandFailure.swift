// SPDX-License-Identifier: Apache-2.0

package import Utter

/// What keeps a command from starting: what happened and why, what to do, and how to exit.
package struct CommandFailure: Error {
    package var message: String
    package var hint: String?
    package var status: ExitStatus

    package init(_ message: String, hint: String? = nil, status: ExitStatus) {
        self.message = message
        self.hint = hint
        self.status = status
    }

    package init(_ error: ServiceError) {
        self.init(error.description, hint: error.hint, status: .usage)
    }

    /// A failure of the takes on the disk.
    package init(_ error: TakeStoreError) {
        let status: ExitStatus =
            switch error {
            case .noSuchTake: .noInput
            case .ambiguous: .usage
            case .unreadable, .laterVersion: .localIO
            case .folderUnusable: .configuration
            }
        self.init(error.description, hint: error.hint, status: status)
    }
}
