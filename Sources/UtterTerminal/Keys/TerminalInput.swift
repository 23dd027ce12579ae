// SPDX-License-Identifier: Apache-2.0

/// What a terminal tells a program that reads its keys.
enum TerminalInput: Equatable, Sendable {
    /// A key moved.
    case key(KeyEvent)
    /// The terminal's window has got the keyboard, or lost it.
    case focus(Bool)
    /// A text was pasted; it is swallowed.
    case pasted
    /// The answer to `CSI ? u`: the flags of the kitty keyboard protocol that are set.
    case keyboardFlags(Int)
    /// The answer to `CSI c` (DA1), which every terminal gives.
    case deviceAttributes
}
