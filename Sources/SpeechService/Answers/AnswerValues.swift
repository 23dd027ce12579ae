// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// The sum of the values of one answer so far, by a rule.
///
/// Knows nothing of bytes: decoders cut them into values and hand these in. It keeps finals, and
/// partials that are appended to, up to a bound on the bytes of their values.
struct AnswerValues: Sendable {
    private struct Pending {
        var hypothesis: Hypothesis
        var byteCount: Int
        /// Becomes a final when nothing comes after it.
        var isProvisional: Bool
    }

    /// The most pieces of a word.
    private static let mostPieces = 64

    private let rule: AnswerRule
    private let unmatched: ValueKind
    private let limit: Int

    private var pending: Pending?
    /// The final pieces of a word that may go on.
    private var openWord: [RecognizedWord] = []
    private var hasFinal = false
    private var hasWords = false
    private var finalByteCount = 0
    private var segments: [RecognizedWord] = []
    private var segmentByteCount = 0
    /// The language of values without a text, until a final takes it.
    private var language: String?
    private var duration, confidence: Double?
    private var textlessExcerpt: String?
    private var textPlaces: [String] = []
    private var saysNoSpeech = false
    private var saysEnd = false
    private var isSuccess: Bool
    private var complaint: AnswerError?

    private(set) var hasHeardEnd = false
    private(set) var isOver = false

    init(rule: AnswerRule, unmatched usual: ValueKind, limit: Int) {
        self.rule = rule
        let merged = rule.values.merge.map { $0 == .accumulate ? ValueKind.final : .provisional }
        unmatched = rule.values.unmatched ?? merged ?? usual
        self.limit = limit
        if case .path? = rule.success?.place { isSuccess = false } else { isSuccess = true }
    }

    mutating func take(
        _ value: JSONValue, of event: String? = nil, madeOf bytes: [UInt8]
    ) throws(AnswerError) -> Hypothesis? {
        guard !isOver else { return nil }
        if case .number = value {
            noteTextless(value, bytes)
            return nil
        }
        let selector = rule.values.selector(of: value, event: event)
        try judge(value, event, selector?.kind, bytes)
        let kind = selector?.kind ?? unmatched
        if kind == .end || kind == .last { isOver = true }
        if kind == .end { saysEnd = true }
        if let stop = rule.values.stop, stop.values(in: value).contains(where: \.isSet) {
            hasHeardEnd = true
        }
        if selector == nil || kind == .end, let pieces = rule.values.words.pieces(in: value) {
            return try keep(pieces, byteCount: bytes.count)
        }
        let paths = selector?.textPaths ?? rule.values.textPaths
        let text =
            saysNoSpeech(value, event, kind) ? nil : ValueRule.text(of: value, at: paths)
        guard let text, kind != .ignored, kind != .end, kind != .segment else {
            if kind == .segment { try keepSegment(value, bytes.count) }
            noteDetails(of: value)
            // A value that is known may well have no text.
            if selector == nil || kind == .final || kind == .last { noteTextless(value, bytes) }
            textlessExcerpt = textlessExcerpt ?? TerminalText.excerpt(of: bytes)
            return nil
        }
        let spoken = rule.spoken(text, in: value)
        if text.utf8.allSatisfy(JSONScanner.isWhitespace) {
            noteComplaint(of: value)
        } else if !spoken.isEmpty {
            hasWords = true
        }
        let merge = selector == nil ? rule.values.merge : selector?.merge
        return try keep(spoken, as: kind, merge, of: value, byteCount: bytes.count)
    }

