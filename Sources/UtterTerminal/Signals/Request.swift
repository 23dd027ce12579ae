// SPDX-License-Identifier: Apache-2.0

/// What a person or another program asks of the takes that run.
package enum Request: Sendable, Equatable {
    /// A line on a pipe: the recording is over, also one that is about to begin.
    case line
    /// SIGUSR1: a recording begins, or is over.
    case toggle
    /// SIGUSR2: the newest take is not wanted.
    case dismiss
    /// A key of the terminal, which was read then.
    case key(KeyInterpreter.Meaning, at: ContinuousClock.Instant)
    case cancel
    /// SIGTERM or SIGHUP; the number is the signal's.
    case leave(signal: Int32)
    /// The sender of SIGTERM or SIGHUP will not wait any longer.
    case leaveNow
}
