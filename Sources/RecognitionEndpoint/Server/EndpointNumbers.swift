// SPDX-License-Identifier: Apache-2.0

package import OperatorMetrics
internal import Synchronization

/// What an endpoint has counted since it began, for an operator; from any thread.
package final class EndpointNumbers: Sendable {
    private struct State {
        var requests: [String: Double] = [:]
        var audioSeconds = 0.0
        var bytes = 0.0
        var answer = Histogram()
    }

    private let state = Mutex(State())

    package init() {}

    /// Counts a request that has ended.
    package func note(_ request: ServedRequest) {
        state.withLock { state in
            let word = request.isAnswered ? request.status.map { "\($0 / 100)xx" } : nil
            state.requests[word ?? "broken", default: 0] += 1
            state.bytes += Double(request.byteCount)
            guard let audio = request.audioDuration else { return }
            state.audioSeconds += audio
            state.answer.note(request.duration)
        }
    }

    /// All numbers, and those of the endpoint's recognisers.
    package func families(of endpoint: RecognitionEndpoint) -> [MetricFamily] {
        let state = state.withLock { $0 }
        let load = endpoint.load
        return [
            .counter(
                "utter_endpoint_requests_total", "Requests, by their answers.", by: "class",
                state.requests),
            .counter("utter_endpoint_received_bytes_total", "Bytes of bodies.", state.bytes),
            .counter(
                "utter_endpoint_audio_seconds_total", "Sound that was recognised.",
                state.audioSeconds),
            .histogram(
                "utter_endpoint_request_seconds", "From the head of a request to its answer's end.",
                state.answer),
            .gauge(
                "utter_endpoint_recordings", "Recordings at a recogniser, and in line.",
                by: "state",
                ["running": Double(load.running), "waiting": Double(load.waiting)]),
        ]
    }
}
