// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Capture

/// The tail behind real speech that is cut at every 10 ms.
@Suite struct TailOnSpeechTests {
    /// 10 ms.
    private static let step = 160

    /// For how many frames no voice has been heard, after each 10 ms.
    private func silences(in frames: [Int16]) -> [Int] {
        let gate = VoiceGate()
        return stride(from: 0, to: frames.count - Self.step, by: Self.step).map { start in
            gate.hear(frames.span.extracting(start..<start + Self.step))
            return gate.silentFrames
        }
    }

    /// The length of the tail behind a release after so many steps, in steps.
    private func tail(from start: Int, _ silences: [Int]) -> Int? {
        (1...100).first { count in
            start + count <= silences.count
                && Tail.speech.isOver(
                    recorded: count * Self.step, silent: silences[start + count - 1])
        }
    }

    @Test(arguments: SpokenWords.all)
    func theWordThatIsCutIsWholeAndTheTailIsNeverTooLong(_ spoken: SpokenWords) throws {
        let silences = silences(in: try spoken.frames())
        var cut: [Int] = []
        var wrong: [Int] = []
        for start in 0..<silences.count - 100 {
            guard let tail = tail(from: start, silences) else {
                wrong.append(start)
                continue
            }
            if !(15...80).contains(tail) { wrong.append(start) }
            guard let word = spoken.words.first(where: { $0.contains(start * 10) }) else {
                continue
            }
            // Of a word that is longer than the longest tail so much is there.
            if (start + tail) * 10 < min(word.upperBound, start * 10 + 800) { cut.append(start) }
        }
        #expect(cut.isEmpty, "cut at \(cut.map { $0 * 10 }) ms")
        #expect(wrong.isEmpty, "no tail, or a wrong one, at \(wrong.map { $0 * 10 }) ms")
    }

    @Test(arguments: SpokenWords.all)
    func inSilenceTheTailIsShort(_ spoken: SpokenWords) throws {
        let silences = silences(in: try spoken.frames())
        let tails = (spoken.silentFrom / 10..<silences.count - 100).map { tail(from: $0, silences) }
        #expect(tails.allSatisfy { $0 == 15 }, "\(Set(tails.compactMap(\.self)))")
    }

    /// The stage does what the rule says, with periods of 20 ms.
    @Test(arguments: [300, 800, 1_500, 2_000, 2_500])
    func theStageRecordsThatTail(_ milliseconds: Int) throws {
        let spoken = SpokenWords.all[0]
        let frames = try spoken.frames()
        let source = CaptureStageScript(.row(frames.count / 320)) { frames[$0] }
        let bench = CaptureStageBench(source, plan: CapturePlan(tail: .speech))
        #expect(bench.stop(after: milliseconds / 20))
        let silences = silences(in: frames)
        let start = milliseconds / 10
        let expected = (1...40).first {
            Tail.speech.isOver(recorded: $0 * 320, silent: silences[start + 2 * $0 - 1])
        }
        #expect(bench.account.capturedFrames - start * 160 == (expected ?? 0) * 320)
        #expect(bench.samples == Array(frames.prefix(bench.samples.count)))
    }

    @Test(arguments: SpokenWords.all) func aVoiceIsHeard(_ spoken: SpokenWords) throws {
        let gate = VoiceGate()
        let frames = try spoken.frames()
        gate.hear(frames.span)
        #expect(gate.hasHeardVoice)
        #expect(gate.silentFrames >= 32_000)
    }

    @Test func noiseAndSilenceAndAClickAreNoVoice() {
        var random = SeededRandom(seed: 1)
        let noise = (0..<160_000).map { _ in Int16.random(in: -60...60, using: &random) }
        var click = [Int16](repeating: 0, count: 16_000)
        for index in 8_000..<8_160 { click[index] = index % 2 == 0 ? 20_000 : -20_000 }
        for frames in [noise, [Int16](repeating: 0, count: 48_000), click] {
            let gate = VoiceGate()
            gate.hear(frames.span)
            #expect(!gate.hasHeardVoice)
        }
    }

    @Test func aSilenceIsCountedAnewBehindAPause() {
        let (gate, silence) = (VoiceGate(), [Int16](repeating: 0, count: 16_000))
        gate.hear(silence.span)
        gate.beginAnew()
        gate.hear(silence.span.extracting(first: 160))
        #expect(gate.silentFrames == 160)
    }

    @Test func piecesOfAnyLengthGiveTheSameDecision() throws {
        let frames = try SpokenWords.all[0].frames()
        let (whole, parts) = (VoiceGate(), VoiceGate())
        whole.hear(frames.span)
        var random = SeededRandom(seed: 2)
        for piece in random.pieces(of: frames.count, upTo: 700) {
            parts.hear(frames.span.extracting(piece))
        }
        #expect(parts.silentFrames == whole.silentFrames)
        #expect(parts.hasHeardVoice == whole.hasHeardVoice)
    }
}

@Suite struct TailTests {
    /// In silence half of the length that is given, and half a second more in a voice.
    @Test func aTailIsAsLongAsItIsSaid() {
        let (speech, given) = (Tail.speech, Tail(usual: .milliseconds(400)))
        #expect([speech.quiet, speech.usual, speech.longest] == [2_400, 4_800, 12_800])
        #expect([given.quiet, given.usual, given.longest] == [3_200, 6_400, 14_400])
        #expect(Tail(usual: .zero) == .none)
        #expect(Tail.none.isOver(recorded: 0, silent: 0))
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
