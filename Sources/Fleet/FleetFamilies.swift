// SPDX-License-Identifier: Apache-2.0

package import OperatorMetrics

extension FleetNumbers {
    /// What the worker has counted, and what waits in the queue; asks the queue.
    package func families(of queue: any WorkQueue) -> [MetricFamily] {
        let now = now
        var families = [
            MetricFamily(
                "utter_jobs_total", .counter, "Takes that this worker had, by what became of them.",
                by: "result",
                [
                    "done": now.done, "dead": now.dead, "duplicate": now.duplicates,
                    "done_already": now.doneAlready, "retried": now.givenBack,
                ].mapValues(Double.init)),
            MetricFamily(
                "utter_jobs_running", .gauge, "Takes that this worker has.", now.inFlight),
            MetricFamily(
                "utter_calls_total", .counter, "Calls of a service for a take.", now.attempts),
            MetricFamily(
                "utter_job_audio_seconds_total", .counter, "Sound that got a text here.",
                now.audioSeconds),
            MetricFamily(
                "utter_job_work_seconds_total", .counter, "Time that these texts took.",
                now.workSeconds),
            MetricFamily(
                "utter_lease_lost_total", .counter, "Leases that ended before the work.",
                now.leasesLost),
            MetricFamily(
                "utter_limited_total", .counter, "Waits for the limit of a service.", now.limited),
            MetricFamily(
                "utter_published_total", .counter, "Takes that the reconciler has queued.",
                now.published),
            MetricFamily(
                "utter_messages_refused_total", .counter, "Messages that name no take.",
                now.badMessages),
            MetricFamily(
                "utter_errors_total", .counter, "Requests that failed, by the part that failed.",
                by: "part",
                ["store": Double(now.storeErrors), "queue": Double(now.queueErrors)]),
        ]
        // A queue that is away is told by `/readyz`, and is not waited for twice.
        if let counts = try? queue.counts(), let age = try? queue.oldestAge() {
            families.append(
                MetricFamily(
                    "utter_queue_takes", .gauge, "Takes in the queue, of all workers.", by: "state",
                    ["waiting": Double(counts.waiting), "leased": Double(counts.leased)]))
            families.append(
                MetricFamily(
                    "utter_queue_oldest_seconds", .gauge,
                    "How long the oldest take has been in the queue; 0 when it is empty.", age))
        }
        return families
    }
}
