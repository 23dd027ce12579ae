// SPDX-License-Identifier: Apache-2.0

/// An answer whose head says that nothing was heard; its body says nothing more.
struct SilentAnswer: ResponseDecoder {
    mutating func accumulate(_ bytes: Span<UInt8>) throws(AnswerError) -> [Hypothesis] { [] }

    mutating func finish() throws(AnswerError) -> [Hypothesis] {
        [Hypothesis(text: "", isFinal: true)]
    }
}