    mutating func finish() throws(AnswerError) -> Hypothesis? {
        guard isSuccess || saysNoSpeech else {
            throw complaint ?? .serviceReported(message: "it does not say that it has succeeded")
        }
        if !hasWords, !saysNoSpeech, let complaint { throw complaint }
        if let pending, pending.isProvisional {
            self.pending = nil
            hasFinal = true
            var last = pending.hypothesis
            (last.isFinal, last.merge) = (true, .accumulate)
            addDetails(to: &last)
            return last
        }
        guard !hasFinal else { return nil }
        if let pending {
            throw .noFinal(partial: TerminalText.excerpt(of: pending.hypothesis.text.utf8))
        }
        if !segments.isEmpty {
            // Pieces alone are the text.
            let text = segments.map { TerminalText.singleLine($0.text) }.joined(separator: " ")
            var last = Hypothesis(text: text, isFinal: true)
            addDetails(to: &last)
            return last
        }
        // Services that say their end say nothing of silence, but no text stands elsewhere then.
        if saysNoSpeech || saysEnd && textPlaces.isEmpty {
            return Hypothesis(text: "", isFinal: true)
        }
        guard let textlessExcerpt else { throw .empty }
        throw .missingText(
            path: rule.values.textPaths.map(\.description).joined(separator: ", "),
            excerpt: textlessExcerpt, places: textPlaces)
    }

    // MARK: - Success and failure

    private mutating func judge(
        _ value: JSONValue, _ event: String?, _ kind: ValueKind?, _ bytes: [UInt8]
    ) throws(AnswerError) {
        if saysNoSpeech(value, event, kind) {
            saysNoSpeech = true
            isSuccess = true
            return
        }
        if let success = rule.success {
            let found = success.found(in: value, of: event)
            if success.holds(of: found) {
                isSuccess = true
            } else if let said = found.first {
                throw failure(
                    in: value, orElse: "\(success.placeText) is \(said.label ?? "another value")",
                    code: said.label)
            }
        }
        guard kind == .failure else { return }
        throw failure(in: value, orElse: TerminalText.excerpt(of: bytes))
    }

    private func failure(
        in value: JSONValue, orElse words: String, code: String? = nil
    ) -> AnswerError {
        .serviceReported(
            message: ServiceMessage.extract(from: value, at: rule.errors) ?? words,
            code: ServiceMessage.code(in: value, at: rule.errors) ?? code)
    }

    private func saysNoSpeech(_ value: JSONValue, _ event: String?, _ kind: ValueKind?) -> Bool {
        guard let noSpeech = rule.noSpeech else { return NoSpeech.isSaid(by: value) }
        guard noSpeech.holds(in: value, of: event) else { return false }
        // That something is missing says so only where neither a failure nor a text is instead.
        return noSpeech.test != .isAbsent
            || kind != .failure && JSONPath.placesOfText(in: value).isEmpty
    }

    private mutating func noteComplaint(of value: JSONValue) {
        guard complaint == nil, let words = NoSpeech.complaint(in: value, at: rule.errors)
        else { return }
        complaint = .serviceReported(
            message: words, code: ServiceMessage.code(in: value, at: rule.errors))
    }

    private mutating func noteTextless(_ value: JSONValue, _ bytes: [UInt8]) {
        if textPlaces.isEmpty {
            textPlaces = JSONPath.placesOfText(in: value).map(\.description)
        }
        noteComplaint(of: value)
        textlessExcerpt = textlessExcerpt ?? TerminalText.excerpt(of: bytes)
    }

    // MARK: - Text

    private mutating func keep(
        _ text: String, as kind: ValueKind, _ merge: TextMerge?, of value: JSONValue, byteCount: Int
    ) throws(AnswerError) -> Hypothesis? {
        if kind == .restatement, hasFinal { return nil }
        let isFinal = kind == .final || kind == .last
        var news = Hypothesis(text: text, isFinal: isFinal, merge: merge)
        news.words = rule.values.words.elements(in: value)
        news.segments = rule.values.segments.elements(in: value)
        noteDetails(of: value)
        if news.isFinal {
            finalByteCount = byteCount + (news.merge == .replace ? 0 : finalByteCount)
            hasFinal = true
            pending = nil
            addDetails(to: &news)
        } else {
            append(news, byteCount, isProvisional: kind != .partial)
        }
        try checkLimit()
        return news
    }

