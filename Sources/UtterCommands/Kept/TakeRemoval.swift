// SPDX-License-Identifier: Apache-2.0

internal import Utter
internal import UtterTerminal

/// Removes takes, and brings them back: asks where something would be lost, and says what went.
struct TakeRemoval {
    private static let namedLimit = 5

    private let spool: Spool
    /// Whether nothing can be brought back.
    private let isForGood: Bool

    init(from spool: Spool, isForGood: Bool) {
        (self.spool, self.isForGood) = (spool, isForGood || spool.removesForGood)
    }

    /// Removes takes: each that is named is said, and asked for first when it was never delivered; of
    /// the others only the number is said.
    ///
    /// - Returns: false when the person does not want that.
    func remove(
        _ named: [KeptTake], and others: [KeptTake], isSure: Bool
    ) async throws -> Bool {
        // A queue that cannot be read has nothing at a service.
        let queued = isForGood ? (try? spool.queue.takes()) ?? [] : []
        let ids = Set((named + others).map(\.id))
        guard try removeFromDisk(named, and: others, isSure: isSure) else { return false }
        let open = (named + others + queued).filter { ids.contains($0.id) && $0.isPartlyThere }
        guard !open.isEmpty else { return true }
        let pipeline = try Pipeline(spool: nil, secrets: SecretAsker().answer)
        for take in open { _ = await pipeline.drops(take) }
        pipeline.shutDown()
        return true
    }

    private func removeFromDisk(
        _ named: [KeptTake], and others: [KeptTake], isSure: Bool
    ) throws -> Bool {
        let entries = named.map { TakeEntry($0, in: spool) }
        let lost = entries.filter(\.isUndelivered)
        if !isSure, !lost.isEmpty, Dialogue.isPossible, !Dialogue.confirms(question(lost)) {
            StandardError.line("nothing was removed")
            return false
        }
        var back: [TakeID] = []
        for entry in entries {
            guard let id = entry.take?.id else { continue }
            let isBack = try spool.remove(id, forGood: isForGood)
            if isBack { back.append(id) }
            StandardError.line(
                "removed \(isBack || named.isEmpty ? "" : "for good: ")\(entry.account)")
            tellArchive(entry)
        }
        let archived = others.map { TakeEntry($0, in: spool) }.filter { $0.archive != nil }
        for id in others.map(\.id) where try spool.remove(id, forGood: isForGood) {
            back.append(id)
        }
        if !others.isEmpty {
            StandardError.line("removed \(others.count) \(others.count == 1 ? "take" : "takes")")
        }
        let queuedCount = isForGood ? archived.count { $0.isQueued == true } : 0
        if archived.count > queuedCount {
            StandardError.line(
                "the archive keeps its copies: \(archived.count - queuedCount) of them")
        }
        if queuedCount > 0 {
            StandardError.line("the archive does not get \(queuedCount) of them any more")
        }
        guard !back.isEmpty else { return true }
        let names = back.count <= Self.namedLimit ? try names(of: back) : ["all"]
        StandardError.hint(
            "bring \(back.count == 1 ? "it" : "them") back within a day with: utter rm --undo"
                + (back.count == 1 ? "" : " " + names.joined(separator: " ")))
        return true
    }

    private func tellArchive(_ entry: TakeEntry) {
        guard let archive = entry.archive else { return }
        switch (entry.isQueued ?? false, isForGood) {
        case (false, _): StandardError.line("the archive keeps its copy: \(archive)")
        case (true, true): StandardError.line("the archive does not get it any more: \(archive)")
        case (true, false) where entry.take.map(spool.isUnqueued) == true: break
        case (true, false): StandardError.line("the archive still gets its copy: \(archive)")
        }
    }

    func destroyRemoved(_ name: String) throws(TakeStoreError) {
        let id = try spool.removedTake(name)
        try spool.remove(id, forGood: true)
        StandardError.line("removed for good: \(id.text)")
    }

    /// Brings takes back by parts of their ids, or `all`; without a name, the one removed last.
    func undo(_ names: [String]) throws(TakeStoreError) {
        var names = names.isEmpty ? ["last"] : names
        if names == ["all"] {
            names = try spool.removedTakes().map(\.id.text)
            guard !names.isEmpty else { throw .notRemoved(nil) }
        }
        let ids = try names.map { name throws(TakeStoreError) in try spool.removedTake(name) }
        for id in ids {
            let take = try spool.undoRemove(id.text)
            StandardError.line("brought back \(TakeEntry(take, in: spool).account)")
        }
    }

    private func names(of ids: [TakeID]) throws(TakeStoreError) -> [String] {
        let names = TakeNames(try spool.removedTakes().map(\.id)).shortNames
        return ids.map { names[$0] ?? $0.text }
    }

    private func question(_ lost: [TakeEntry]) -> String {
        let forGood = isForGood ? " for good" : ""
        guard lost.count > 1, let first = lost.first else {
            return "remove \(lost.first?.account ?? "it")\(forGood)?"
        }
        return "remove \(lost.count) takes\(forGood) that were never delivered, the first of them "
            + "\(first.account)?"
    }
}

extension Pipeline {
    /// Whether a service has dropped what it had of a take; why it has not is said.
    func drops(_ take: KeptTake) async -> Bool {
        do throws(OpenUploadError) {
            try await dropUpload(of: take)
            return true
        } catch {
            StandardError.line(
                "a part of take \(take.id.text) stays at '\(take.service)': \(error)")
            return false
        }
    }
}

extension TakeEntry {
    /// Whether what was said in it is nowhere else, as far as one can know.
    fileprivate var isUndelivered: Bool { isWaiting || unreadable != nil }

    fileprivate var account: String {
        let length = take?.length.map { StatusLine.clock($0) }
        let fate =
            !isWaiting
            ? state : mayBeDelivered == true ? "may have been delivered" : "never delivered"
        return [id, length, fate].compactMap(\.self).joined(separator: ", ")
    }
}
