// SPDX-License-Identifier: Apache-2.0

/// One of the recorded voices in the folder `samples`: 16 kHz mono WAV files with known words.
package struct Clip: Sendable, Hashable, CustomStringConvertible {
    /// The file's name without ".wav".
    package let name: String

    /// What is said, in lower case, without punctuation, numbers as words.
    package let transcript: String

    /// 2.79 s; the sample of `utter demo`.
    package static let goForward = Clip(name: "go-forward", transcript: "go forward ten meters")

    /// 2.40 s.
    package static let digits = Clip(
        name: "digits-29340", transcript: "two nine three four zero")

    /// 3.50 s.
    package static let cards = Clip(
        name: "cards-three", transcript: "eight of spades four of clubs seven of hearts")

    /// 11.00 s, with a LIST chunk before the data.
    package static let speech = Clip(
        name: "jfk",
        transcript: """
            and so my fellow americans ask not what your country can do for you ask what you can \
            do for your country
            """)

    /// Where the file is.
    package var path: String { SourceTree.path("samples/\(name).wav") }

    package var description: String { name }
}