    /// Keeps the pieces of words that are final; a word is whole once another one begins.
    private mutating func keep(
        _ pieces: [(piece: RecognizedWord, isFinal: Bool)], byteCount: Int
    ) throws(AnswerError) -> Hypothesis? {
        let finals = openWord + pieces.filter(\.isFinal).map(\.piece)
        let begin = finals.indices.last { finals.beginsWord(at: $0) } ?? 0
        // A script without spaces that is not known has no longer words.
        let start = max(begin, finals.count - Self.mostPieces)
        openWord = Array(finals[start...])
        let open = openWord + pieces.filter { !$0.isFinal }.map(\.piece)
        var partial = Hypothesis(text: open.map(\.text).joined(), isFinal: false)
        partial.words = open.wholeWords
        pending =
            open.isEmpty
            ? nil
            : Pending(
                hypothesis: partial, byteCount: partial.text.utf8.count, isProvisional: true)
        hasWords = hasWords || !finals.isEmpty || !open.isEmpty
        if start > 0 { (hasFinal, finalByteCount) = (true, finalByteCount + byteCount) }
        try checkLimit()
        guard start > 0 else { return partial }
        var news = Hypothesis(text: finals[..<start].map(\.text).joined(), isFinal: true)
        news.words = Array(finals[..<start]).wholeWords
        news.partial = partial.text
        return news
    }

    private mutating func append(_ news: Hypothesis, _ byteCount: Int, isProvisional: Bool) {
        guard news.merge != .replace, pending != nil else {
            pending = Pending(
                hypothesis: news, byteCount: byteCount, isProvisional: isProvisional)
            return
        }
        // In place: a copy for each piece would take time that grows with the square.
        if news.merge == .accumulate { pending?.hypothesis.text += " " }
        pending?.hypothesis.text += news.text
        pending?.hypothesis.words += news.words
        pending?.hypothesis.segments += news.segments
        pending?.byteCount += byteCount
        pending?.isProvisional = isProvisional
    }

    private mutating func keepSegment(
        _ value: JSONValue, _ byteCount: Int
    ) throws(AnswerError) {
        guard let segment = rule.values.segments.element(value) else { return }
        segments.append(segment)
        hasWords = true
        segmentByteCount += byteCount
        try checkLimit()
    }

    private func checkLimit() throws(AnswerError) {
        let byteCount = finalByteCount + segmentByteCount + (pending?.byteCount ?? 0)
        guard byteCount <= limit else { throw .tooLarge(limit: limit) }
    }

    // MARK: - What is told beside the text

    private mutating func noteDetails(of value: JSONValue) {
        let values = rule.values
        language = values.language.label(in: value) ?? language
        duration =
            values.duration.number(in: value).map { $0 * values.durationUnit } ?? duration
        confidence = values.confidence.number(in: value) ?? confidence
    }

    private mutating func addDetails(to final: inout Hypothesis) {
        (final.language, final.duration, final.confidence) = (language, duration, confidence)
        (language, duration, confidence) = (nil, nil, nil)
        if final.segments.isEmpty { final.segments = segments }
        finalByteCount += segmentByteCount
        (segments, segmentByteCount) = ([], 0)
    }
}

extension ValueCondition {
    fileprivate var placeText: String {
        switch place {
        case .path(let path): "'\(path)'"
        case .event: "the event's name"
        case .header(let name), .element(let name): "'\(name)'"
        }
    }
}

/// The texts by which services say that they understood nothing: no speech, or why not.
enum NoSpeech {
    /// Azure's.
    private static let statuses: Set<String> = [
        "NoMatch", "InitialSilenceTimeout", "BabbleTimeout",
    ]
    private static let praise: Set<String> = ["ok", "success", "succeeded", "done"]

    static func isSaid(by value: JSONValue) -> Bool {
        value["RecognitionStatus"]?.string.map(statuses.contains) ?? false
    }

    static func complaint(in value: JSONValue, at places: ErrorPlaces) -> String? {
        guard case .object = value, !isSaid(by: value),
            let message = ServiceMessage.extract(from: value, at: places),
            !praise.contains(message.lowercased().filter(\.isLetter))
        else { return nil }
        return message
    }
}
