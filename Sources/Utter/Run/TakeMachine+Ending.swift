// SPDX-License-Identifier: Apache-2.0

internal import Capture
internal import TakeStore

extension TakeMachine {
    /// What the take ends with.
    struct Ending: Sendable {
        /// What was understood, or why nothing was.
        var result: Result
        /// How the recording ended.
        var capture: CaptureEnd
        /// What the journal holds; nil when it was never sealed.
        var seal: JournalSeal?
        /// From the end of the recording to the last answer; nil without one.
        var answerDelay: Duration?
    }
}
