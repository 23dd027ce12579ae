// SPDX-License-Identifier: Apache-2.0

/// The form that a client wants its text in.
enum AnswerFormat: Sendable, Equatable {
    /// JSON objects, one a line, while the audio comes: partial texts, then the final one.
    case lines
    /// One JSON object at the end.
    case object
    /// Nothing but the words at the end.
    case text

    /// Chooses by the value of `Accept` (RFC 9110 §12.5.1).
    ///
    /// The order and the weights of what a client accepts do not matter, except that weight 0
    /// excludes: lines before an object before text.
    ///
    /// - Returns: nil when none is accepted.
    init?(accept: String?) {
        let ranges = Self.acceptedRanges(in: accept ?? "*/*")
        if ranges.contains(where: { ["application/x-ndjson", "application/ndjson"].contains($0) }) {
            self = .lines
        } else if ranges.contains("application/json") {
            self = .object
        } else if ranges.contains("text/plain") {
            self = .text
        } else if ranges.contains(where: { ["*/*", "application/*"].contains($0) }) {
            self = .lines
        } else if ranges.contains("text/*") {
            self = .text
        } else {
            return nil
        }
    }

    /// The `Content-Type` of the answer.
    var mediaType: String {
        switch self {
        case .lines: "application/x-ndjson"
        case .object: "application/json"
        case .text: "text/plain; charset=utf-8"
        }
    }

    /// The answer's last part, or the whole of it: what was said.
    func final(_ recognition: Recognition) -> String {
        if self == .text { return recognition.text + "\n" }
        var line = AnswerLine(type: self == .lines ? "final" : nil, text: recognition.text)
        line.duration = recognition.duration.rounded(to: 100)
        line.words = recognition.words.map { word in
            AnswerLine.Word(
                word: word.text, start: word.start.rounded(to: 100),
                end: word.end.rounded(to: 100), probability: word.probability.rounded(to: 10_000))
        }
        return line.json
    }

    /// A line for the text so far.
    static func partial(_ partial: PartialRecognition) -> String {
        var line = AnswerLine(type: "partial", text: partial.text)
        line.time = partial.time.rounded(to: 100)
        return line.json
    }

    /// The last line of an answer that had begun before something went wrong.
    static func error(_ message: String) -> String {
        AnswerLine(type: "error", message: message).json
    }

    /// The body of every answer that is not text.
    static func refusal(_ message: String) -> String {
        AnswerLine(error: AnswerLine.Reason(message: message)).json
    }

    private static func acceptedRanges(in accept: String) -> [String] {
        accept.split(separator: ",").compactMap { element in
            let parts = element.lowercased().filter { $0 != " " && $0 != "\t" }
                .split(separator: ";")
            guard let range = parts.first else { return nil }
            let isExcluded = parts.dropFirst().contains { part in
                part.hasPrefix("q=") && Double(String(part.dropFirst(2))) == 0
            }
            return isExcluded ? nil : String(range)
        }
    }
}

extension Double {
    /// The nearest multiple of one part of so many.
    fileprivate func rounded(to parts: Double) -> Double { (self * parts).rounded() / parts }
}
