// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import SpeechService
package import TakeStore

/// The one object that says what became of a take: `results/ID.json`.
package struct ResultMark: Codable, Sendable, Equatable {
    enum Outcome: String, Codable {
        case text, death
        /// A death that a person has taken back: the take is open, and the next mark replaces this.
        case again
    }

    /// Silence in the place of sound that was lost, in seconds.
    struct Hole: Codable, Equatable {
        var start, duration: Double
    }

    var version = 1
    package let id: TakeID
    var outcome: Outcome
    var text: String?
    /// As the service wrote it, where the worker's rules have changed it.
    var raw: String?
    package internal(set) var reason: String?
    var worker: String?
    /// The number of the attempt that has brought it.
    var attempt: Int?
    /// Attempts up to this one count no more; of `again`.
    var forgiven: Int?
    /// The manifest's name, where the take's name does not say it; of a death.
    var key: String?
    /// ISO 8601, by the worker's clock.
    var finished: String
    var service: String?
    /// Length of the sound in seconds.
    var duration: Double?
    /// Oddities of the recording.
    var notices: [String]?
    var gaps: [Hole]?
    var language: String?
    var words: [RecognizedWord]?
    var segments: [RecognizedWord]?

    init(_ outcome: Outcome, of id: TakeID, at date: Date = Date()) {
        (self.id, self.outcome) = (id, outcome)
        finished = date.formatted(.iso8601)
    }

    /// Reads a mark; nil of another object that stands in its way.
    init?(_ bytes: [UInt8]) {
        guard let mark = decoded(ResultMark.self, bytes) else { return nil }
        self = mark
    }

    mutating func say(_ transcript: Transcript) {
        text = transcript.displayText
        raw = transcript.raw
        language = transcript.language
        words = transcript.words.isEmpty ? nil : transcript.words
        segments = transcript.segments.isEmpty ? nil : transcript.segments
    }

    var bytes: [UInt8] { encoded(self) }

    /// In one line.
    package var line: String { String(decoding: encoded(self, isPretty: false), as: UTF8.self) }

    var isOpen: Bool { outcome == .again }

    /// The files for people, by the endings of their names; `.txt` comes last, so that where it
    /// is the others are, too.
    var texts: [(ending: String, text: String)] {
        guard outcome == .text else { return [] }
        let cues = SubtitleText.cues(segments: segments ?? [], words: words ?? [])
        let plain = ("txt", (text ?? "") + "\n")
        guard !cues.isEmpty else { return [plain] }
        return [("srt", SubtitleText.srt(cues)), ("vtt", SubtitleText.vtt(cues)), plain]
    }
}

/// The note of a try: `attempts/ID/NUMBER.json`, before it begins and once it has ended.
struct AttemptNote: Codable, Sendable, Equatable {
    var version = 1
    var worker: String
    var began: String
    var ended: String?
    /// Such as `text`, `death`, `failed`, `given back`.
    var outcome: String?
    var reason: String?
    /// Whether the end says nothing against the take: the service was away.
    var isForgiven: Bool?
    /// The mark of another was there when this one's text was ready.
    var duplicate: Bool?

    init(worker: String, at date: Date = Date()) {
        self.worker = worker
        began = date.formatted(.iso8601)
    }

    mutating func end(_ outcome: String, _ reason: String? = nil, at date: Date = Date()) {
        (self.outcome, self.reason) = (outcome, reason)
        ended = date.formatted(.iso8601)
    }

    var bytes: [UInt8] { encoded(self) }

    /// Whether it counts against the take: the worker died with it, or it failed.
    var counts: Bool { isForgiven != true }
}

/// Sorted, so that the same contents are the same bytes.
func encoded(_ value: some Encodable, isPretty: Bool = true) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
    // Numbers of ours are finite, and nothing else is refused.
    let data = try? encoder.encode(value)
    return Array(data ?? Data()) + (isPretty ? [0x0A] : [])
}

/// Reads JSON; nil when another program, or another version, has written it.
func decoded<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) -> Value? {
    // The cause of a failure is not looked into.
    try? JSONDecoder().decode(type, from: Data(bytes))
}
