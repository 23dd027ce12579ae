// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import Utter

/// One entry of `utter list`: a take, or something that lies where takes are.
///
/// Its members are those of `--json`.
package struct TakeEntry: Encodable {
    package let id: String
    package let state: String
    /// Where its audio is; nil when that has been deleted.
    var path: String?
    var created, reason, transcript, unreadable: String?
    var durationMs: Double?
    var attempts: Int?
    var process: Int32?
    var mayBeDelivered: Bool?
    /// Whether it is too old to be sent unasked.
    package private(set) var tooOld: Bool?
    /// Whether its program died, so that it is to be brought to an end; also of one that says nothing,
    /// or waits without audio.
    private var isDead = false
    /// Itself, if its program died.
    var deadTake: TakeID? { isDead ? take : nil }
    /// What is said of it while it is.
    var beingRecovered: TakeEntry {
        var entry = self
        if isDead, isWaiting, !isKept { entry.reason? += "; being recovered" }
        return entry
    }
    /// Whether it is sent again only when a person asks for it.
    private var isDoubtful = false
    /// For how long it has waited for its answer.
    package private(set) var waited = Duration.zero
    /// Nil for an entry that is not a take.
    let take: TakeID?

    enum CodingKeys: CodingKey {
        case id, path, state, created, reason, transcript, unreadable, durationMs, attempts
        case process, mayBeDelivered, tooOld
    }

    private static let choiceLimit = 10

    /// What lies among the takes and is none, what was moved out of the way, and behind them all
    /// takes, oldest first.
    ///
    /// - Returns: an entry for each.
    package static func all(
        in store: TakeStore, maxAge: Duration
    ) throws(TakeStoreError) -> [TakeEntry] {
        let clock = SpoolAge(in: store)
        let takes = try store.ids().compactMap { id -> TakeEntry? in
            var entry = TakeEntry(id, in: store)
            // A full disk has left it, or another program is making it: there is nothing to see.
            if entry.unreadable != nil, store.isHollow(id) { return nil }
            if entry.isKept {
                entry.waited = clock.age(since: id.date)
                entry.tooOld = entry.waited >= maxAge ? true : nil
            }
            return entry
        }
        let foreign = try store.foreignNames().map {
            TakeEntry($0, "foreign", in: store.path, "not a take; left alone")
        }
        let (folder, names) = store.quarantined()
        let quarantined = names.map {
            TakeEntry(
                $0, "quarantined", in: folder,
                (store.quarantineReason(of: $0) ?? "could not be used")
                    + "; look at it in \(folder)")
        }
        return foreign + quarantined + takes
    }

    package static func choices(of ids: [TakeID], in store: TakeStore) -> [String] {
        // Without them, a longer part of the id is shown.
        let all = (try? store.ids()) ?? ids
        let entries = ids.suffix(choiceLimit).map { TakeEntry($0, in: store) }
        return table(entries, among: all).lines(columns: StandardError.columns - 2)
    }

    /// Takes in columns, under names that no other of `all` has.
    package static func table(_ entries: [TakeEntry], among all: [TakeID]) -> TakeTable {
        let names = TakeNames(all).shortNames
        return TakeTable(
            entries.map { entry in
                TakeTable.Row(
                    name: entry.take.map { names[$0] ?? $0.text } ?? "-",
                    began: entry.began, state: entry.state,
                    length: entry.durationMs.map { .milliseconds(Int64($0)) }, words: entry.words)
            })
    }

    private var began: Date? {
        // Without a manifest the name says it, which the clock of an earlier take may have made.
        created.flatMap { try? Date($0, strategy: .iso8601) } ?? take?.date
    }

    package var isKept: Bool { state == TakeManifest.State.kept.rawValue }

    package var isTake: Bool { take != nil }

    /// Whether it is a take that has no answer yet.
    package var isWaiting: Bool {
        let states: [TakeManifest.State] = [.recording, .sealed, .sending, .kept]
        return states.map(\.rawValue).contains(state)
    }

    init(_ id: TakeID, in store: TakeStore) {
        self.id = id.text
        take = id
        let folder = "\(store.path)/\(id.text)"
        do throws(TakeStoreError) {
            let take = try store.take(id)
            let manifest = try take.manifest()
            // What cannot be looked at is nowhere.
            let isThere = (try? take.audioByteCount(fileName: manifest.audio)) != nil
            path = isThere ? "\(folder)/\(manifest.audio)" : nil
            state = manifest.state.rawValue
            created = manifest.created
            reason = manifest.isLocked ? Self.lock(of: take) : manifest.reason
            transcript = manifest.transcript
            durationMs = manifest.frames.map { Double($0) / 16 }
            attempts = manifest.attempts
            process = manifest.holder
            isDoubtful = manifest.isDoubtful
            isDead = manifest.state == .kept && !isThere
            // While a program lives, it holds the lock.
            if !manifest.isAtRest, !manifest.isLocked, (try? take.lock()) == true {
                take.unlock()
                isDead = true
                let deed = manifest.state == .recording ? "recording" : "sending"
                (process, reason) = (nil, "was \(deed) when its program ended")
            }
            mayBeDelivered = manifest.mayBeDelivered ? true : nil
        } catch {
            path = folder
            unreadable = error.description
            switch error {
            case .damaged: (state, isDead) = ("damaged", true)
            case .laterVersion: state = "later"
            default: (state, isDead) = ("unreadable", !store.hasManifest(id))
            }
        }
    }

    private init(_ name: String, _ state: String, in folder: String, _ words: String) {
        id = name
        take = nil
        self.state = state
        path = "\(folder)/\(name)"
        unreadable = words
    }

    /// Why nothing is said of an encrypted take; its name stands before it.
    private static func lock(of take: TakeFolder) -> String {
        if case .keyWrong = take.keyError { return "encrypted under another key" }
        return "encrypted, and no key was given"
    }

    private var words: String {
        if let unreadable {
            // The name of a take stands before it.
            let own = "take \(id) "
            if unreadable.hasPrefix(own) { return String(unreadable.dropFirst(own.count)) }
            return "\(id): \(unreadable)"
        }
        if let transcript { return transcript.isEmpty ? "heard nothing" : transcript }
        var parts: [String] = []
        if tooOld == true { parts.append("too old to be sent unasked") }
        if mayBeDelivered == true && isKept {
            let rest = isDoubtful ? ", and is not sent again unasked" : ""
            parts.append("may have been delivered" + rest)
        }
        if let reason { parts.append(Self.shortened(reason)) }
        if let process { parts.append("by process \(process)") }
        return parts.joined(separator: "; ")
    }

    /// A reason without the JSON that a service has answered.
    static func shortened(_ reason: String) -> String {
        let starts = ["{", "["].flatMap { ["'\($0)", ": \($0)"] }
        let start = starts.compactMap { reason.firstRange(of: $0)?.lowerBound }.min()
        guard let start else { return reason }
        let before = reason[..<start]
        let end = before.lastIndex { $0 != " " && $0 != ":" }
        return String(end.map { before[...$0] } ?? "") + "…"
    }
}
