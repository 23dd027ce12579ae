// SPDX-License-Identifier: Apache-2.0

import AudioCore
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

    @Test func aVoiceIsLouderThanTheRoom() {
        var gate = VoiceGate()
        for _ in 0..<50 { gate.hear(Level(peak: 0.02, rootMeanSquare: 0.01), frames: 320) }
        #expect(gate.silentFrames == 16_000)
        gate.hear(Level(peak: 0.3, rootMeanSquare: 0.05), frames: 320)
        #expect(gate.silentFrames == 0)
        gate.hear(Level(peak: 0.02, rootMeanSquare: 0.01), frames: 320)
        #expect(gate.silentFrames == 320)
    }

    @Test func aSentenceDoesNotLiftTheFloor() {
        var gate = VoiceGate()
        gate.hear(Level(peak: 0.01, rootMeanSquare: 0.005), frames: 320)
        // Two seconds without a pause.
        for _ in 0..<100 { gate.hear(Level(peak: 0.5, rootMeanSquare: 0.1), frames: 320) }
        #expect(gate.silentFrames == 0)
    }

    @Test func theDigitalSilenceOfACardThatStartsIsForgotten() {
        var gate = VoiceGate()
        for _ in 0..<10 { gate.hear(.silence, frames: 320) }
        // Noise of -54 dBFS, above the faintest voice: the room, after a few seconds.
        for _ in 0..<500 { gate.hear(Level(peak: 0.01, rootMeanSquare: 0.002), frames: 320) }
        #expect(gate.silentFrames > 16_000)
    }
}
