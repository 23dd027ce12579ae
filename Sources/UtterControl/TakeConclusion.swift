// SPDX-License-Identifier: Apache-2.0

package import Utter

/// How a take ended, in the form in which it goes to the client that asks for its text.
package struct TakeConclusion: Sendable {
    package let take: TakeID
    /// A `result`: the status to exit with, the text and what else there is to say.
    package var answer: ControlAnswer
    /// The object of the command's JSON form.
    package let report: String
    /// Whether the audio is needed no more once the text was printed.
    let isSettled: Bool

    package init(
        take: TakeID, exit: Int32, text: String?, lines: [ToldLine], report: String,
        isSettled: Bool
    ) {
        (self.take, self.report, self.isSettled) = (take, report, isSettled)
        answer = ControlAnswer(.result, take: take.text)
        (answer.exit, answer.text, answer.lines) = (exit, text, lines)
    }
}
