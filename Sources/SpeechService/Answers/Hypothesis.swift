// SPDX-License-Identifier: Apache-2.0

/// What the recogniser thinks was said.
public struct Hypothesis: Sendable, Hashable {
    /// The words as the service wrote them; empty when it heard nothing.
    public var text: String
    /// Whether the service will not change it any more.
    public var isFinal: Bool
    /// The words one by one, when the service tells; else empty.
    public var words: [RecognizedWord]
    /// The seconds of audio that the service says it heard, or nil.
    public var duration: Double?

    /// Creates a hypothesis.
    public init(
        text: String, isFinal: Bool, words: [RecognizedWord] = [], duration: Double? = nil
    ) {
        self.text = text
        self.isFinal = isFinal
        self.words = words
        self.duration = duration
    }
}

/// A word and where in the audio it was heard.
public struct RecognizedWord: Sendable, Hashable {
    /// The word as the service wrote it.
    public var text: String
    /// Where it begins, in seconds from the start of the audio, or nil.
    public var start: Double?
    /// Where it ends, in seconds from the start of the audio, or nil.
    public var end: Double?
    /// How sure the service is, from 0 to 1, or nil.
    public var probability: Double?

    /// Creates a word.
    public init(
        text: String, start: Double? = nil, end: Double? = nil, probability: Double? = nil
    ) {
        self.text = text
        self.start = start
        self.end = end
        self.probability = probability
    }
}
