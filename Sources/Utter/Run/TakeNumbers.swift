// SPDX-License-Identifier: Apache-2.0

package import OperatorMetrics
internal import Synchronization
internal import Upload

/// The counts of a pipeline since it began, for an operator; from any thread.
package final class TakeNumbers: Sendable {
    private struct State {
        var takes: [String: Double] = [:]
        var attempts: [String: Double] = [:]
        var seconds = ["in": 0.0, "out": 0]
        var bytes = ["first": 0.0, "resent": 0]
        var gaps = (count: 0.0, seconds: 0.0)
        var firstPartial = Histogram()
        var answer = Histogram()
    }

    private let state = Mutex(State())

    func note(_ outcome: TakeOutcome) {
        state.withLock { state in
            state.takes[outcome.word, default: 0] += 1
            let length = outcome.length / .seconds(1)
            state.seconds["in", default: 0] += length
            if case .success = outcome.result { state.seconds["out", default: 0] += length }
            for attempt in outcome.attempts { state.attempts[attempt.result.word, default: 0] += 1 }
            let sent = outcome.attempts.filter(\.carriesRecording)
                .reduce(0.0) { $0 + Double($1.result.wireByteCount) }
            let first = min(sent, Double(outcome.account.wireBytes))
            state.bytes["first", default: 0] += first
            state.bytes["resent", default: 0] += sent - first
            state.gaps.count += Double(outcome.capture.gaps.count)
            state.gaps.seconds += Double(outcome.account.gapFrames) / 16_000
            if let text = outcome.attempts.lazy.compactMap({ $0.result.timings.firstText }).first {
                state.firstPartial.note(text)
            }
            if let delay = outcome.answerDelay { state.answer.note(delay) }
        }
    }

    package var families: [MetricFamily] {
        let state = state.withLock { $0 }
        return [
            .counter("utter_takes_total", "Takes that have ended.", by: "outcome", state.takes),
            .counter(
                "utter_attempts_total", "Requests, by how they ended.", by: "class",
                state.attempts),
            .counter(
                "utter_audio_seconds_total", "Sound that came in, and was answered.",
                by: "direction", state.seconds),
            .counter(
                "utter_bytes_sent_total", "Bytes of bodies that connections took.", by: "kind",
                state.bytes),
            .counter("utter_capture_gaps_total", "Holes in recordings.", state.gaps.count),
            .counter(
                "utter_capture_gap_seconds_total", "The length of these holes.",
                state.gaps.seconds),
            .histogram(
                "utter_first_partial_seconds", "From the start of a request to its first words.",
                state.firstPartial),
            .histogram(
                "utter_answer_seconds", "From the end of a recording to its whole answer.",
                state.answer),
        ]
    }
}

extension TakeOutcome {
    fileprivate var word: String {
        switch result {
        case .success where isStored: "stored"
        case .success(let transcript): transcript.text.isEmpty ? "empty" : "text"
        case .failure(let failure) where failure.isUnwanted: "cancelled"
        case .failure(.left): "left"
        case .failure: "failed"
        }
    }
}

extension TransferResult {
    /// The class of the status, or how it ended without one.
    fileprivate var word: String { status.map { "\($0 / 100)xx" } ?? ending.word }
}

extension Spool {
    /// The takes on the disk, and the age of the oldest that waits; blocks on the disk.
    package var families: [MetricFamily] {
        // A spool that cannot be read is told by the takes that it cannot hold.
        let takes = (try? takes()) ?? []
        var counts: [String: Double] = ["kept": 0]
        for take in takes { counts[take.state.rawValue, default: 0] += 1 }
        let oldest = takes.lazy.filter(\.isWaiting).map(\.waited).max() ?? .zero
        return [
            .gauge("utter_spool_takes", "Takes on the disk.", by: "state", counts),
            .gauge(
                "utter_spool_oldest_seconds", "How long the oldest take has waited.",
                oldest / .seconds(1)),
        ]
    }
}
