// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import Downloads
import Utter
internal import UtterTerminal

struct ListCommand: SettinglessCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the takes on the disk, the newest last.",
        discussion: """
            A line is a part of the id by which the take can be named, when it began and
            how long ago, its state, its length, and what was understood or went wrong;
            on a terminal it is cut to the width. Scripts read --json.
            What cannot be used is listed too: a take that is 'damaged' or 'unreadable', with
            the reason; one that a 'later' version has written; a file among the takes that is
            'foreign'; and a take without audio that was moved away, as 'quarantined'. Where
            the programs of many takes died, these are 'being recovered' behind the list.
            Downloads ('utter fetch') stand behind all takes, on standard error; --json has those
            in an entry of their own each, with 'url'.
            """)

    @Option(
        name: [.customShort("n"), .customLong("newest")],
        help: ArgumentHelp("List only this many takes, the newest.", valueName: "count"))
    var newest: Int?

    @Flag(help: "List only takes that wait for an answer.")
    var waiting = false

    @Option(
        help: ArgumentHelp(
            "List only takes in whose transcript this regular expression is found, whatever the "
                + "case of its letters.", valueName: "pattern"))
    var grep: String?

    @Flag(help: "Have the texts of these takes go through words, rules and filter again.")
    var again = false

    @Flag(help: "Print a JSON array.")
    var json = false

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    func validate() throws {
        if let newest, newest < 1 { throw ValidationError("--newest must be above zero.") }
        if let grep { _ = try Self.expression(grep) }
    }

    private static func expression(_ pattern: String) throws -> Regex<AnyRegexOutput> {
        do {
            return try Regex(pattern).ignoresCase()
        } catch {
            throw ValidationError("--grep: '\(pattern)' is not a regular expression.")
        }
    }

    /// As many takes of dead programs are recovered before the list is printed, as takes a moment.
    static let quickCount = 16
    private static let quickBytes = 64 << 20

    func run() throws {
        let maxAge = try KeepOptions.maxAge()
        let spool = try Spool(encryption)
        var entries = try TakeEntry.all(in: spool, maxAge: maxAge)
        var dead = entries.compactMap(\.take).filter(\.isAbandoned)
        if Self.isQuick(dead) {
            try spool.recover(dead)
            if !dead.isEmpty { entries = try TakeEntry.all(in: spool, maxAge: maxAge) }
            dead = []
        } else {
            entries = entries.map(\.beingRecovered)
        }
        let downloads = Downloads(in: spool.folder).all()
        if json { entries += downloads.map { TakeEntry($0) } }
        var chosen = try chosen(entries)
        if again {
            let (rules, filter) = (try TextSettings.rules(), try TextSettings.filter())
            let takes = chosen.compactMap(\.take)
            var (count, refusals) = (0, Set<String>())
            for take in takes {
                let (isChanged, refusal) = try spool.apply(rules, filter, to: take)
                count += isChanged ? 1 : 0
                if let refusal, refusals.insert(refusal).inserted {
                    StandardError.line("warning: \(take.id.shortName): \(refusal)")
                }
            }
            let ids = Set(takes.map(\.id))
            chosen = try TakeEntry.all(in: spool, maxAge: maxAge)
                .filter { $0.take.map { ids.contains($0.id) } == true }
            StandardError.line("texts changed: \(count) of \(takes.count)")
        }
        if json {
            try StandardOutput.show(JSONOutput.text(chosen, isPretty: true))
        } else {
            if !chosen.isEmpty {
                let table = TakeEntry.table(chosen, among: entries.compactMap(\.take?.id))
                let lines = table.lines(columns: StandardOutput.columns)
                try StandardOutput.show(lines.joined(separator: "\n"))
                Self.tellAge(entries)
            }
            let unqueued = entries.count { $0.take.map(spool.isUnqueued) ?? false }
            ArchiveReport(of: spool, unqueued: unqueued).lines.tell()
            if !isChosen { Self.tell(downloads) }
        }
        if grep != nil {
            entries.filter { !waiting || $0.isWaiting }.compactMap(\.take).tellLocked()
        }
        guard !dead.isEmpty else { return }
        StandardError.line("recovering \(dead.count) recordings whose program ended")
        try spool.recover(dead)
    }

    private static func isQuick(_ dead: [KeptTake]) -> Bool {
        dead.count <= quickCount && dead.reduce(0) { $0 + ($1.audioByteCount ?? 0) } <= quickBytes
    }

    private static func tell(_ downloads: [KeptDownload]) {
        for download in downloads { StandardError.line(download.line) }
        guard let failed = downloads.last(where: { $0.state == .failed }) else { return }
        StandardError.hint("take a failed download off the list with: utter rm \(failed.id)")
    }

    /// Whether some takes are asked for, in place of all that is there.
    private var isChosen: Bool { waiting || newest != nil || grep != nil }

    private func chosen(_ entries: [TakeEntry]) throws -> [TakeEntry] {
        guard isChosen else { return entries }
        let expression = try grep.map { try Self.expression($0) }
        let takes = entries.filter { entry in
            entry.take != nil && (!waiting || entry.isWaiting)
                && expression.map { entry.transcript?.contains($0) ?? false } ?? true
        }
        return takes.suffix(newest ?? takes.count)
    }

    /// Reminds of takes that have waited for longer than a week.
    private static func tellAge(_ entries: [TakeEntry]) {
        let waiting = entries.filter(\.isKept)
        let days = (waiting.compactMap { $0.take?.waited.components.seconds }.max() ?? 0) / 86_400
        guard days >= 7 else { return }
        let count = waiting.count == 1 ? "1 take waits" : "\(waiting.count) takes wait"
        StandardError.line("\(count) for an answer, the oldest for \(days) days")
        let isOld = waiting.contains { $0.tooOld == true }
        StandardError.hint("send what waits with: utter \(isOld ? "retry all" : "flush")")
    }
}
