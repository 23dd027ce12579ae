// SPDX-License-Identifier: Apache-2.0

/// When a take is sent again, and when it is not.
///
/// While somebody speaks, nothing is lost by trying: the pauses start short and double. After
/// the release somebody waits for the text: a few tries, then the take is kept.
public struct RetryPolicy: Sendable, Equatable {
    /// What to do when the whole body was sent and no final answer came: the service may have
    /// the take, and may charge for it again.
    public enum UnknownOutcome: String, Sendable, CaseIterable {
        /// Send it again, marked by the same id and the next attempt number.
        case resend
        /// Keep the take; the person decides.
        case keep
    }

    /// The pause before the second attempt while somebody speaks; it doubles each time.
    public var firstPause: Duration
    /// The longest pause while somebody speaks.
    public var longestPause: Duration
    /// The pauses after the release; their number is the number of further attempts.
    public var pausesAfterRelease: [Duration]
    /// The longest `Retry-After` that is waited for after the release; a longer one keeps the
    /// take.
    public var longestRetryAfter: Duration
    /// What to do when the outcome is unknown.
    public var unknownOutcome: UnknownOutcome

    /// Creates a policy.
    public init(
        firstPause: Duration, longestPause: Duration, pausesAfterRelease: [Duration],
        longestRetryAfter: Duration, unknownOutcome: UnknownOutcome
    ) {
        self.firstPause = firstPause
        self.longestPause = longestPause
        self.pausesAfterRelease = pausesAfterRelease
        self.longestRetryAfter = longestRetryAfter
        self.unknownOutcome = unknownOutcome
    }

    /// 0.25 s doubling to 32 s while speaking, which is eight attempts in the first minute; then
    /// 1, 3 and 9 s after the release.
    public static let standard = RetryPolicy(
        firstPause: .milliseconds(250), longestPause: .seconds(32),
        pausesAfterRelease: [.seconds(1), .seconds(3), .seconds(9)],
        longestRetryAfter: .seconds(30), unknownOutcome: .resend)

    /// No attempt but the first.
    public static let never = RetryPolicy(
        firstPause: .zero, longestPause: .zero, pausesAfterRelease: [],
        longestRetryAfter: .zero, unknownOutcome: .keep)

    /// The pause before the next attempt, or nil for none.
    ///
    /// - Parameters:
    ///   - failures: attempts that have failed in a row, at least 1.
    ///   - failuresAfterRelease: those of them that failed after the release.
    ///   - isSpeaking: whether the recording still goes on.
    ///   - asked: what the service asks for (RFC 9110 §10.2.3), or zero; the caller waits for
    ///     it in any case.
    ///   - jitter: from 0 to 1; spreads the tries of many clients.
    /// - Returns: the pause, or nil to give up.
    func pause(
        failures: Int, failuresAfterRelease: Int, isSpeaking: Bool, asked: Duration,
        jitter: Double
    ) -> Duration? {
        if isSpeaking {
            guard firstPause > .zero else { return nil }
            let doublings = min(failures - 1, 20)
            return min(firstPause * (1 << doublings), longestPause)
        }
        guard failuresAfterRelease <= pausesAfterRelease.count, failuresAfterRelease > 0,
            asked <= longestRetryAfter
        else { return nil }
        let pause = pausesAfterRelease[failuresAfterRelease - 1]
        // Up to a quarter more, so that clients that failed together do not come together.
        return pause * (1 + jitter / 4)
    }
}
