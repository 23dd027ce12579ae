// SPDX-License-Identifier: Apache-2.0

/// Turns the bytes of an answer into hypotheses, as they come.
///
/// Chunks may end anywhere, also inside a character; how they end never changes what comes out.
/// Hypotheses that stand before a failure in the same chunk are returned, and the failure is
/// thrown by the next call; so call `finish()` at the end of every body that came whole. After a
/// throw every further call throws the same. Does not block; memory is bounded by the limit that
/// the decoder was made with.
package protocol ResponseDecoder: Sendable {
    /// Takes the next bytes of the body.
    ///
    /// - Parameter bytes: what has come, in order; may be empty.
    /// - Throws: `AnswerError` when no later byte can make the answer good.
    /// - Returns: what the recogniser thinks now, oldest first; often nothing.
    mutating func accumulate(_ bytes: Span<UInt8>) throws(AnswerError) -> [Hypothesis]

    /// Ends the body, which has come whole (by its length or its last chunk).
    ///
    /// - Throws: `AnswerError` when the body is not an answer.
    /// - Returns: the last hypotheses.
    mutating func finish() throws(AnswerError) -> [Hypothesis]

    /// Whether the service has said that it has heard the end of the speech.
    var hasHeardEnd: Bool { get }

    /// Whether the answer has said by its content that it is complete: what follows says nothing.
    var isOver: Bool { get }
}

extension ResponseDecoder {
    package var hasHeardEnd: Bool { false }
    package var isOver: Bool { false }
}

/// Whether what is still to come of an answer can say anything.
package enum AnswerReading: Sendable, Equatable {
    case goesOn
    /// The answer has said itself that it is complete.
    case ended
    case failed
}
