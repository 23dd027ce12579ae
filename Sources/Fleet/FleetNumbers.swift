// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What a worker has counted since it began; from any thread.
package final class FleetNumbers: Sendable {
    package struct Counts: Sendable, Equatable {
        /// Takes that got their mark here, with a text, and as dead.
        package var done = 0
        package var dead = 0
        /// Takes whose mark was there already when they came, and when this worker's text was ready.
        package var doneAlready = 0
        package var duplicates = 0
        /// Takes that were given back, to be tried again.
        package var givenBack = 0
        /// Messages that name no take.
        package var badMessages = 0
        /// Of takes that got a text here.
        package var audioSeconds = 0.0
        package var workSeconds = 0.0
        /// Calls of a service.
        package var attempts = 0
        package var leasesLost = 0
        package var inFlight = 0
        package var storeErrors = 0
        package var queueErrors = 0
        /// Takes that the reconciler has put into the queue.
        package var published = 0
        /// Waits for the limits of a service.
        package var limited = 0
    }

    private let counts = Mutex(Counts())

    package init() {}

    package var now: Counts { counts.withLock { $0 } }

    package func change(_ body: (inout Counts) -> Void) { counts.withLock { body(&$0) } }
}
