// SPDX-License-Identifier: Apache-2.0

internal import Utter

/// A text with the times of those of its words that a service has timed.
///
/// Rules, a filter, or the person may have changed the text since: it is shown as it is now, and a word
/// has a time where the letters of the service's piece stand in it.
struct TimedText {
    struct Part: Equatable {
        let text: String
        /// In seconds of the recording; nil of what no piece stands for.
        var start, end: Double?
    }

    private(set) var parts: [Part] = []

    /// In letters: as many may have been written anew between two pieces.
    private static let farthest = 200

    init(_ text: String, _ pieces: [TakeStory.Piece]) {
        let characters = Array(text)
        var letters: [(text: String, place: Int)] = []
        for (place, character) in characters.enumerated() where Self.isLetter(character) {
            letters.append((character.lowercased(), place))
        }
        // The first character that is in no part, and the first letter behind the last piece.
        var (rest, next) = (0, 0)
        for piece in pieces {
            let wanted = piece.text.filter(Self.isLetter).map { $0.lowercased() }
            guard let start = piece.start, !wanted.isEmpty, next + wanted.count <= letters.count
            else { continue }
            let last = min(next + Self.farthest, letters.count - wanted.count)
            let found = (next...last).first { first in
                let place = letters[first].place
                let begins = place == 0 || place == rest || !Self.isLetter(characters[place - 1])
                guard begins else { return false }
                return wanted.indices.allSatisfy { letters[first + $0].text == wanted[$0] }
            }
            guard let found else { continue }
            let (begin, end) = (letters[found].place, letters[found + wanted.count - 1].place + 1)
            add(characters[rest..<begin])
            parts.append(Part(text: String(characters[begin..<end]), start: start, end: piece.end))
            (rest, next) = (end, found + wanted.count)
        }
        add(characters[rest...])
    }

    private static func isLetter(_ character: Character) -> Bool {
        character.isLetter || character.isNumber
    }

    private mutating func add(_ characters: ArraySlice<Character>) {
        if !characters.isEmpty { parts.append(Part(text: String(characters))) }
    }
}
