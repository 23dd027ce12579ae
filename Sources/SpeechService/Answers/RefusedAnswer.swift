// SPDX-License-Identifier: Apache-2.0

/// An answer with a good status whose head says that the service has failed.
struct RefusedAnswer: ResponseDecoder {
    private static let limit = 64 << 10

    private let rule: AnswerRule
    private let code: String
    private let head: AnswerHead
    private var body: [UInt8] = []

    /// Reads why; the head says `code`, which is empty when the field is missing.
    init(rule: AnswerRule, code: String, head: AnswerHead) {
        self.rule = rule
        self.code = code
        self.head = head
    }

    mutating func accumulate(_ bytes: Span<UInt8>) throws(AnswerError) -> [Hypothesis] {
        body.append(bytes.extracting(first: min(bytes.count, Self.limit - body.count)))
        return []
    }

    mutating func finish() throws(AnswerError) -> [Hypothesis] {
        let words =
            rule.errors.message(in: head)
            ?? ServiceMessage.extract(from: body, contentType: head.mediaType, at: rule.errors)
        throw .serviceReported(
            message: words ?? "it does not say that it has succeeded",
            code: JSONValue.string(code).label.flatMap { $0.isEmpty ? nil : $0 })
    }
}

/// An answer whose head says that nothing was heard; its body says nothing more.
struct SilentAnswer: ResponseDecoder {
    mutating func accumulate(_ bytes: Span<UInt8>) throws(AnswerError) -> [Hypothesis] { [] }

    mutating func finish() throws(AnswerError) -> [Hypothesis] {
        [Hypothesis(text: "", isFinal: true)]
    }
}
