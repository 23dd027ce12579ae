// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A recording whose words are tones, which a service of the test reads again and counts.
package struct ToneSpeech {
    package init() {}

    package struct Word: Equatable {
        package let number: Int
        package let frames: Range<Int>
        package var text: String { "w\(number)" }
    }

    package private(set) var samples: [Int16] = []
    package private(set) var words: [Word] = []

    package static let wordCount = 12
    private static let rate = 16_000.0
    /// Frames of one word.
    package static let wordFrames = 3_200
    private static let windowFrames = 320

    /// The frequency of a word has a whole number of periods in a window of 20 ms.
    private static func frequency(_ number: Int) -> Double { 400 + 100 * Double(number) }

    private static let tones = (0..<wordCount).map { number in
        (0..<wordFrames).map { frame in
            Int16(8_000 * sin(2 * Double.pi * frequency(number) * Double(frame) / rate))
        }
    }

    package mutating func say(_ number: Int) {
        let start = samples.count
        samples += Self.tones[number]
        words.append(Word(number: number, frames: start..<samples.count))
    }

    /// The noise of a room.
    package mutating func pause(_ frames: Int, using random: inout some RandomNumberGenerator) {
        for _ in 0..<frames { samples.append(.random(in: -20...20, using: &random)) }
    }

    /// The same of the body of a request with samples alone.
    package static func read(pcm body: [UInt8]) -> [Word] {
        read(
            stride(from: 0, to: body.count - 1, by: 2).map {
                Int16(bitPattern: UInt16(body[$0]) | UInt16(body[$0 + 1]) << 8)
            })
    }

    /// The words of samples that a service has got; a piece of a word that is too short to tell is a "?".
    package static func read(_ samples: [Int16]) -> [Word] {
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
}

extension ToneSpeech.Word {
    /// As a service answers with it.
    package var json: String {
        let (start, end) = (Double(frames.lowerBound) / 16_000, Double(frames.upperBound) / 16_000)
        return #"{"word":"\#(number < 0 ? "?" : text)","start":\#(start),"end":\#(end)}"#
    }
}

/// How many words a text has lost, and how many stand in it for nothing.
package func difference(_ text: [String], from wanted: [String]) -> (lost: Int, doubled: Int) {
    let changes = text.difference(from: wanted)
    return (changes.removals.count, changes.insertions.count)
}
