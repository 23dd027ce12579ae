// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Utter

@Suite struct RetryPolicyTests {
    private func pause(
        _ policy: RetryPolicy = .standard, failures: Int, afterRelease: Int = 0,
        isSpeaking: Bool = true, asked: Duration = .zero, jitter: Double = 0
    ) -> Duration? {
        policy.pause(
            failures: failures, failuresAfterRelease: afterRelease, isSpeaking: isSpeaking,
            asked: asked, jitter: jitter)
    }

    @Test func pausesGrowWhileSomebodySpeaks() {
        let pauses = (1...9).map { pause(failures: $0) }
        #expect(pauses == [0.25, 1, 4, 16, 45, 45, 45, 45, 45].map { .seconds($0) })
    }

    @Test func whenTheMinutesAttemptsRunOutTheyAreSpared() {
        func pause(afterAttempts count: Int, isSpeaking: Bool = true) -> Duration? {
            RetryPolicy.standard.pause(
                failures: 1, failuresAfterRelease: isSpeaking ? 0 : 1, isSpeaking: isSpeaking,
                asked: .zero, jitter: 0, recentAges: (0..<count).map { .seconds($0 * 5) })
        }
        #expect(
            (3...8).map { pause(afterAttempts: $0) }
                == [0.25, 0.25, 2, 6, 30, 25].map { .seconds($0) })
        #expect(pause(afterAttempts: 7, isSpeaking: false) == .seconds(1))
        #expect(pause(afterAttempts: 8, isSpeaking: false) == nil)
    }

    @Test func afterTheReleaseThereAreThreeMore() {
        let pauses = (1...4).map { pause(failures: $0, afterRelease: $0, isSpeaking: false) }
        #expect(pauses == [.seconds(1), .seconds(3), .seconds(9), nil])
    }

    @Test func jitterAddsUpToAQuarterAfterTheRelease() {
        let longest = pause(failures: 2, afterRelease: 2, isSpeaking: false, jitter: 1)
        #expect(longest == .milliseconds(3_750))
    }

    @Test func aLongRetryAfterIsWaitedForOnlyWhileSomebodySpeaks() {
        let asked = Duration.seconds(31)
        #expect(pause(failures: 1, asked: asked) != nil)
        #expect(pause(failures: 1, afterRelease: 1, isSpeaking: false, asked: asked) == nil)
        #expect(
            pause(failures: 1, afterRelease: 1, isSpeaking: false, asked: .seconds(30)) != nil)
    }

    @Test func neverMeansNever() {
        #expect(pause(.never, failures: 1) == nil)
        #expect(pause(.never, failures: 1, afterRelease: 1, isSpeaking: false) == nil)
    }

    @Test func manyFailuresDoNotOverflow() {
        #expect(pause(failures: Int.max) == .seconds(45))
    }
}
