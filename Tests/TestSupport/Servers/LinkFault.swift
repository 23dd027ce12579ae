// SPDX-License-Identifier: Apache-2.0

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
