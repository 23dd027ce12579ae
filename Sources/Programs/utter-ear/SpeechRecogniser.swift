// SPDX-License-Identifier: Apache-2.0

/// Recognises one piece of audio of any length, on one thread.
///
/// The same samples give the same text, however they are cut: PocketSphinx hears them in whole
/// periods, and nothing before them.
///
/// PocketSphinx keeps every frame of an utterance and searches all of it again at its end, so
/// long audio is cut into utterances: at the first pause after 20 s, and without any pause after
/// 60 s. That bounds memory, and the wait for the final text to some seconds.
struct SpeechRecogniser: ~Copyable {
    struct Failure: Error {}

    private let decoder: PocketSphinxDecoder
    private var sampleCount = 0
    private var utteranceStart = 0
    private var lastPartialText = ""
    private var incomplete: [Int16] = []

    init(_ decoder: consuming PocketSphinxDecoder) { self.decoder = decoder }

    /// Takes samples in, 16 kHz and mono; says what an utterance means whenever that has changed.
    mutating func process(
        _ samples: Span<Int16>, say: (EarLine) -> Void
    ) throws(Failure) {
        for index in samples.indices {
            incomplete.append(samples[index])
            guard incomplete.count == Self.periodSampleCount else { continue }
            let period = incomplete
            incomplete = []
            try processPeriod(period.span, say: say)
        }
    }

    /// Ends the audio, and returns what was heard in its last utterance.
    mutating func finish(say: (EarLine) -> Void) throws(Failure) -> EarLine {
        let rest = incomplete
        try processPeriod(rest.span, say: say)
        var line = try endUtterance()
        line.end = true
        return line
    }

    private mutating func processPeriod(
        _ period: Span<Int16>, say: (EarLine) -> Void
    ) throws(Failure) {
        guard decoder.process(period) else { throw Failure() }
        sampleCount += period.count
        if sampleCount.isMultiple(of: Self.adaptationSampleCount) { decoder.adapt() }
        let text = decoder.hypothesis
        if text != lastPartialText, !text.isEmpty {
            lastPartialText = text
            say(EarLine(partial: text, time: Self.seconds(sampleCount)))
        }
        if endsUtterance {
            say(try endUtterance())
            try beginUtterance()
        }
    }

    private var endsUtterance: Bool {
        let length = sampleCount - utteranceStart
        if length >= Self.maximumUtteranceSampleCount { return true }
        return length >= Self.minimumUtteranceSampleCount && !decoder.isInSpeech
    }

    /// Called from outside once, before there is audio.
    mutating func beginUtterance() throws(Failure) {
        guard decoder.beginUtterance() else { throw Failure() }
        utteranceStart = sampleCount
        lastPartialText = ""
    }

    private mutating func endUtterance() throws(Failure) -> EarLine {
        guard decoder.endUtterance() else { throw Failure() }
        return EarLine(
            final: decoder.hypothesis, time: Self.seconds(sampleCount),
            words: decoder.words(at: Self.seconds(utteranceStart)))
    }

    private static func seconds(_ sampleCount: Int) -> Double { Double(sampleCount) / 16_000 }

    /// 20 ms: how often the text is looked at.
    private static let periodSampleCount = 320

    /// 0.1 s: how often the decoder adapts to the sound.
    ///
    /// A decoder that does not gets 40, 29 and 35 % of the words wrong at full loudness, a third
    /// and a tenth of it; one that does 32, 30 and 30, and one that is kept for the next
    /// recording 34, 32 and 29 (362 words of 46 recordings, language model).
    private static let adaptationSampleCount = 1_600

    /// 20 s: below this, a sentence is not cut at a pause.
    private static let minimumUtteranceSampleCount = 20 * 16_000

    /// 60 s: at this, speech is cut anywhere.
    private static let maximumUtteranceSampleCount = 60 * 16_000
}
