// SPDX-License-Identifier: Apache-2.0

public import SpeechService

/// When a take is sent again, and when it is not.
///
/// While the speaker speaks, nothing is lost by trying: the pauses start short and grow. After the
/// release a person waits for the text: a few attempts, then the take is kept.
public struct RetryPolicy: Sendable, Equatable {
    /// The pauses while the speaker speaks, of which the last one repeats.
    ///
    /// Without one there is no further attempt.
    public var pausesWhileSpeaking: [Duration]
    /// The pauses after the release; their number is the number of further attempts.
    public var pausesAfterRelease: [Duration]
    /// The longest `Retry-After` that is waited for after the release; a longer one keeps the
    /// take.
    public var longestRetryAfter: Duration
    /// The step to take when the outcome is unknown.
    public var unknownOutcome: UnknownOutcome

    /// Creates a policy.
    public init(
        pausesWhileSpeaking: [Duration], pausesAfterRelease: [Duration],
        longestRetryAfter: Duration, unknownOutcome: UnknownOutcome
    ) {
        self.pausesWhileSpeaking = pausesWhileSpeaking
        self.pausesAfterRelease = pausesAfterRelease
        self.longestRetryAfter = longestRetryAfter
        self.unknownOutcome = unknownOutcome
    }

    /// 0.25, 1, 4, 16 and 45 s while speaking; 1, 3 and 9 s after the release.
    ///
    /// A link that was gone for 5 s is used again after less than 6, at the cost of three attempts:
    /// a take survives two such cuts. No minute sees more than eight attempts, of which the last
    /// is left for the end of the recording.
    public static let standard = RetryPolicy(
        pausesWhileSpeaking: [
            .milliseconds(250), .seconds(1), .seconds(4), .seconds(16), .seconds(45),
        ],
        pausesAfterRelease: [.seconds(1), .seconds(3), .seconds(9)],
        longestRetryAfter: .seconds(30), unknownOutcome: .resend)

    /// While the speaker speaks, for a recording that goes on where it was: an attempt costs few bytes
    /// there, and the sooner it is made, the less there is to catch up with.
    static let pausesWhileResuming: [Duration] = [
        .milliseconds(250), .seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(16),
        .seconds(45),
    ]

    /// No attempt but the first.
    public static let never = RetryPolicy(
        pausesWhileSpeaking: [], pausesAfterRelease: [],
        longestRetryAfter: .zero, unknownOutcome: .resend)

    private static let attemptsAMinute = 8
    /// Minimum pauses while recording, when two or three attempts remain in the minute: the last one
    /// is for the end of the recording.
    private static let sparingPauses: [Int: Duration] = [2: .seconds(6), 3: .seconds(2)]

    /// The pause before the next attempt, or nil for none.
    ///
    /// - Parameters:
    ///   - failures: attempts that have failed in a row, at least 1.
    ///   - failuresAfterRelease: those of them that failed after the release.
    ///   - isSpeaking: whether the recording still goes on.
    ///   - asked: what the service asks for (RFC 9110 §10.2.3), or zero; the caller waits for
    ///     it in any case.
    ///   - jitter: from 0 to 1; spreads the tries of many clients.
    ///   - recentAges: how long ago the attempts of the last minute began.
    /// - Returns: the pause, or nil to give up.
    func pause(
        failures: Int, failuresAfterRelease: Int, isSpeaking: Bool, asked: Duration,
        jitter: @autoclosure () -> Double, recentAges: [Duration] = []
    ) -> Duration? {
        let left = Self.attemptsAMinute - recentAges.count
        if isSpeaking {
            guard let last = pausesWhileSpeaking.last else { return nil }
            let pause =
                failures <= pausesWhileSpeaking.count ? pausesWhileSpeaking[failures - 1] : last
            guard left > 1 else { return max(pause, .seconds(60) - (recentAges.max() ?? .zero)) }
            return max(pause, Self.sparingPauses[left] ?? .zero)
        }
        guard failuresAfterRelease <= pausesAfterRelease.count, failuresAfterRelease > 0,
            left > 0, asked <= longestRetryAfter
        else { return nil }
        let pause = pausesAfterRelease[failuresAfterRelease - 1]
        // Up to a quarter more, so that clients that failed together do not come together.
        return pause * (1 + jitter() / 4)
    }
}
