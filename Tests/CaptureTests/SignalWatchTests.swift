// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Capture

/// What is said of a microphone by its samples.
@Suite struct SignalWatchTests {
    /// Periods of 20 ms of a repeated pattern, and what was told after how many ms.
    private func told(
        _ watch: inout SignalWatch, _ pattern: [Int16], periods: Int, channels: Int = 1
    ) -> [Told] {
        let samples = (0..<320 * channels).map { pattern[$0 % pattern.count] }
        return (1...periods).compactMap { period in
            watch.hear(samples.span, channels: channels).map {
                Told(milliseconds: period * 20, state: $0)
            }
        }
    }

    struct Told: Equatable {
        var milliseconds: Int
        var state: SignalState
    }

    private static let voice: [Int16] = [4_000, -4_000, 200, 0]

    @Test func aVoiceIsGoodFromTheBeginning() {
        var watch = SignalWatch(sampleRate: 16_000)
        #expect(told(&watch, Self.voice, periods: 500).isEmpty)
        #expect(watch.state == .good)
    }

    @Test(
        arguments: [
            ([0], 1, 1_000, .zero), ([0], 2, 1_000, .zero),
            // The last bit alone is a dead input.
            ([0, 1, -1], 1, 2_000, .dead), ([100, -90], 1, 3_000, .faint),
        ] as [([Int16], Int, Int, SignalState)])
    func whatIsNoVoiceIsToldOnceAndAVoiceAtOnce(
        _ pattern: [Int16], _ channels: Int, _ milliseconds: Int, _ state: SignalState
    ) {
        var watch = SignalWatch(sampleRate: 16_000)
        #expect(
            told(&watch, pattern, periods: 400, channels: channels)
                == [Told(milliseconds: milliseconds, state: state)])
        #expect(
            told(&watch, Self.voice, periods: 10, channels: channels)
                == [Told(milliseconds: 20, state: .good)])
        // A pause after a voice is a pause.
        #expect(told(&watch, [100, -90], periods: 400, channels: channels).isEmpty)
    }

    @Test(arguments: [
        (
            SignalState.dead, "dead-input",
            "the input delivers nothing but its last bit; is a microphone connected?"
        ),
        (.faint, "very-quiet", "the microphone is very quiet; is its level turned down?"),
        (.good, "good", "the microphone's signal is good"),
        (.absent, "no-frames", "the microphone delivers nothing; recording goes on when it does"),
        (.zero, "digital-silence", "the microphone delivers only digital silence; is it muted?"),
        (.clipped, "clipping", "the microphone is cut off at full scale; turn its level down"),
        (
            .cancelling, "channels-cancel",
            "a mix of the channels would have lost a voice; the loudest channel was taken"
        ),
    ])
    func aFaultHasANameAndASentence(_ state: SignalState, _ name: String, _ text: String) {
        #expect(state.rawValue == name)
        #expect(state.text == text)
    }

    /// A noise gate makes zeros of each pause, or of all but the last bit.
    @Test(arguments: [([0], SignalState.zero), ([0, 1, -1], .dead)] as [([Int16], SignalState)])
    func behindAVoiceZerosAreToldAfterHalfAMinute(_ pause: [Int16], _ state: SignalState) {
        var watch = SignalWatch(sampleRate: 16_000)
        for _ in 0..<2 {
            #expect(told(&watch, Self.voice, periods: 100).isEmpty)
            #expect(told(&watch, pause, periods: 1_499).isEmpty)
        }
        #expect(told(&watch, pause, periods: 50) == [Told(milliseconds: 20, state: state)])
        #expect(watch.faults == [state])
    }

    @Test func eachFaultIsRememberedOnce() {
        var watch = SignalWatch(sampleRate: 16_000)
        // A headset that has not begun is not broken.
        #expect(watch.miss() == .absent)
        for _ in 0..<2 { _ = told(&watch, [.max, .min, 0], periods: 100) }
        #expect(watch.miss() == .absent)
        #expect(watch.faults == [.clipped, .absent])
    }

    @Test func fullScaleIsClippingUntilThreeSecondsWithoutIt() {
        var watch = SignalWatch(sampleRate: 16_000)
        #expect(told(&watch, [.max, .min, 0], periods: 100).first?.state == .clipped)
        #expect(told(&watch, Self.voice, periods: 400).map(\.state) == [.good])
    }

    @Test func afewSamplesAtFullScaleAreNoClipping() {
        var watch = SignalWatch(sampleRate: 16_000)
        var samples = [Int16](repeating: 100, count: 16_000)
        for index in 0..<10 { samples[index * 1_000] = .max }
        for _ in 0..<5 { #expect(watch.hear(samples.span, channels: 1) == nil) }
    }

    @Test func whatDoesNotComeIsToldOnceAndItsReturnAtOnce() {
        var watch = SignalWatch(sampleRate: 16_000)
        #expect(watch.miss() == .absent)
        #expect(watch.miss() == nil)
        #expect(told(&watch, Self.voice, periods: 10) == [Told(milliseconds: 20, state: .good)])
    }
}
