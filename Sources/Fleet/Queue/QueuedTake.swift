// SPDX-License-Identifier: Apache-2.0

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
        guard bytes.count <= 4_096, let take = decoded(QueuedTake.self, bytes),
            FleetLayout.take(ofManifest: take.key) == take.id
        else { return nil }
        self = take
    }

    package var bytes: [UInt8] { encoded(self, isPretty: false) }
}

package struct QueueCounts: Sendable, Equatable {
    package var waiting = 0
    package var leased = 0
    /// For how many seconds the oldest take has been there; 0 when there is none.
    package var oldestAge = 0.0

    var isEmpty: Bool { waiting == 0 && leased == 0 }
}

package enum QueueLine: String, Sendable {
    case takes
    /// One message, whose holder reconciles.
    case check
}
