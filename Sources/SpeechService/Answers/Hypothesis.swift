// SPDX-License-Identifier: Apache-2.0

package struct Hypothesis: Sendable, Hashable {
    /// Empty when nothing was heard.
    var text: String
    var isFinal: Bool
    /// How the text joins earlier ones: a partial replaces the partial or is appended to it, a
    /// final accumulates or replaces all.
    var merge: TextMerge
    var words: [RecognizedWord]
    var segments: [RecognizedWord] = []
    /// Seconds of audio that the service reports, or nil.
    var duration: Double?
    var language: String?
    /// From 0 to 1, or nil.
    var confidence: Double?

    init(
        text: String, isFinal: Bool, merge: TextMerge? = nil, words: [RecognizedWord] = [],
        duration: Double? = nil
    ) {
        self.text = text
        self.isFinal = isFinal
        self.merge = merge ?? (isFinal ? .accumulate : .replace)
        self.words = words
        self.duration = duration
    }
}

/// A piece of what was said, most often a word, and where in the audio it was heard.
public struct RecognizedWord: Sendable, Hashable, Codable {
    /// The piece as the service wrote it.
    public var text: String
    /// Where it begins, in seconds from the start of the audio, or nil.
    public var start: Double?
    /// Where it ends, in seconds from the start of the audio, or nil.
    public var end: Double?
    /// How sure the service is, from 0 to 1, or nil.
    public var probability: Double?
    /// Who said it, as the service names them, or nil.
    public var speaker: String?

    init(
        text: String, start: Double? = nil, end: Double? = nil, probability: Double? = nil,
        speaker: String? = nil
    ) {
        self.text = text
        self.start = start
        self.end = end
        self.probability = probability
        self.speaker = speaker
    }
}
