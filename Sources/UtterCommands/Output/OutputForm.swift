// SPDX-License-Identifier: Apache-2.0

/// What standard output has of a take.
package enum OutputForm: Sendable {
    case text
    /// One object with everything (`--json`).
    case object
    /// An object for each thing that happens, as it happens (`--events`).
    case events
}
