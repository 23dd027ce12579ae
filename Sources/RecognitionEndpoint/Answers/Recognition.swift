// SPDX-License-Identifier: Apache-2.0

struct Recognition: Sendable, Equatable {
    /// The words, separated by single spaces; empty when nothing was heard.
    var text = ""

    /// The length of the audio, in seconds.
    var duration = 0.0

    /// The words, in order.
    var words: [RecognisedWord] = []

    var wantedFormat: String?
}

/// What the speaker seems to have said so far; later words may still change earlier ones.
struct PartialRecognition: Sendable, Equatable {
    /// The words, separated by single spaces; not empty.
    var text: String

    /// How much of the audio it is about, in seconds from its beginning.
    var time: Double
}
