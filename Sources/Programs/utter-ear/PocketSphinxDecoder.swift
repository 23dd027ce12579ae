// SPDX-License-Identifier: Apache-2.0

import CPocketSphinx
import Glibc

/// A PocketSphinx decoder, used on the thread that created it, for one piece of audio.
///
/// It cannot be made as new again: what it has heard stays in the mean of the sound, in its
/// noise tracker, and in the densities that it evaluates first.
///
/// The unsafe calls are sound because the C decoder lives as long as this value and is never
/// handed out, and because text that belongs to it is copied before the next call. Every call
/// blocks while it computes: up to 0.15 s for a period, up to a tenth of the audio's length for
/// `endUtterance` with a language model.
@safe struct PocketSphinxDecoder: ~Copyable {
    private let decoder: OpaquePointer

    /// Loads a model: 0.05 s with a grammar, 0.15 s and 100 MB with the language model.
    ///
    /// - Parameter options: those of PocketSphinx, over the usual ones.
    /// - Throws: `EarFault` with PocketSphinx's own words.
    init(options: [String]) throws(EarFault) {
        // The first word is the name of a program.
        var words = unsafe (["utter-ear"] + options + Self.usual(beside: options)).map {
            unsafe strdup($0)
        }
        defer { unsafe words.forEach { unsafe free($0) } }
        var error = [CChar](repeating: 0, count: Int(UTTER_PS_ERROR_SIZE))
        guard let decoder = unsafe utter_ps_init(Int32(words.count), &words, &error) else {
            let bytes = error.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
            let reason = String(decoding: bytes, as: UTF8.self)
            throw EarFault(
                reason: "PocketSphinx cannot use this model: \(reason)",
                hint: reason.contains(Self.folder)
                    ? "install the model with 'apt-get install pocketsphinx-en-us', or name another"
                    : "check that each file is there, that a grammar is one and the dictionary "
                        + "has all of its words, and that acoustic model, dictionary and language "
                        + "model belong together")
        }
        unsafe self.decoder = decoder
        unsafe utter_ps_weigh_mean(decoder, Self.firstMeanFrameCount)
    }

    /// The options that count where others are not given, with their values.
    private static func usual(beside given: [String]) -> [String] {
        let options = [
            ("-hmm", "\(folder)/en-us"), ("-dict", "\(folder)/cmudict-en-us.dict"),
            ("-lm", "\(folder)/en-us.lm.bin"),
            // Silence stays in, so that the times of words are times in the audio.
            ("-remove_silence", "no"),
        ]
        return options.flatMap { name, value in
            // There is one search: a grammar takes the place of the language model.
            given.contains(name) || name == "-lm" && given.contains("-jsgf") ? [] : [name, value]
        }
    }

    /// Where the Debian package `pocketsphinx-en-us` puts its model.
    private static let folder = "/usr/share/pocketsphinx/model/en-us"

    deinit {
        _ = unsafe ps_free(decoder)
    }

    /// Begins an utterance, from which times count; false when PocketSphinx refuses.
    func beginUtterance() -> Bool {
        // Without this, the frames of all earlier utterances would count too.
        guard unsafe ps_start_stream(decoder) >= 0 else { return false }
        return unsafe ps_start_utt(decoder) >= 0
    }

    /// Takes in samples of 16 kHz mono; false when PocketSphinx refuses.
    func process(_ samples: Span<Int16>) -> Bool {
        unsafe samples.withUnsafeBufferPointer { buffer in
            unsafe ps_process_raw(decoder, buffer.baseAddress, buffer.count, 0, 0) >= 0
        }
    }

    /// Learns the loudness and the colour of the sound from what was taken in so far.
    func adapt() {
        unsafe utter_ps_update_mean(decoder)
    }

    /// Ends the utterance and searches it once more as a whole; false when PocketSphinx refuses.
    func endUtterance() -> Bool {
        unsafe ps_end_utt(decoder) >= 0
    }

    /// The words of the utterance, without marks; empty when nothing was heard.
    var hypothesis: String {
        guard let text = unsafe ps_get_hyp(decoder, nil) else { return "" }
        return unsafe Self.plainText(of: String(cString: text))
    }

    var isInSpeech: Bool {
        unsafe ps_get_in_speech(decoder) != 0
    }

    /// The words of the utterance, in order, which begins at `offset`, in seconds.
    func words(at offset: Double) -> [EarLine.Word] {
        var words: [EarLine.Word] = []
        let logarithms = unsafe ps_get_logmath(decoder)
        // The iterator frees itself when it has reached the end.
        var segment = unsafe ps_seg_iter(decoder)
        while let current = unsafe segment {
            var first: Int32 = 0
            var last: Int32 = 0
            unsafe ps_seg_frames(current, &first, &last)
            let probability = unsafe logmath_exp(
                logarithms, ps_seg_prob(current, nil, nil, nil))
            if let text = unsafe ps_seg_word(current),
                let word = unsafe Self.plainWord(of: String(cString: text)[...])
            {
                words.append(
                    EarLine.Word(
                        word: word, start: Double(first) / Self.framesPerSecond + offset,
                        end: Double(last + 1) / Self.framesPerSecond + offset,
                        probability: min(1, max(0, probability))))
            }
            unsafe segment = unsafe ps_seg_next(current)
        }
        return words
    }

    /// 0.2 s: how long the model's own mean weighs against the sound that is heard.
    private static let firstMeanFrameCount: Int32 = 20

    /// The frame rate of PocketSphinx's front end (`-frate`).
    private static let framesPerSecond = 100.0
}

// MARK: - Marks

extension PocketSphinxDecoder {
    /// The word without PocketSphinx's marks.
    ///
    /// - Returns: nil for a mark that is not a word: `<s>`, `</s>`, `<sil>`, `[NOISE]`, `++COUGH++`,
    ///   `(NULL)`. The mark of a second pronunciation, as in `a(2)`, is cut off.
    static func plainWord(of word: Substring) -> String? {
        if word == "(NULL)" || word.hasPrefix("<") || word.hasPrefix("[") || word.hasPrefix("++") {
            return nil
        }
        guard word.last == ")", let open = word.lastIndex(of: "(") else {
            return word.isEmpty ? nil : String(word)
        }
        let mark = word[word.index(after: open)...].dropLast()
        guard !mark.isEmpty, mark.allSatisfy(\.isNumber), open > word.startIndex else {
            return String(word)
        }
        return String(word[..<open])
    }

    /// A whole hypothesis without PocketSphinx's marks.
    static func plainText(of hypothesis: String) -> String {
        hypothesis.split(separator: " ").compactMap(plainWord).joined(separator: " ")
    }
}
