// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
public import SpeechService
package import TakeStore

/// Which takes of a spool are meant.
public enum TakeChoice: Sendable {
    /// All of them.
    case all
    /// Takes without an answer, except cancelled ones.
    case waiting
    /// Takes that may be sent unasked now, in the order in which they are sent; those whose
    /// program has died wait for `Spool.recover`.
    case due
}

/// The takes on the disk. All calls block on the disk, and make no folder where there is none.
extension Spool {
    /// The store, unless there is no folder, and so no take.
    ///
    /// Takes whose program was killed before they had a folder have one then.
    package func existing() throws(TakeStoreError) -> TakeStore? {
        rings.adoptOrphans { [self] () throws(TakeStoreError) in try store() }
        guard try TakeStore.mayExist(in: folder) else { return nil }
        forgetRefusal()
        return try store()
    }

    /// Looks at takes, the oldest first.
    ///
    /// A take whose program has died is listed as it is: nothing waits for its recovery. An
    /// unreadable take is listed with the reason.
    ///
    /// - Throws: `TakeStoreError` when the folder cannot be used.
    public func takes(where choice: TakeChoice = .all) throws(TakeStoreError) -> [KeptTake] {
        guard let store = try existing() else { return [] }
        store.clearLeftovers()
        let clock = SpoolAge(in: store)
        let takes = try store.ids().compactMap { id -> KeptTake? in
            let take = KeptTake(id, in: store, by: clock)
            // A full disk has left it, or another program is making it: there is nothing to see.
            return take.known == nil && store.isHollow(id) ? nil : take
        }
        return switch choice {
        case .all: takes
        case .waiting: takes.filter(\.isWaiting)
        case .due:
            KeptTake.inSendingOrder(
                takes.filter { $0.state == .kept && !$0.isAbandoned && $0.obstacle() == nil })
        }
    }

    /// Finds a take, and brings it to an end if its program has died.
    ///
    /// - Parameter name: a part of its id that no other has; `last` is the newest take, and `last~2`
    ///   the second before it.
    /// - Returns: the take as it is then.
    /// - Throws: `TakeStoreError` when there is no such take, or there are several.
    public func take(_ name: String) throws(TakeStoreError) -> KeptTake {
        guard let store = try existing() else { throw .noSuchTake(name) }
        store.clearLeftovers()
        while true {
            let take = try store.find(name)
            store.recover(take.id)
            // A take of which nothing can be played is gone now.
            if store.holds(take) {
                return KeptTake(take.id, in: store, by: SpoolAge(in: store))
            }
        }
    }

    /// Finds a take that is to be sent: `last` is the newest without an answer.
    ///
    /// When all are answered, or the take is sent by another request (`isChanged`), `last` is the
    /// newest that has its audio.
    ///
    /// - Returns: nil when `last` means no take.
    package func take(
        toSend name: String, isChanged: Bool
    ) throws(TakeStoreError) -> KeptTake? {
        guard let steps = TakeNames.stepsBack(name) else { return try take(name) }
        let count = min(steps, 1 << 30) + 1
        var takes = try newest(count) { $0.known.map { $0.state != .answered } ?? false }
        if isChanged || takes.isEmpty { takes = try newest(count) { $0.audioPath != nil } }
        return takes.count == count ? takes.last : nil
    }

    /// The newest takes that fulfil a condition, newest first; nothing older is looked at.
    ///
    /// One whose program has died is brought to an end first, if it may fulfil the condition then.
    package func newest(
        _ count: Int, mayBe: (KeptTake) -> Bool = { _ in true }, where isWanted: (KeptTake) -> Bool
    ) throws(TakeStoreError) -> [KeptTake] {
        guard let store = try existing() else { return [] }
        let clock = SpoolAge(in: store)
        var found: [KeptTake] = []
        for id in try store.ids().reversed() where found.count < count {
            var take = KeptTake(id, in: store, by: clock)
            if take.isAbandoned, mayBe(take) {
                store.recover(id)
                take = KeptTake(id, in: store, by: clock)
            }
            if isWanted(take) { found.append(take) }
        }
        return found
    }

    /// Brings takes to an end whose program has died: they wait then, and can be sent.
    ///
    /// Reads their audio. It deletes the rest of takes that were being made or removed.
    ///
    /// - Parameter takes: nil is all.
    /// - Returns: the takes that were brought to an end.
    /// - Throws: `TakeStoreError` when the folder cannot be used.
    @discardableResult
    public func recover(_ takes: [KeptTake]? = nil) throws(TakeStoreError) -> [TakeID] {
        guard let store = try existing() else { return [] }
        guard let takes else { return try store.recoverAll() }
        return takes.map(\.id).filter { store.recover($0) }
    }

    /// Says that the caller has the transcript of a take, so that its audio may be deleted.
    ///
    /// For takes of earlier runs, as `Take.release` is for those of this one. Does nothing to a take
    /// without an answer, or one that another process holds.
    ///
    /// - Throws: `TakeStoreError` when there is no such take.
    public func release(_ take: KeptTake) throws(TakeStoreError) {
        try change(take) { manifest in
            guard manifest.state == .answered else { return false }
            manifest.release(keepingAudioFor: manifest.keepsAudioFor)
            return true
        }
    }

    /// Reads an answer that was kept because it could not be read once more, by another rule.
    ///
    /// The service may have been paid for it, and is not asked again. The take is answered then.
    ///
    /// - Returns: the transcript; nil when there is no such answer, the rule finds no text in it
    ///   either, or another process holds the take.
    /// - Throws: `TakeStoreError` when there is no such take.
    public func reread(
        _ take: KeptTake, by rule: AnswerRule
    ) throws(TakeStoreError) -> String? {
        guard let manifest = take.known, manifest.isUnreadAnswerWhole == true,
            manifest.state == .kept,
            // The service is asked then.
            let bytes = try? store().take(take.id).unreadAnswer(of: manifest),
            let text = Self.text(in: bytes, by: rule), !text.isEmpty
        else { return nil }
        let isFree = try change(take) { manifest in
            manifest.answer(text, leaving: manifest.progress)
            return true
        }
        return isFree ? text : nil
    }

    private static func text(in bytes: [UInt8], by rule: AnswerRule) -> String? {
        var decoder = rule.makeDecoder(AnswerHead())
        var transcript = Transcript()
        do throws(AnswerError) {
            transcript.apply(try decoder.accumulate(bytes.span))
            transcript.apply(try decoder.finish())
        } catch {
            return nil
        }
        return transcript.displayText
    }

    /// Changes what a take remembers, unless another process holds it; one that the disk does not take
    /// loses nothing but the change.
    @discardableResult
    func change(
        _ take: KeptTake, _ body: (inout TakeManifest) -> Bool
    ) throws(TakeStoreError) -> Bool {
        let folder = try store().take(take.id)
        // A take that cannot be locked is in use.
        guard (try? folder.lock()) == true else { return false }
        defer { folder.unlock() }
        var manifest = try folder.manifest()
        // A failure loses only the change.
        if body(&manifest) { try? folder.save(manifest) }
        return true
    }
}
