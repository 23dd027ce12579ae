// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import TextRules

extension Transcript {
    /// Appends what was heard in the next part of a recording, which begins `start` seconds after the
    /// recording and repeats the last `overlap` seconds of what was heard before.
    ///
    /// A word that both parts have stands once: the words say which it is where both parts have the same
    /// at about the same time, and otherwise the times alone. Where a part does not tell all times, it is
    /// the end of the one text and the beginning of the other, where they agree.
    ///
    /// - Parameters:
    ///   - part: with times from its own beginning.
    ///   - start: in seconds.
    ///   - overlap: in seconds; 0 where the parts do not overlap.
    ///   - rate: how many words a second a part has on average, the more of the two; nil: not known.
    ///   - end: in seconds of the recording; the text of a part without times, beside others that have
    ///     them, becomes one piece up to there.
    ///   - others: all parts.
    package mutating func append(
        _ part: Transcript, at start: Double, overlap: Double, rate: Double? = nil,
        end: Double = 0, beside others: [Transcript] = []
    ) {
        var part = part.moved(by: start)
        if overlap > 0 {
            let middle = start + overlap / 2
            if let (own, its) = counts(sharing: part, from: start, overlap) {
                removeLast(own)
                part.removeFirst(its)
                words.removeLast(own)
                part.words.removeFirst(its)
            } else {
                joinWords(with: &part, around: middle, overlap, rate)
            }
            if !part.segments.isEmpty { segments.removeAll { ($0.start ?? 0) >= middle } }
            part.segments.removeAll { ($0.end ?? .infinity) < middle }
            if let duration = part.duration { part.duration = max(0, duration - overlap) }
        }
        part.spread(from: start + overlap, to: end, beside: others)
        append(part)
    }

    /// Has the text be one piece where others have timed ones, and this one has not.
    private mutating func spread(from start: Double, to end: Double, beside others: [Transcript]) {
        guard !text.isEmpty, start < end else { return }
        for pieces in [\Transcript.words, \Transcript.segments]
        where !self[keyPath: pieces].contains(where: \.isTimed)
            && others.contains(where: { $0[keyPath: pieces].contains(where: \.isTimed) })
        {
            self[keyPath: pieces] = [RecognizedWord(text: text, start: start, end: end)]
        }
    }

    private mutating func joinWords(
        with part: inout Transcript, around middle: Double, _ overlap: Double, _ rate: Double?
    ) {
        // Behind a word that both have, though the two times of it may differ a little.
        let seam = words.last { $0.isTimed && $0.middle < middle }?.end ?? middle
        let (own, its) =
            counts(around: middle, seam, part) ?? counts(meeting: part, overlap, rate)
        let isTold = part.isTimed
        removeLast(own)
        part.removeFirst(its)
        // The times of one piece for all that a part has say nothing of its last words.
        if var last = words.last, last.isTimed, !last.isWord {
            words.removeLast()
            if let end = last.text.tokens.dropLast(own).last?.endIndex {
                last.text = String(last.text[..<end])
                words.append(last)
            }
            guard !isTold else { return part.words.removeFirst(its) }
        }
        // A word that only the first part has stays.
        let next = part.words.first { $0.isTimed && $0.middle >= seam }?.start ?? .infinity
        words.removeAll { $0.isTimed && $0.middle >= max(middle, next) }
        part.words.removeAll { $0.isTimed && $0.middle < seam }
    }

    private func moved(by seconds: Double) -> Transcript {
        var moved = self
        for index in words.indices { moved.words[index].move(by: seconds) }
        for index in segments.indices { moved.segments[index].move(by: seconds) }
        return moved
    }

    /// How many words a text has, by which its `rate` is known.
    package var wordCount: Int { finals.reduce(0) { $0 + $1.tokens.count } }

    /// How far, in seconds, the two times of one word may be apart: some services tell whole seconds.
    private static let jitter = 1.0

    /// How many words at the end of this text, and at the beginning of the next one, the other text has,
    /// by the longest run of words that both have at about the same time; nil unless both texts are the
    /// words that they tell, and share some.
    private func counts(
        sharing part: Transcript, from start: Double, _ overlap: Double
    ) -> (Int, Int)? {
        guard isTimed, part.isTimed else { return nil }
        let end = words.reversed().prefix { $0.middle >= start - Self.jitter }.reversed().map(
            \.plain)
        let beginning = part.words.prefix { $0.middle < start + overlap + Self.jitter }.map(\.plain)
        var best = (score: 0.0, own: 0, its: 0)
        for own in end.indices {
            for its in beginning.indices {
                var (run, difference) = (0, 0.0)
                for (first, second) in zip(end[own...], beginning[its...]) {
                    let apart = abs(first.middle - second.middle)
                    guard first.text == second.text, !first.text.isEmpty, apart <= Self.jitter
                    else { break }
                    (run, difference) = (run + 1, difference + apart)
                }
                let rest = end.count - own - run
                let score = Double(3 * run - rest - its) - 2 * difference
                if run > 0, score > best.score { best = (score, rest, its + run) }
            }
        }
        return best.score > 0 ? (best.own, best.its) : nil
    }

    /// The same by the times alone; nil unless both texts are the words that they tell.
    private func counts(
        around middle: Double, _ seam: Double, _ part: Transcript
    ) -> (Int, Int)? {
        guard isTimed, part.isTimed, !part.words.isEmpty else { return nil }
        let next = part.words.first { $0.middle >= seam }?.start ?? .infinity
        return (
            words.count { $0.middle >= max(middle, next) }, part.words.count { $0.middle < seam }
        )
    }

    private var isTimed: Bool { words.allSatisfy(\.isWord) && words.count == wordCount }

    /// The same by the longest run of words that stands near the end of this text and near the
    /// beginning of the next one, where the words around it may be broken off.
    private func counts(
        meeting part: Transcript, _ overlap: Double, _ rate: Double?
    ) -> (Int, Int) {
        let most = Int(overlap * Self.fastestSpeech)
        // Words that are said again and again make longer runs than the overlap can hold.
        let usual = rate.map { overlap * $0 } ?? .infinity
        var end: [String] = []
        for text in finals.reversed() where end.count < most {
            end = text.tokens.suffix(most - end.count).map(\.plain) + end
        }
        let beginning = part.finals.flatMap(\.tokens).prefix(most).map(\.plain)
        var best = (likelihood: -Double.infinity, own: 0, its: 0)
        for own in end.indices {
            for its in beginning.indices {
                let run = zip(end[own...], beginning[its...]).prefix { $0 == $1 && !$0.isEmpty }
                    .count
                let rest = end.count - own - run
                // A run of three makes up for eight words that only one of the texts has.
                let score = 3 * run - rest - its
                guard run > 0, score > 0 else { continue }
                let excess = [rest + run, its + run].reduce(0) { $0 + max(0, Double($1) - usual) }
                let likelihood = Double(score) - 1.6 * excess
                if likelihood > best.likelihood { best = (likelihood, rest, its + run) }
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
    /// Whether it is short enough for a word: the text of a part without times lasts longer.
    fileprivate var isWord: Bool { isTimed && (end ?? 0) - (start ?? 0) < 5 }
    fileprivate var middle: Double { ((start ?? 0) + (end ?? 0)) / 2 }
    fileprivate var plain: (text: String, middle: Double) { (text[...].plain, middle) }

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
