// SPDX-License-Identifier: Apache-2.0

internal import SpeechService
internal import TextRules

extension TakeOutcome {
    mutating func apply(_ rules: TextRules, in language: String?) {
        guard case .success(var words) = result else { return }
        words.apply(rules, in: language)
        result = .success(words)
    }

    /// The words that a filter may read; nil where there is no text, or not that of all of the take.
    var filterable: Transcript? {
        guard case .success(let words) = result, !words.text.isEmpty, shortfall == nil else {
            return nil
        }
        return words
    }

    /// The outcome with what a filter has made of its text.
    func filtered(_ text: FilteredText) -> TakeOutcome {
        guard case .success(var words) = result else { return self }
        var outcome = self
        switch text {
        case .text(let text):
            words.filter(as: text)
            outcome.result = .success(words)
        case .refused(let reason): outcome.notices.append(.unfiltered(reason: reason))
        }
        return outcome
    }
}

extension Transcript {
    mutating func filter(as text: String) {
        if text != self.text { write(text, by: [TextChange(.filter, self.text, text)]) }
    }
}
