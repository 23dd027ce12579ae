// SPDX-License-Identifier: Apache-2.0

internal import SpeechService
internal import TakeStore

extension TakeOutcome {
    /// The text by time, for a page and for figures.
    var story: TakeStory {
        // A take without a text has a sound all the same.
        let transcript = try? result.get()
        let words = transcript?.words ?? []
        let areTimed = words.allSatisfy { $0.start != nil }
        let timed = words.isEmpty || !areTimed ? transcript?.segments ?? [] : words
        return TakeStory(
            pieces: timed.map { TakeStory.Piece($0.text, from: $0.start, to: $0.end) },
            partials: partials,
            gaps: capture.gaps.map { gap in
                TakeStory.Piece(
                    gap.cause.rawValue, from: Double(gap.start) / 16_000,
                    to: Double(gap.start + gap.frames) / 16_000)
            },
            faults: capture.faults.map(capture.text),
            // The person has not waited for what is sent again.
            waited: attempts.first?.number != 1
                ? nil : answerDelay.map { ($0 / .milliseconds(1)).rounded() / 1_000 })
    }
}

extension [TakeStory.Piece] {
    private static let mostPartials = 200
    private static let partialLength = 300

    /// Notes a text that may still change; of very many the newest are remembered.
    mutating func note(_ transcript: Transcript, at time: Duration) {
        guard !transcript.partial.isEmpty else { return }
        if count == Self.mostPartials { removeFirst() }
        append(
            TakeStory.Piece(
                String(transcript.displayText.suffix(Self.partialLength)),
                from: (time / .milliseconds(1)).rounded() / 1_000))
    }
}
