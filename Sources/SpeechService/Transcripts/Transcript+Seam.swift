// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import TextRules

extension Transcript {
    /// Appends what was heard in the next part of a recording, which begins `start` seconds after the
    /// recording and repeats the last `overlap` seconds of what was heard before.
    ///
    /// A word that both parts have stands once: the times of the words tell which it is where both parts
    /// tell all times, and otherwise the end of the one text and the beginning of the other, where they
    /// agree.
    package mutating func append(_ part: Transcript, at start: Double, overlap: Double) {
        var part = part.moved(by: start)
        if overlap > 0 {
            let middle = start + overlap / 2
            // Behind a word that both have, though the two times of it may differ a little.
            let seam = words.last { $0.isTimed && $0.middle < middle }?.end ?? middle
            let (own, its) = counts(around: middle, seam, part) ?? counts(meeting: part, overlap)
            removeLast(own)
            part.removeFirst(its)
            // A word that only the first part has stays.
            let next = part.words.first { $0.isTimed && $0.middle >= seam }?.start ?? .infinity
            words.removeAll { $0.isTimed && $0.middle >= max(middle, next) }
            part.words.removeAll { $0.isTimed && $0.middle < seam }
            if !part.segments.isEmpty { segments.removeAll { ($0.start ?? 0) >= middle } }
            part.segments.removeAll { ($0.end ?? .infinity) < middle }
            if let duration = part.duration { part.duration = max(0, duration - overlap) }
        }
        append(part)
    }

    private func moved(by seconds: Double) -> Transcript {
        var moved = self
        for index in words.indices { moved.words[index].move(by: seconds) }
        for index in segments.indices { moved.segments[index].move(by: seconds) }
        return moved
    }

    /// How many words of this text and of the next one the other text has, by their times; nil unless
    /// both texts are the words that they tell.
    private func counts(
        around middle: Double, _ seam: Double, _ part: Transcript
    ) -> (Int, Int)? {
        guard isTimed, part.isTimed, !part.words.isEmpty else { return nil }
        let next = part.words.first { $0.middle >= seam }?.start ?? .infinity
        return (
            words.count { $0.middle >= max(middle, next) }, part.words.count { $0.middle < seam }
        )
    }

    private var isTimed: Bool {
        words.allSatisfy(\.isTimed) && words.count == finals.reduce(0) { $0 + $1.tokens.count }
    }

    /// The same by the longest run of words that stands near the end of this text and near the
    /// beginning of the next one, where the words around it may be broken off.
    private func counts(meeting part: Transcript, _ overlap: Double) -> (Int, Int) {
        let most = Int(overlap * Self.fastestSpeech)
        var end: [String] = []
        for text in finals.reversed() where end.count < most {
            end = text.tokens.suffix(most - end.count).map(\.plain) + end
        }
        let beginning = part.finals.flatMap(\.tokens).prefix(most).map(\.plain)
        var best = (score: 0, own: 0, its: 0)
        for own in end.indices {
            for its in beginning.indices {
                let run = zip(end[own...], beginning[its...]).prefix { $0 == $1 && !$0.isEmpty }
                    .count
                guard run > 0 else { continue }
                let rest = end.count - own - run
                // A run of three makes up for eight words that only one of the texts has.
                let score = 3 * run - rest - its
                if score > best.score { best = (score, rest, its + run) }
            }
        }
        return (best.own, best.its)
    }

    /// In words a second, or in signs of a script without spaces: no speaker says more.
    private static let fastestSpeech = 8.0

    private mutating func removeLast(_ count: Int) {
        var count = count
        while count > 0, let last = finals.popLast() {
            let tokens = last.tokens
            if tokens.count > count {
                let end = tokens[tokens.count - count].startIndex
                finals.append(TerminalText.singleLine(String(last[..<end])))
            }
            count -= tokens.count
        }
    }

    private mutating func removeFirst(_ count: Int) {
        var count = count
        while count > 0, let first = finals.first {
            let tokens = first.tokens
            finals.removeFirst()
            if tokens.count > count {
                let rest = first[tokens[count].startIndex...]
                finals.insert(TerminalText.singleLine(String(rest)), at: 0)
            }
            count -= tokens.count
        }
    }
}

extension RecognizedWord {
    fileprivate var isTimed: Bool { start != nil && end != nil }
    fileprivate var middle: Double { ((start ?? 0) + (end ?? 0)) / 2 }

    fileprivate mutating func move(by seconds: Double) {
        start = start.map { $0 + seconds }
        end = end.map { $0 + seconds }
    }
}

extension String {
    /// The words between its spaces; of a script without spaces, each sign.
    fileprivate var tokens: [Substring] {
        split(whereSeparator: \.isWhitespace).flatMap { word in
            word.unicodeScalars.contains(where: \.isIdeographic)
                ? word.indices.map { word[$0...$0] } : [word]
        }
    }
}

extension [String] {
    var joinedAsText: String {
        var text = ""
        for part in self {
            let isSpaced =
                text.unicodeScalars.last?.needsNoSpace != true
                || part.unicodeScalars.first?.needsNoSpace != true
            if !text.isEmpty, !part.isEmpty, isSpaced { text += " " }
            text += part
        }
        return text
    }
}

extension Substring {
    /// Without its marks and capitals, which depend on what stands beside it.
    fileprivate var plain: String {
        filter { $0.isLetter || $0.isNumber }.lowercased()
    }
}
