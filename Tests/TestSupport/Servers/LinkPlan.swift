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

/// What happens to a connection through a `FaultProxy` when so many bytes have passed.
package struct LinkFault: Sendable, Hashable, CustomStringConvertible {
    /// Which way the bytes go that are counted.
    package enum Direction: String, Sendable, CaseIterable {
        /// The request. The fault strikes as soon as the last byte before it has passed.
        case toService
        /// The answer. The fault strikes when there is a byte behind it, or the service's end:
        /// at 0 the service has answered and the client hears nothing of it.
        case toClient
    }

    package enum Kind: Sendable, Hashable {
        /// Both sides get a reset (RST).
        case reset
        /// Both sides get an end (FIN); what still comes is dropped.
        case finish
        /// The receiver gets an end (FIN); the other direction goes on.
        case halfClose
        /// Nothing passes either way for so long.
        case stall(Duration)
        /// Nothing passes either way from then on, without a word to either side.
        case blackHole
    }

    package let direction: Direction
    /// How many of them pass before.
    package let offset: Int
    package let kind: Kind

    package init(_ kind: Kind, _ direction: Direction, at offset: Int) {
        self.kind = kind
        self.direction = direction
        self.offset = offset
    }

    /// The answer is lost: the service has sent it, and the client sees its connection reset.
    package static let lostAnswer = LinkFault(.reset, .toClient, at: 0)

    /// The fault in words, for the comment of an expectation.
    package var description: String { "\(kind) \(direction) at \(offset)" }
}

/// A request at which a link falls silent, told by its first line.
///
/// A client that sends nothing while it waits for an answer begins each request with a write.
package struct LinkHold: Sendable, Hashable {
    /// What does not pass any more: the request itself, or the answer to it, once it is there.
    package let direction: LinkFault.Direction
    private let method: [UInt8]
    private let query: [UInt8]

    package init(_ method: String, _ query: String, _ direction: LinkFault.Direction) {
        self.direction = direction
        self.method = Array("\(method) ".utf8)
        self.query = Array(query.utf8)
    }

    func isBegun(by bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.starts(with: method) else { return false }
        let line = bytes.prefix { $0 != UInt8(ascii: "\r") }
        return line.indices.contains { line[$0...].starts(with: query) }
    }
}
