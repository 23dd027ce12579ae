// SPDX-License-Identifier: Apache-2.0

package import Utter

/// Removes takes, and brings them back: asks where something would be lost, and says what went.
package struct TakeRemoval {
    private static let namedLimit = 5

    private let store: TakeStore
    /// Whether nothing can be brought back.
    private let isForGood: Bool

    package init(from store: TakeStore, isForGood: Bool) throws(CommandFailure) {
        self.store = store
        // What is removed from a full disk is removed for its room.
        let limits = try KeepOptions.standard.limits
        self.isForGood = isForGood || store.isDiskShort(by: limits)
    }

    /// Removes takes: each that is named is said, and asked for first when it was never delivered; of
    /// the others only the number is said.
    package func remove(
        _ named: [TakeID], and others: [TakeID], isSure: Bool
    ) throws(CommandFailure) {
        let entries = named.map { TakeEntry($0, in: store) }
        let lost = entries.filter(\.isUndelivered)
        if !isSure, !lost.isEmpty, Confirmation.isPossible, !Confirmation.ask(question(lost)) {
            StandardError.line("nothing was removed")
            return
        }
        var back: [TakeID] = []
        for entry in entries {
            guard let id = entry.take else { continue }
            let isBack = try remove(id)
            if isBack { back.append(id) }
            StandardError.line(
                "removed \(isBack || named.isEmpty ? "" : "for good: ")\(entry.account)")
        }
        for id in others where try remove(id) { back.append(id) }
        if !others.isEmpty {
            StandardError.line("removed \(others.count) \(others.count == 1 ? "take" : "takes")")
        }
        guard !back.isEmpty else { return }
        let names = back.count <= Self.namedLimit ? names(of: back) : ["all"]
        StandardError.hint(
            "bring \(back.count == 1 ? "it" : "them") back within a day with: utter rm --undo"
                + (back.count == 1 ? "" : " " + names.joined(separator: " ")))
    }

    package func destroyRemoved(_ name: String) throws(CommandFailure) {
        let ids = try find([name])
        store.destroyRemoved { ids.contains($0.id) }
        for id in ids { StandardError.line("removed for good: \(id.text)") }
    }

    /// Brings takes back by parts of their ids, or `all`; without a name, the one removed last.
    package func undo(_ names: [String]) throws(CommandFailure) {
        for id in try find(names) {
            _ = try ofTakes { () throws(TakeStoreError) in try store.restore(id) }
            StandardError.line("brought back \(TakeEntry(id, in: store).account)")
        }
    }

    private func find(_ names: [String]) throws(CommandFailure) -> [TakeID] {
        let removed = store.removed.map(\.id)
        guard let last = removed.last else {
            throw CommandFailure("nothing was removed within the last day", status: .noInput)
        }
        if names.isEmpty { return [last] }
        if names == ["all"] { return removed }
        return try names.map { name throws(CommandFailure) in
            let found = name == "last" ? [last] : TakeNames(removed).matches(name)
            guard let id = found.first else {
                throw CommandFailure(
                    "no take '\(name)' was removed within the last day", status: .noInput)
            }
            guard found.count == 1 else {
                throw CommandFailure(TakeStoreError.ambiguous(name, found))
            }
            return id
        }
    }

    private func remove(_ id: TakeID) throws(CommandFailure) -> Bool {
        try ofTakes { () throws(TakeStoreError) in
            let take = try store.take(id)
            guard isForGood else { return try store.setAside(take) }
            try store.remove(take)
            return false
        }
    }

    private func names(of ids: [TakeID]) -> [String] {
        let names = TakeNames(store.removed.map(\.id)).shortNames
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

extension TakeEntry {
    /// Whether what was said in it is nowhere else, as far as one can know.
    fileprivate var isUndelivered: Bool { isWaiting || unreadable != nil }

    fileprivate var account: String {
        let length = durationMs.map { StatusLine.clock(.milliseconds(Int64($0))) }
        let fate =
            !isWaiting
            ? state : mayBeDelivered == true ? "may have been delivered" : "never delivered"
        return [id, length, fate].compactMap(\.self).joined(separator: ", ")
    }
}
