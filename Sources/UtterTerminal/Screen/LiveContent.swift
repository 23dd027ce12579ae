// SPDX-License-Identifier: Apache-2.0

/// What a terminal shows as long as it changes; pure.
package protocol LiveContent: Sendable {
    /// After how long it changes by itself; nil when it does not.
    var nextChange: Duration? { get }

    /// The lines for a window and a time, each at most `columns` - 1 columns wide, colour codes not
    /// counted.
    func lines(
        columns: Int, rows: Int, hasColour: Bool, at now: ContinuousClock.Instant
    ) -> [String]
}
