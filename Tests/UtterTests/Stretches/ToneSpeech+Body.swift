// SPDX-License-Identifier: Apache-2.0

import TestSupport

@testable import AudioCodecs

extension ToneSpeech {
    var text: String { words.map(\.text).joined(separator: " ") }

    /// Says words, each with a pause behind it.
    mutating func say(_ numbers: [Int], pause: Int, using random: inout SeededRandom) {
        for number in numbers {
            say(number)
            self.pause(pause, using: &random)
        }
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
