// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import TakeStore

/// Why the queue does not do what it is asked.
package struct QueueFailure: Error, Sendable, Equatable {
    package var reason: String
}

/// A take as the queue carries it: where its manifest is.
package struct QueuedTake: Codable, Sendable, Equatable {
    package var id: TakeID
    /// Of the manifest, below the prefix.
    package var key: String

    package init(id: TakeID, key: String) { (self.id, self.key) = (id, key) }

    /// Reads a message, which is not trusted: the key must be that of this take's manifest.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= 4_096,
            // Whatever is wrong with it, it is not a message of ours.
            let take = try? JSONDecoder().decode(QueuedTake.self, from: Data(bytes)),
            FleetLayout.take(ofManifest: take.key) == take.id
        else { return nil }
        self = take
    }

    package var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Two texts are always encoded.
        return Array((try? encoder.encode(self)) ?? Data())
    }
}

package struct QueueCounts: Sendable, Equatable {
    package var waiting: Int
    package var leased: Int
}

/// An engine that leases messages to workers: it may lose all that it has, since the store is the
/// truth, and may deliver one twice, since there is one mark.
package protocol WorkQueue: AnyObject, Sendable {
    /// How long a message is a worker's that does not extend its lease.
    var lease: Duration { get }

    /// Makes what the queue consists of, where it is missing.
    func prepare() throws(QueueFailure)

    /// Puts a take in, unless it waits there or is leased.
    ///
    /// - Returns: whether it was not there.
    func publish(_ take: QueuedTake, seconds: Double) throws(QueueFailure) -> Bool

    /// A way to take messages out, for one thread.
    func makePuller(of line: QueueLine) throws(QueueFailure) -> any QueuePuller

    func counts() throws(QueueFailure) -> QueueCounts

    /// Puts messages in again that lie there and would never be delivered; blocks for a second when
    /// there may be some.
    ///
    /// - Returns: how many there were.
    func restore() throws(QueueFailure) -> Int

    /// For how many seconds the oldest take has been there; 0 when there is none.
    func oldestAge() throws(QueueFailure) -> Double
}

package enum QueueLine: Sendable {
    case takes
    /// One message, whose holder reconciles.
    case check
}

package protocol QueuePuller: AnyObject, Sendable {
    /// Waits for one message.
    ///
    /// - Returns: nil when none came in time, or `stop` was called.
    func pull(within time: Duration) throws(QueueFailure) -> (any Delivery)?

    /// Ends the wait, from any thread.
    func stop()
}

/// One message that is leased; from any thread.
package protocol Delivery: AnyObject, Sendable {
    var bytes: [UInt8] { get }
    /// How often it was delivered, this time included.
    var deliveryCount: Int { get }

    /// Extends the lease; what comes of it is not known.
    func extend()

    /// Extends the lease, and says whether the queue still has the message.
    func isStillThere() -> Bool

    /// Takes the message out of the queue, and waits for the queue to say so.
    func finish() throws(QueueFailure)

    /// Lets others have it after a time.
    func giveBack(after time: Duration)

    /// Takes the message out for good: it names no take.
    func drop()
}
