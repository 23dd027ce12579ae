// SPDX-License-Identifier: Apache-2.0

import SpeechService

/// What keeps a command from starting: what happened and why, what to do, and how to exit.
struct CommandFailure: Error {
    var message: String
    var hint: String?
    var status: ExitStatus

    init(_ message: String, hint: String? = nil, status: ExitStatus) {
        self.message = message
        self.hint = hint
        self.status = status
    }

    init(_ error: ServiceError) {
        self.init(error.description, hint: error.hint, status: .usage)
    }
}
