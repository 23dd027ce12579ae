// SPDX-License-Identifier: Apache-2.0

internal import Downloads
internal import Utter
internal import UtterTerminal

/// An entry of `utter list`: a take, or something that lies where takes are.
///
/// Its members are those of `--json`.
struct TakeEntry: Encodable {
    let id: String
    let state: String
    /// Where its audio is; nil when that has been deleted.
    var path: String?
    var created, reason, transcript, unreadable: String?
    var durationMs: Double?
    var attempts: Int?
    var process: Int32?
    var mayBeDelivered: Bool?
    /// Whether it is too old to be sent unasked.
    private(set) var tooOld: Bool?
    /// Where it is archived, and whether that is still to come.
    private(set) var archive: String?
    private(set) var isQueued: Bool?
    /// The URL of a download.
    private(set) var url: String?
    private(set) var bytes, totalBytes: Int?
    /// The take; nil for an entry that is not one.
    let take: KeptTake?

    enum CodingKeys: CodingKey {
        case id, path, state, created, reason, transcript, unreadable, durationMs, attempts
        case process, mayBeDelivered, tooOld, archive, isQueued, url, bytes, totalBytes
    }

    private static let choiceLimit = 10

    /// All entries: foreign files, takes that were moved out of the way, and then all takes,
    /// oldest first.
    static func all(in spool: Spool, maxAge: Duration) throws(TakeStoreError) -> [TakeEntry] {
        guard let store = try spool.existing() else { return [] }
        let takes = try spool.takes().map { TakeEntry($0, in: spool, maxAge: maxAge) }
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

    /// The entry of an abandoned take while it is recovered.
    var beingRecovered: TakeEntry {
        var entry = self
        if take?.isAbandoned == true, isWaiting, !isKept { entry.reason? += "; being recovered" }
        return entry
    }

    static func choices(of ids: [TakeID], in spool: Spool) -> [String] {
        // Without them, a longer part of the id is shown.
        let all = (try? spool.takes()) ?? []
        let entries = all.filter { ids.suffix(choiceLimit).contains($0.id) }
            .map { TakeEntry($0, in: spool) }
        return table(entries, among: all.map(\.id)).lines(columns: StandardError.columns - 2)
    }

    /// Takes in columns, under names that no other of `all` has.
    static func table(_ entries: [TakeEntry], among all: [TakeID]) -> TakeTable {
        let names = TakeNames(all).shortNames
        return TakeTable(
            entries.map { entry in
                TakeTable.Row(
                    name: entry.take.map { names[$0.id] ?? $0.id.text } ?? "-",
                    began: entry.take?.began, state: entry.state,
                    length: entry.take?.length, words: entry.words)
            })
    }

    var isKept: Bool { take?.state == .kept }

    /// Whether it is a take that has no answer yet.
    var isWaiting: Bool { take?.isWaiting ?? false }

    init(_ take: KeptTake, in spool: Spool, maxAge: Duration? = nil) {
        self.take = take
        id = take.id.text
        (state, path) = (take.state.rawValue, take.audioPath)
        guard let manifest = take.known else {
            (path, unreadable) = ("\(spool.folder)/takes/\(id)", take.reason)
            return
        }
        (created, reason, transcript) = (manifest.created, take.reason, take.transcript)
        durationMs = manifest.frames.map { Double($0) / 16 }
        attempts = take.attempts
        process = take.isAbandoned ? nil : manifest.holder
        mayBeDelivered = take.mayBeDelivered ? true : nil
        archive = manifest.archive?.place
        isQueued = archive != nil && spool.isToBeArchived(take) ? true : nil
        tooOld = maxAge.map { isKept && take.waited >= $0 } == true ? true : nil
    }

    init(_ download: KeptDownload) {
        (id, state, take) = (download.id, download.state.rawValue, nil)
        (path, reason, url) = (download.path, download.reason, download.url)
        (bytes, totalBytes) = (download.byteCount, download.total)
    }

    private init(_ name: String, _ state: String, in folder: String, _ words: String) {
        id = name
        take = nil
        self.state = state
        path = "\(folder)/\(name)"
        unreadable = words
    }

    private var words: String {
        if let unreadable {
            // The name of a take stands before it.
            let own = "take \(id) "
            if unreadable.hasPrefix(own) { return String(unreadable.dropFirst(own.count)) }
            return "\(id): \(unreadable)"
        }
        let isWhole = take?.known?.lacksEnd != true
        if let transcript {
            return (isWhole ? "" : "(not whole) ")
                + (transcript.isEmpty ? "heard nothing" : transcript)
        }
        var parts = isWhole ? [] : ["not whole"]
        if tooOld == true { parts.append("too old to be sent unasked") }
        if mayBeDelivered == true && isKept {
            let rest = take?.known?.isDoubtful == true ? ", and is not sent again unasked" : ""
            let part = take?.known?.stretches.isEmpty == false ? "a part of it " : ""
            parts.append(part + "may have been delivered" + rest)
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
