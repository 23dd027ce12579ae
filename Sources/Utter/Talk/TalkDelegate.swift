// SPDX-License-Identifier: Apache-2.0

/// What a `Talk` asks of the program around it, always on the talk's thread and in order.
package protocol TalkDelegate: AnyObject, Sendable {
    /// Starts the take of this number, and sees to it that its events and its end are told.
    ///
    /// Does not wait for the take. What happens to it is said by `Talk.note` and `Talk.settle`.
    ///
    /// - Returns: the take; nil when there can be none, of which the person has been told.
    func startTake(_ number: Int) -> Take?

    /// Tells the person.
    func tell(_ news: TalkMachine.News)

    /// The newest take has come this far.
    ///
    /// - Parameters:
    ///   - phase: how far, which is not where it was when this was called last.
    ///   - take: its number; nil when there is none.
    ///   - isLatched: whether it is recorded without a key.
    func show(_ phase: TalkMachine.Phase, of take: Int?, isLatched: Bool)
}
