// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Utter
import UtterTerminal

/// `utter list`: shows the takes on the disk.
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the takes on the disk, oldest first.",
        discussion: """
            What cannot be used is named too: a damaged take with the reason, what lies
            among the takes and is none as 'foreign', and takes that were moved out of
            the way as 'quarantined'.
            """)

    @Flag(help: "Print a JSON array.")
    var json = false

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    private struct Row: Encodable {
        var id, state: String
        /// Where its audio is; nil when that has been deleted.
        var path: String?
        var created, reason, transcript, unreadable: String?
        var durationMs: Double?
        var attempts: Int?
        var process: Int32?
        var mayBeDelivered, tooOld: Bool?
        var waited = Duration.zero
        var order: (String, String)

        enum CodingKeys: CodingKey {
            case id, path, state, created, reason, transcript, unreadable, durationMs, attempts
            case process, mayBeDelivered, tooOld
        }
    }

    func run() throws {
        let rows: [Row]
        do throws(CommandFailure) {
            let maxAge = try KeepOptions.maxAge()
            rows =
                try TakeLookup.store().map { store throws(CommandFailure) in
                    try Self.rows(store, maxAge)
                } ?? []
        } catch {
            throw Launch.exit(error)
        }
        guard json || !rows.isEmpty else { return }
        let text = json ? try Self.json(rows) : rows.map(Self.line).joined(separator: "\n")
        guard StandardOutput.print(text) else { throw ExitStatus.localIO.code }
        if !json { Self.tellAge(rows) }
    }

    private static func rows(
        _ store: TakeStore, _ maxAge: Duration
    ) throws(CommandFailure) -> [Row] {
        let times = WaitingTime(in: store)
        do throws(TakeStoreError) {
            let takes = try store.ids().map { id in
                var row = row(id, store)
                if row.state == TakeManifest.State.kept.rawValue {
                    row.waited = times.duration(of: id)
                    row.tooOld = row.waited >= maxAge ? true : nil
                }
                return row
            }.sorted { $0.order < $1.order }
            let foreign = try store.foreignNames().map {
                Row(
                    id: $0, state: "foreign", path: "\(store.path)/\($0)",
                    unreadable: "not a take; left alone",
                    order: ($0, ""))
            }
            let (folder, names) = store.quarantined()
            let quarantined = names.map {
                Row(
                    id: $0, state: "quarantined", path: "\(folder)/\($0)",
                    unreadable: (store.quarantineReason(of: $0) ?? "could not be used")
                        + "; look at it in \(folder)", order: ($0, ""))
            }
            return takes + foreign + quarantined
        } catch {
            throw CommandFailure(error)
        }
    }

    private static func row(_ id: TakeID, _ store: TakeStore) -> Row {
        let path = "\(store.path)/\(id.text)"
        do throws(TakeStoreError) {
            let take = try store.take(id)
            let manifest = try take.manifest()
            // What cannot be looked at is nowhere.
            let isThere = (try? take.audioByteCount(fileName: manifest.audio)) != nil
            return Row(
                id: id.text, state: manifest.state.rawValue,
                path: isThere ? "\(path)/\(manifest.audio)" : nil,
                created: manifest.created,
                reason: manifest.isLocked ? Self.lock(of: take) : manifest.reason,
                transcript: manifest.transcript,
                durationMs: manifest.frames.map { Double($0) / 16 }, attempts: manifest.attempts,
                process: manifest.holder, mayBeDelivered: manifest.mayBeDelivered ? true : nil,
                order: manifest.order)
        } catch {
            let state =
                switch error {
                case .damaged: "damaged"
                case .laterVersion: "later"
                default: "unreadable"
                }
            return Row(
                id: id.text, state: state, path: path, unreadable: error.description,
                order: (id.text, ""))
        }
    }

    /// Why nothing is said of an encrypted take; its name stands before it.
    private static func lock(of take: TakeFolder) -> String {
        if case .keyWrong = take.keyError { return "encrypted under another key" }
        return "encrypted, and no key was given"
    }

    private static func json(_ rows: [Row]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(rows), as: UTF8.self)
    }

    private static func line(_ row: Row) -> String {
        let length = row.durationMs.map { StatusLine.clock(.milliseconds(Int64($0))) } ?? "-:--"
        let holder = row.process.map { "by process \($0)" }
        let doubt = row.mayBeDelivered == true && row.state == "kept" ? "perhaps delivered; " : ""
        let age = row.tooOld == true ? "too old to be sent unasked; " : ""
        let words = row.unreadable ?? row.transcript ?? row.reason ?? holder ?? ""
        return TerminalText.singleLine(
            TerminalText.sanitized("\(row.id)  \(row.state)  \(length)  \(age)\(doubt)\(words)"))
    }

    /// Reminds of takes that have waited for longer than a week.
    private static func tellAge(_ rows: [Row]) {
        let waiting = rows.filter { $0.state == TakeManifest.State.kept.rawValue }
        let days = waiting.map { $0.waited.components.seconds / 86_400 }.max() ?? 0
        guard days >= 7 else { return }
        let count = waiting.count == 1 ? "1 take waits" : "\(waiting.count) takes wait"
        StandardError.line("\(count) for an answer, the oldest for \(days) days")
        let isOld = waiting.contains { $0.tooOld == true }
        StandardError.hint("send what waits with: utter \(isOld ? "retry all" : "flush")")
    }
}
