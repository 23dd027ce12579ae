// SPDX-License-Identifier: Apache-2.0

public import TakeStore
public import TextRules

// The texts of takes that are answered already.
extension Spool {
    /// Replaces the text of a take by what the person has written; the text before it stays, too.
    ///
    /// - Returns: false when there is no text yet, or another process holds the take.
    /// - Throws: `TakeStoreError` when there is no such take.
    @discardableResult
    public func edit(_ take: KeptTake, to text: String) throws(TakeStoreError) -> Bool {
        try rewrite(take) { manifest in
            manifest.edit(text)
            return true
        }
    }

    /// Has the text of a take go through rules once more, from the text of the service on; one that the
    /// person has edited stays.
    ///
    /// Blocks for as long as the filter runs, if there is one.
    ///
    /// - Returns: whether the text is another one now.
    /// - Throws: `TakeStoreError` when there is no such take.
    @discardableResult
    public func apply(
        _ rules: TextRules, _ filter: TextFilter? = nil, to take: KeptTake
    ) throws(TakeStoreError) -> Bool {
        guard let known = take.known, known.unedited == nil, let raw = known.raw ?? known.transcript
        else { return false }
        var transcript = Transcript(plain: raw)
        transcript.apply(rules, in: known.language ?? known.delivery?.words["language"])
        if let filter, !transcript.text.isEmpty,
            case .text(let text) = filter.result(for: transcript, of: take.id),
            text != transcript.text
        {
            transcript.write(text, by: [TextChange(.filter, transcript.text, text)])
        }
        guard transcript.text != known.transcript ?? "" else { return false }
        return try rewrite(take) { manifest in
            guard manifest.unedited == nil else { return false }
            manifest.rewrite(transcript.text, raw: transcript.raw, changes: transcript.changes)
            return true
        }
    }

    private func rewrite(
        _ take: KeptTake, _ body: (inout TakeManifest) -> Bool
    ) throws(TakeStoreError) -> Bool {
        var isDone = false
        try change(take) { manifest in
            isDone = manifest.state == .answered && body(&manifest)
            return isDone
        }
        return isDone
    }
}
