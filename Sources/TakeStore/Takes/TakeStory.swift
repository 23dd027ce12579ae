// SPDX-License-Identifier: Apache-2.0

/// The text of a take by time, and what else a person may want to see of it.
package struct TakeStory: Sendable, Codable, Equatable {
    /// A piece of a text, in seconds of the recording; a partial text in seconds since the take began.
    package struct Piece: Sendable, Codable, Equatable {
        package let text: String
        package let start, end: Double?

        package init(_ text: String, from start: Double?, to end: Double? = nil) {
            (self.text, self.start, self.end) = (text, start, end)
        }
    }

    /// The words, or the sentences of a service that times no words.
    package let pieces: [Piece]
    /// The partial texts, the newest of very many.
    package let partials: [Piece]
    /// Silence in the place of what was lost, in seconds of the recording.
    package let gaps: [Piece]
    /// The faults of the signal, in words for a person.
    package let faults: [String]
    /// In seconds: from the last sample to the text.
    package let waited: Double?

    /// The most that is remembered of each list.
    private static let limit = 50_000

    package init(
        pieces: [Piece], partials: [Piece], gaps: [Piece], faults: [String], waited: Double?
    ) {
        self.pieces = Array(pieces.prefix(Self.limit))
        (self.partials, self.gaps, self.faults) = (partials, gaps, faults)
        self.waited = waited
    }
}
