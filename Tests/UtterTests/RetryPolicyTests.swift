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
        #expect(pauses == [0.25, 0.5, 1, 2, 2, 10, 45, 45, 45].map { .seconds($0) })
    }

    /// Whenever the recording ends, its first minute has at most eight attempts.
    @Test func theFirstMinuteHasAtMostEightAttempts() {
        for release in stride(from: 0.0, through: 61, by: 0.05) {
            var time = Duration.zero
            var attempts = 1
            var failures = 0
            var afterRelease = 0
            while time < .seconds(60) {
                failures += 1
                let isSpeaking = time < .seconds(release)
                if !isSpeaking { afterRelease += 1 }
                guard
                    var pause = pause(
                        failures: failures, afterRelease: afterRelease, isSpeaking: isSpeaking)
                else { break }
                // The end of the recording ends a pause, but for its first second.
                if isSpeaking {
                    pause = min(pause, max(.seconds(release) - time, min(pause, .seconds(1))))
                }
                time += pause
                if time < .seconds(60) { attempts += 1 }
            }
            #expect(attempts <= 8, "released after \(release) s")
        }
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
