// SPDX-License-Identifier: Apache-2.0

/// When the parts of a take happened, as durations since its beginning; nil is never.
package struct TakeTimes: Sendable, Equatable {
    /// The beginning: the key, or the command.
    var began: ContinuousClock.Instant
    package var firstFrame: Duration?
    /// The end of the recording was asked for.
    package var stopped: Duration?
    /// The last frame was captured, or the recording has ended without one.
    package var captured: Duration?
    /// The recording was complete in the journal.
    package var sealed: Duration?
    package var settled: Duration?

    /// Whether the request to end was taken back since it was made.
    private var isTakenBack = false

    init(began: ContinuousClock.Instant = .now) { self.began = began }

    mutating func note(_ event: TakeMachine.Event, at elapsed: Duration) {
        switch event {
        case .stop, .heardEnd:
            if stopped == nil || isTakenBack { (stopped, isTakenBack) = (elapsed, false) }
        case .resume: isTakenBack = true
        // Unless the end was asked for once more meanwhile.
        case .resumed: if isTakenBack { (stopped, isTakenBack) = (nil, false) }
        case .captured: captured = captured ?? elapsed
        case .sealed: sealed = sealed ?? elapsed
        default: break
        }
    }
}
