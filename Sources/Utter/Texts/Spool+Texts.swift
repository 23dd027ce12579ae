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
    /// Blocks while the filter runs.
    ///
    /// - Returns: whether the text is another one now, and why not if the filter has failed.
    /// - Throws: `TakeStoreError` when there is no such take.
    @discardableResult
    public func apply(
        _ rules: TextRules, _ filter: TextFilter? = nil, to take: KeptTake
    ) throws(TakeStoreError) -> (isChanged: Bool, refusal: String?) {
        guard let known = take.known, known.unedited == nil, let raw = known.raw ?? known.transcript
        else { return (false, nil) }
        var (rules, transcript) = (rules, Transcript(plain: raw))
        rules.stopWord = known.changes?.first { $0.rule == .stopWord }?.said
        transcript.apply(rules, in: known.language ?? known.delivery?.words["language"])
        if let filter, !transcript.text.isEmpty {
            switch filter.result(for: transcript, of: take.id) {
            case .text(let text): transcript.filter(as: text)
            case .refused(let reason): return (false, reason)
            }
        }
        guard transcript.text != known.transcript ?? "" else { return (false, nil) }
        let isDone = try rewrite(take) { manifest in
            guard manifest.unedited == nil else { return false }
            manifest.rewrite(transcript.text, raw: transcript.raw, changes: transcript.changes)
            return true
        }
        return (isDone, nil)
    }

    /// The texts of the last takes, the newest first, without those of encrypted ones: it asks for no key,
    /// looks at so many takes at most, and brings none to an end.
    package func lastTexts(_ count: Int) throws(TakeStoreError) -> [String] {
        guard try TakeStore.mayExist(in: folder) else { return [] }
        let store = try store()
        return try store.ids().suffix(count).reversed().compactMap { id in
            // A take that cannot be read is told where it is listed.
            try? store.take(id).manifest().transcript
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
