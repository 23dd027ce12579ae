// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport

@testable import AudioCodecs
@testable import AudioCore
@testable import SpeechService

/// A recording whose words are tones, which a service of the test reads again and counts.
struct ToneSpeech {
    struct Word: Equatable {
        var number: Int
        var frames: Range<Int>
        var text: String { "w\(number)" }
    }

    private(set) var samples: [Int16] = []
    private(set) var words: [Word] = []

    static let wordCount = 12
    private static let rate = 16_000.0
    /// Frames of one word.
    static let wordFrames = 3_200
    private static let windowFrames = 320

    /// The frequency of a word has a whole number of periods in a window of 20 ms.
    private static func frequency(_ number: Int) -> Double { 400 + 100 * Double(number) }

    private static let tones = (0..<wordCount).map { number in
        (0..<wordFrames).map { frame in
            Int16(8_000 * sin(2 * Double.pi * frequency(number) * Double(frame) / rate))
        }
    }

    mutating func say(_ number: Int) {
        let start = samples.count
        samples += Self.tones[number]
        words.append(Word(number: number, frames: start..<samples.count))
    }

    /// The noise of a room.
    mutating func pause(_ frames: Int, using random: inout some RandomNumberGenerator) {
        for _ in 0..<frames { samples.append(.random(in: -20...20, using: &random)) }
    }

    /// The words of samples that a service has got; a piece of a word that is too short to tell is a "?".
    static func read(_ samples: [Int16]) -> [Word] {
        var words: [Word] = []
        var run: (number: Int, start: Int, count: Int)?
        func end() {
            guard let found = run, found.count > 1 else { return }
            let frames = found.start..<(found.start + found.count * windowFrames)
            words.append(Word(number: found.count < 5 ? -1 : found.number, frames: frames))
        }
        for start in stride(from: 0, to: samples.count - windowFrames + 1, by: windowFrames) {
            let number = tone(samples[start..<(start + windowFrames)])
            if let found = run, found.number == number {
                run?.count += 1
            } else {
                end()
                run = number.map { ($0, start, 1) }
            }
        }
        end()
        return words
    }

    /// The word that a window of 20 ms is of; nil for noise.
    private static func tone(_ window: ArraySlice<Int16>) -> Int? {
        var (crossings, isLoud, isBelow) = (0, false, window[window.startIndex] < 0)
        for sample in window {
            isLoud = isLoud || sample > 2_000
            if (sample < 0) != isBelow { (crossings, isBelow) = (crossings + 1, !isBelow) }
        }
        guard isLoud else { return nil }
        // Two for each period.
        let frequency = Double(crossings) / 2 * rate / Double(windowFrames)
        let number = Int(((frequency - 400) / 100).rounded())
        return max(0, min(wordCount - 1, number))
    }

    /// The samples of a body in this form.
    static func samples(of body: [UInt8], _ format: AudioCodec) throws -> [Int16] {
        var samples: [Int16] = []
        if format == .pcm {
            samples.reserveCapacity(body.count / 2)
            unsafe body.withUnsafeBytes { unsafe samples += $0.bindMemory(to: Int16.self) }
            return samples
        }
        let decoder = format.makeDecoder()
        try decoder.decode(body.span, into: &samples)
        try decoder.finish(into: &samples)
        let flaws = decoder.takeFlaws().map(\.text)
        if !flaws.isEmpty { throw UndecodableAudio(flaws.joined(separator: ", ")) }
        return samples
    }
}

extension ToneSpeech.Word {
    /// As a service answers with it.
    var json: String {
        let (start, end) = (Double(frames.lowerBound) / 16_000, Double(frames.upperBound) / 16_000)
        return #"{"word":"\#(number < 0 ? "?" : text)","start":\#(start),"end":\#(end)}"#
    }
}

/// How many words a text has lost, and how many stand in it for nothing.
func difference(_ text: [String], from wanted: [String]) -> (lost: Int, doubled: Int) {
    let changes = text.difference(from: wanted)
    return (changes.removals.count, changes.insertions.count)
}
