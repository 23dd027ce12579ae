// SPDX-License-Identifier: Apache-2.0

/// An answer that is one JSON document with the text at a path.
///
/// A document with an error in it is a failure, whatever else it holds.
struct JSONAnswer: ResponseDecoder {
    private let path: JSONPath
    private var body: BoundedBody
    private var failure: AnswerError?

    /// Creates a decoder for documents of at most `limit` bytes.
    init(path: JSONPath, limit: Int) {
        self.path = path
        body = BoundedBody(limit: limit)
    }

    mutating func accumulate(_ bytes: Span<UInt8>) throws(AnswerError) -> [Hypothesis] {
        if let failure { throw failure }
        do {
            try body.append(bytes)
        } catch {
            failure = error
            throw error
        }
        return []
    }

    mutating func finish() throws(AnswerError) -> [Hypothesis] {
        if let failure { throw failure }
        let value = try JSONParser.parse(body.bytes)
        if SequenceRule.saysFailure(value) {
            let message = ServiceMessage.extract(from: value)
            throw .serviceReported(message: message ?? TerminalText.excerpt(of: body.bytes))
        }
        guard let text = path.text(in: value) else {
            if case .object = value, let message = ServiceMessage.extract(from: value) {
                throw .serviceReported(message: message)
            }
            if NoSpeech.isSaid(by: value) { return [Hypothesis(text: "", isFinal: true)] }
            let excerpt = TerminalText.excerpt(of: body.bytes)
            throw .missingText(
                path: path.description, excerpt: excerpt,
                places: JSONPath.placesOfText(in: value).map(\.description))
        }
        // Some refuse with a good status, an empty text and a word about it.
        if text.isEmpty, let message = NoSpeech.complaint(in: value) {
            throw .serviceReported(message: message)
        }
        return [SequenceRule.standard.hypothesis(text: text, isFinal: true, in: value)]
    }
}
