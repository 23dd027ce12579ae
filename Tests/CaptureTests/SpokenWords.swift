// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// A recorded voice, and when its words are said.
///
/// The times are those of `pocketsphinx_continuous -time yes -jsgf samples/grammar/demo.gram`, which
/// knows what is said there.
struct SpokenWords: Sendable, CustomTestStringConvertible {
    let clip: Clip
    /// Beginning and end of each word in ms.
    let words: [Range<Int>]
    /// From here on nothing is to be heard, in ms.
    let silentFrom: Int

    static let all = [
        SpokenWords(
            clip: .goForward, words: [460..<630, 640..<1_160, 1_170..<1_540, 1_550..<2_110],
            silentFrom: 2_600),
        SpokenWords(
            clip: .digits, words: [220..<390, 400..<640, 650..<870, 880..<1_130, 1_140..<1_610],
            silentFrom: 1_900),
        SpokenWords(
            clip: .cards,
            words: [
                200..<390, 400..<500, 510..<1_120, 1_130..<1_530, 1_540..<1_640, 1_650..<2_250,
                2_260..<2_620, 2_630..<2_730, 2_740..<3_250,
            ], silentFrom: 3_600),
    ]

    var testDescription: String { clip.name }

    /// The frames of the recording, and then two seconds of a silent room.
    func frames() throws -> [Int16] {
        // The clips with known times have headers as we write them.
        try pcm(readFile(clip.path)) + [Int16](repeating: 0, count: 32_000)
    }
}
