// SPDX-License-Identifier: Apache-2.0

/// How a `FaultProxy` treats one connection.
public struct LinkPlan: Sendable, Hashable {
    /// What goes wrong, in the order of the offsets of each direction.
    public var faults: [LinkFault]

    /// How fast the request passes, or nil for at once.
    public var bytesPerSecond: Int?

    /// How long the connection stands before it leads anywhere.
    public var delay: Duration

    /// Describes the treatment of a connection.
    public init(_ faults: LinkFault..., bytesPerSecond: Int? = nil, delay: Duration = .zero) {
        self.faults = faults
        self.bytesPerSecond = bytesPerSecond
        self.delay = delay
    }

    /// Nothing goes wrong.
    public static let clean = LinkPlan()
}
