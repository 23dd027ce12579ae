// SPDX-License-Identifier: Apache-2.0

/// How a key of a keyboard moved.
enum KeyMovement: Sendable, Equatable, CaseIterable {
    /// It went up.
    case release
    /// It went down.
    case press
    /// It is held, and the keyboard says so again.
    case repetition
}
