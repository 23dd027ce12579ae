// SPDX-License-Identifier: Apache-2.0

import Utter
import UtterCommands

/// Where a key is watched.
protocol KeyTrigger: Sendable {
    /// The key, in a sentence.
    var title: String { get }

    /// Watches the key, and blocks for as long as that is possible.
    ///
    /// - Parameters:
    ///   - onReady: called when the key is watched, with its name.
    ///   - tell: what the key asks for, and when it moved.
    /// - Throws: `CommandFailure` with why it cannot be watched, or not any more.
    func watch(
        onReady: (String) -> Void, tell: (Dictation.Input, ContinuousClock.Instant) -> Void
    ) throws(CommandFailure)
}
