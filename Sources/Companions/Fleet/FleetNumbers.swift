// SPDX-License-Identifier: Apache-2.0

package import OperatorMetrics
internal import Synchronization

/// The counts of a worker since it began; from any thread.
package final class FleetNumbers: Sendable {
    package enum Count: String, Sendable {
        /// Takes that got their mark here, with a text, and as dead.
        case done, dead
        /// Takes whose mark was there already when they came, and when this worker's text was ready.
        case doneAlready = "done_already"
        case duplicates = "duplicate"
        /// Takes that were given back, to be tried again.
        case givenBack = "retried"
        /// Calls of a service.
        case calls
        /// Seconds of sound, and of work, of takes that got a text here.
        case audioSeconds, workSeconds
        case running, leasesLost
        /// Waits for the limits of a service.
        case limited
        /// Takes that the reconciler has put into the queue.
        case published
        /// Messages that name no take.
        case badMessages
        case storeErrors = "store"
        case queueErrors = "queue"
    }

    private let counts = Mutex<[Count: Double]>([:])

    package init() {}

    package subscript(_ count: Count) -> Double { counts.withLock { $0[count] ?? 0 } }

    func add(_ count: Count, _ number: Double = 1) {
        counts.withLock { $0[count, default: 0] += number }
    }

    /// The counts of the worker, and of the takes that wait in the queue; asks the queue.
    package func families(of queue: NATSQueue) -> [MetricFamily] {
        func values(_ counts: Count...) -> [String: Double] {
            Dictionary(uniqueKeysWithValues: counts.map { ($0.rawValue, self[$0]) })
        }
        let families: [MetricFamily] = [
            .counter(
                "utter_jobs_total", "Takes that this worker had, by what became of them.",
                by: "result", values(.done, .dead, .duplicates, .doneAlready, .givenBack)),
            .gauge("utter_jobs_running", "Takes that this worker has.", self[.running]),
            .counter("utter_calls_total", "Calls of a service for a take.", self[.calls]),
            .counter(
                "utter_job_audio_seconds_total", "Sound that got a text here.",
                self[.audioSeconds]),
            .counter(
                "utter_job_work_seconds_total", "Time that these texts took.", self[.workSeconds]),
            .counter(
                "utter_lease_lost_total", "Leases that ended before the work.",
                self[.leasesLost]),
            .counter("utter_limited_total", "Waits for the limit of a service.", self[.limited]),
            .counter(
                "utter_published_total", "Takes that the reconciler has queued.",
                self[.published]),
            .counter(
                "utter_messages_refused_total", "Messages that name no take.",
                self[.badMessages]),
            .counter(
                "utter_errors_total", "Requests that failed, by the part that failed.",
                by: "part", values(.storeErrors, .queueErrors)),
        ]
        // A queue that is away is told by `/readyz`, and is not waited for twice.
        guard let counts = try? queue.counts() else { return families }
        return families + [
            .gauge(
                "utter_queue_takes", "Takes in the queue, of all workers.", by: "state",
                ["waiting": Double(counts.waiting), "leased": Double(counts.leased)]),
            .gauge(
                "utter_queue_oldest_seconds",
                "How long the oldest take has been in the queue; 0 when it is empty.",
                counts.oldestAge),
        ]
    }
}
