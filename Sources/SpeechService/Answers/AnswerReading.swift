// SPDX-License-Identifier: Apache-2.0

/// Whether what is still to come of an answer can say anything.
package enum AnswerReading: Sendable, Equatable {
    /// It can.
    case goesOn
    /// The answer has said itself that it is complete.
    case ended
    /// The service has said that it failed.
    case failed
}
