// SPDX-License-Identifier: Apache-2.0

/// How a `FaultProxy` treats one connection.
package struct LinkPlan: Sendable, Hashable {
    /// What goes wrong, in the order of the offsets of each direction.
    package var faults: [LinkFault]

    /// How fast the request passes, or nil for at once.
    package var bytesPerSecond: Int?

    /// How long the connection stands before it leads anywhere.
    package var delay: Duration

    /// The request at which the link falls silent, without a word to either side.
    package var hold: LinkHold?

    package init(
        _ faults: LinkFault..., bytesPerSecond: Int? = nil, delay: Duration = .zero,
        hold: LinkHold? = nil
    ) {
        self.faults = faults
        self.bytesPerSecond = bytesPerSecond
        self.delay = delay
        self.hold = hold
    }

    /// Nothing goes wrong.
    package static let clean = LinkPlan()
}
