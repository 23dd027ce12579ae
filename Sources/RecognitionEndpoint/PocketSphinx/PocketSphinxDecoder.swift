// SPDX-License-Identifier: Apache-2.0

internal import CPocketSphinx
internal import Glibc
internal import Synchronization

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
    init(_ prepared: PreparedModel) throws(ModelError) {
        var arguments = [
            "utter", "-hmm", prepared.model.acousticModelFolder, "-dict",
            prepared.model.dictionaryPath,
            // Silence stays in, so that the times of words are times in the audio.
            "-remove_silence", "no",
        ]
        if case .languageModel(let path) = prepared.model.search {
            arguments += ["-lm", path]
        }
        var decoder: OpaquePointer?
        let failure = RecogniserErrorLog.firstError {
            unsafe decoder = Self.create(arguments)
            guard let grammar = prepared.grammar, let created = unsafe decoder else { return }
            if unsafe !Self.use(grammar, in: created) {
                _ = unsafe ps_free(created)
                unsafe decoder = nil
            }
        }
        guard let decoder = unsafe decoder else {
            throw .refused(reason: failure ?? "it gives no reason")
        }
        unsafe self.decoder = decoder
        unsafe utter_ps_weigh_mean(decoder, Self.firstMeanFrameCount)
    }

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
    func words(at offset: Double) -> [RecogniserLine.Word] {
        var words: [RecogniserLine.Word] = []
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
                    RecogniserLine.Word(
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

    private static func create(_ arguments: [String]) -> OpaquePointer? {
        // cmd_ln_init is variadic, so this goes by the arguments of a command line.
        var strings = unsafe arguments.map { unsafe strdup($0) }
        defer {
            for index in unsafe strings.indices { unsafe free(strings[index]) }
        }
        let configuration = unsafe cmd_ln_parse_r(
            nil, ps_args(), Int32(strings.count), &strings, 1)
        guard let configuration = unsafe configuration else { return nil }
        // The decoder keeps a reference of its own.
        defer { _ = unsafe cmd_ln_free_r(configuration) }
        return unsafe ps_init(configuration)
    }

    private static func use(_ grammar: JSGFGrammar, in decoder: OpaquePointer) -> Bool {
        guard unsafe ps_set_jsgf_string(decoder, "utter", grammar.canonicalText) >= 0 else {
            return false
        }
        return unsafe ps_set_search(decoder, "utter") >= 0
    }
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

/// Catches what PocketSphinx says about a failure, instead of letting it write to stderr.
///
/// The library has one log for the whole process, so this is process-wide too; lines are told
/// apart by the thread that they are said on. From any thread.
enum RecogniserErrorLog {
    /// The first error of each thread that is listening.
    private static let lines = Mutex<[UInt: String]>([:])

    /// Installed once; never removed.
    private static let isInstalled: Bool = {
        unsafe utter_ps_set_error_sink { line in
            unsafe RecogniserErrorLog.add(String(cString: line))
        }
        return true
    }()

    /// The first error that PocketSphinx reports meanwhile on this thread; nil without one.
    static func firstError(during body: () -> Void) -> String? {
        guard isInstalled else { return nil }
        let thread = UInt(pthread_self())
        lines.withLock { $0[thread] = "" }
        body()
        let line = lines.withLock { $0.removeValue(forKey: thread) } ?? ""
        return line.isEmpty ? nil : line
    }

    private static func add(_ line: String) {
        let thread = UInt(pthread_self())
        lines.withLock { lines in
            guard lines[thread] == "" else { return }
            lines[thread] = message(in: line)
        }
    }

    /// Cuts `ERROR: "file.c", line 12: ` off a line, and the line break.
    private static func message(in line: String) -> String {
        var rest = Substring(line)
        if rest.hasPrefix("ERROR: \""), let end = rest.utf8.firstRange(of: "\", line ".utf8) {
            rest = rest[end.upperBound...].drop { $0 != " " }.dropFirst()
        }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}
