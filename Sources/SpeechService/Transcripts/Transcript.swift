// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import LinuxPlatform
public import TextRules

/// The finals in order, and at most one partial after them.
///
/// A partial replaces the one before it, or goes on with it; a final replaces the partial and
/// stays. Texts are kept on one line: outer white space goes, and a line break inside becomes a
/// space.
public struct Transcript: Sendable, Hashable {
    /// The finals that have words, in the order in which they came.
    public internal(set) var finals: [String] = []
    /// The text as the service wrote it, where rules have changed it (`TextRules`); nil where it is the
    /// same.
    public internal(set) var raw: String?
    /// The first changes of the rules, in their order; nil where there was none.
    public internal(set) var changes: [TextChange]?
    /// The words of all finals, when the service tells them.
    public internal(set) var words: [RecognizedWord] = []
    /// Longer pieces of all finals, such as sentences, when the service tells them.
    public internal(set) var segments: [RecognizedWord] = []
    /// The language that was heard, as the service names it, or nil.
    public private(set) var language: String?
    /// The seconds of audio that the service says it heard, or nil.
    public internal(set) var duration: Double?
    /// How sure the service is of the finals, from 0 to 1, or nil: the least of them.
    public private(set) var confidence: Double?
    private var rawPartial = ""
    private var finalByteCount = 0

    package init() {}

    package var withoutPartial: Transcript {
        var finals = self
        finals.rawPartial = ""
        return finals
    }

    /// The words since the last final, which may still change.
    public var partial: String { TerminalText.singleLine(rawPartial) }

    /// Bytes in memory, approximately.
    package var byteCount: Int { finalByteCount + rawPartial.utf8.count }

    /// - Returns: whether the hypothesis is anything new.
    @discardableResult
    mutating func apply(_ hypothesis: Hypothesis) -> Bool {
        guard hypothesis.isFinal else {
            switch hypothesis.merge {
            case .replace:
                defer { rawPartial = hypothesis.text }
                return rawPartial != hypothesis.text
            // In place: a copy for each piece would take time that grows with the square.
            case .append: rawPartial += hypothesis.text
            case .accumulate: rawPartial += " " + hypothesis.text
            }
            return !hypothesis.text.isEmpty
        }
        let line = TerminalText.singleLine(hypothesis.text)
        // Compared only where that is rare: what is compared is copied when it is changed.
        let before = line.isEmpty || hypothesis.merge == .replace ? self : nil
        if hypothesis.merge == .replace { self = Transcript() }
        rawPartial = hypothesis.partial
        if !line.isEmpty { finals.append(line) }
        let pieceCount = hypothesis.words.count + hypothesis.segments.count
        finalByteCount +=
            line.utf8.count + MemoryLayout<String>.stride
            + pieceCount * MemoryLayout<RecognizedWord>.stride
        words += hypothesis.words
        segments += hypothesis.segments
        language = hypothesis.language ?? language
        duration = hypothesis.duration ?? duration
        confidence = [confidence, hypothesis.confidence].compactMap { $0 }.min()
        return before != self
    }

    @discardableResult
    package mutating func apply(_ hypotheses: [Hypothesis]) -> Bool {
        hypotheses.reduce(false) { apply($1) || $0 }
    }

    package mutating func append(_ later: Transcript) {
        finals += later.finals
        finalByteCount += later.finalByteCount
        rawPartial = later.rawPartial
        words += later.words
        segments += later.segments
        language = language ?? later.language
        duration = [duration, later.duration].compactMap { $0 }.reduce(nil) { ($0 ?? 0) + $1 }
        confidence = [confidence, later.confidence].compactMap { $0 }.min()
    }

    /// The finals, joined by a space, or between Chinese or Japanese signs by nothing; empty when nothing
    /// was heard.
    public var text: String { finals.joinedAsText }

    /// The finals and the partial, joined by a space and harmless to a terminal.
    public var displayText: String {
        let parts = partial.isEmpty ? finals : finals + [partial]
        return TerminalText.sanitized(parts.joinedAsText)
    }
}

extension Transcript: Codable {
    /// Reads the notes of a take; nil when they are none of a transcript.
    package init?(notes: String) {
        // Notes that cannot be read are none.
        let words = try? JSONDecoder().decode(Transcript.self, from: Data(notes.utf8))
        guard let words else { return nil }
        self = words
    }

    /// As the notes of a take hold what was heard in a part of it.
    package var notes: String {
        // Numbers that are none are no times.
        (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}

package struct Hypothesis: Sendable, Hashable {
    /// Empty when nothing was heard.
    var text: String
    var isFinal: Bool
    /// Behind a final: text that may still change.
    var partial = ""
    /// How the text joins earlier ones: a partial replaces the partial or is appended to it, a
    /// final accumulates or replaces all.
    var merge: TextMerge
    var words: [RecognizedWord] = []
    var segments: [RecognizedWord] = []
    /// Seconds of audio that the service reports, or nil.
    var duration: Double?
    var language: String?
    /// From 0 to 1, or nil.
    var confidence: Double?

    init(text: String, isFinal: Bool, merge: TextMerge? = nil) {
        self.text = text
        self.isFinal = isFinal
        self.merge = merge ?? (isFinal ? .accumulate : .replace)
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
}
