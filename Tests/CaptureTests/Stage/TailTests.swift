// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Capture

@Suite struct TailTests {
    @Test func theTailOfSpeechIs150And300And800Milliseconds() {
        #expect(Tail.speech.quiet == 2_400)
        #expect(Tail.speech.usual == 4_800)
        #expect(Tail.speech.longest == 12_800)
    }

    @Test func aTailOfNoLengthIsNoTail() {
        #expect(Tail(usual: .zero) == .none)
        #expect(Tail.none.isOver(recorded: 0, silent: 0))
    }

    @Test func aTailOfAGivenLengthIsHalfThatInSilenceAndHalfASecondMoreInVoice() {
        #expect(
            Tail(usual: .milliseconds(400))
                == Tail(
                    quiet: .milliseconds(200), usual: .milliseconds(400),
                    longest: .milliseconds(900)))
    }

    @Test(arguments: [
        (2_399, 2_399, false), (2_399, 90_000, false), (2_400, 2_399, false), (2_400, 2_400, true),
        (4_799, 2_399, false), (4_800, 0, false), (4_800, 1, true), (12_799, 0, false),
        (12_800, 0, true),
    ])
    func theTailIsOver(recorded: Int, silent: Int, expected: Bool) {
        #expect(Tail.speech.isOver(recorded: recorded, silent: silent) == expected)
    }
}
