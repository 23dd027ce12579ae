// SPDX-License-Identifier: Apache-2.0

/// Recognises audio of any length, on one thread, with one warm decoder.
///
/// PocketSphinx keeps every frame of an utterance and searches all of it again at its end, so
/// long audio is cut into utterances: at the first pause after 20 s, and without any pause after
/// 60 s. That bounds memory, and the wait for the final text to some seconds.
struct SpeechRecogniser: ~Copyable {
    /// Why audio was not recognised; PocketSphinx's doing.
    struct Failure: Error {}

    private let decoder: PocketSphinxDecoder
    private var recognition = Recognition()
    private var sampleCount = 0
    private var utteranceStart = 0
    private var lastPartialText = ""
    private var isInUtterance = false

    /// Loads a model; blocks for as long as `PocketSphinxDecoder` says.
    init(_ model: PreparedModel) throws(RecognitionEndpointError) {
        decoder = try PocketSphinxDecoder(model)
    }

    /// Begins new audio; what was heard before is forgotten, but not the speaker's sound.
    mutating func begin() throws(Failure) {
        // An abandoned utterance may still be open.
        if isInUtterance { _ = decoder.endUtterance() }
        isInUtterance = false
        recognition = Recognition()
        sampleCount = 0
        lastPartialText = ""
        try beginUtterance()
    }

    /// Takes audio in.
    ///
    /// - Parameters:
    ///   - samples: 16 kHz, mono, any count.
    ///   - onPartial: called whenever the text has changed.
    /// - Throws: `Failure`.
    mutating func process(
        _ samples: Span<Int16>, onPartial: (PartialRecognition) -> Void
    ) throws(Failure) {
        var rest = samples
        while !rest.isEmpty {
            let period = rest.extracting(first: Self.periodSampleCount)
            rest = rest.extracting(droppingFirst: period.count)
            guard decoder.process(period) else { throw Failure() }
            sampleCount += period.count
            let text = Self.joined(recognition.text, decoder.hypothesis)
            if text != lastPartialText, !text.isEmpty {
                lastPartialText = text
                onPartial(PartialRecognition(text: text, time: Self.seconds(sampleCount)))
            }
            if endsUtterance {
                try endUtterance()
                try beginUtterance()
            }
        }
    }

    /// Ends the audio.
    ///
    /// - Returns: everything that was heard in it.
    mutating func finish() throws(Failure) -> Recognition {
        try endUtterance()
        recognition.duration = Self.seconds(sampleCount)
        return recognition
    }

    private var endsUtterance: Bool {
        let length = sampleCount - utteranceStart
        if length >= Self.maximumUtteranceSampleCount { return true }
        return length >= Self.minimumUtteranceSampleCount && !decoder.isInSpeech
    }

    private mutating func beginUtterance() throws(Failure) {
        guard decoder.beginUtterance() else { throw Failure() }
        isInUtterance = true
        utteranceStart = sampleCount
    }

    private mutating func endUtterance() throws(Failure) {
        isInUtterance = false
        guard decoder.endUtterance() else { throw Failure() }
        recognition.text = Self.joined(recognition.text, decoder.hypothesis)
        let offset = Self.seconds(utteranceStart)
        for var word in decoder.words {
            word.start += offset
            word.end += offset
            recognition.words.append(word)
        }
    }

    private static func joined(_ first: String, _ second: String) -> String {
        if first.isEmpty { return second }
        return second.isEmpty ? first : first + " " + second
    }

    private static func seconds(_ sampleCount: Int) -> Double { Double(sampleCount) / 16_000 }

    /// 20 ms: how often the text is looked at.
    private static let periodSampleCount = 320

    /// 20 s: below this, a sentence is not cut at a pause.
    private static let minimumUtteranceSampleCount = 20 * 16_000

    /// 60 s: at this, speech is cut anywhere.
    private static let maximumUtteranceSampleCount = 60 * 16_000
}
