// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Utter
import UtterTerminal

/// `utter list`: shows the takes on the disk.
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the takes on the disk, oldest first.")

    @Flag(help: "Print a JSON array.")
    var json = false

    private struct Row: Encodable {
        var id, path: String
        var state, created, reason, transcript, unreadable: String?
        var durationMs: Double?
    }

    func run() throws {
        let rows: [Row]
        do throws(CommandFailure) {
            let store = try TakeLookup.store()
            rows = try Self.rows(store)
        } catch {
            throw Launch.exit(error)
        }
        guard json || !rows.isEmpty else { return }
        let text = json ? try Self.json(rows) : rows.map(Self.line).joined(separator: "\n")
        guard StandardOutput.print(text) else { throw ExitStatus.localIO.code }
    }

    private static func rows(_ store: TakeStore) throws(CommandFailure) -> [Row] {
        do throws(TakeStoreError) {
            return try store.ids().map { row($0, store) }
        } catch {
            throw CommandFailure(error)
        }
    }

    private static func row(_ id: TakeID, _ store: TakeStore) -> Row {
        let path = "\(store.path)/\(id.text)"
        do throws(TakeStoreError) {
            let manifest = try store.take(id).manifest()
            return Row(
                id: id.text, path: "\(path)/\(manifest.audio)", state: manifest.state.rawValue,
                created: manifest.created, reason: manifest.reason,
                transcript: manifest.transcript,
                durationMs: manifest.frames.map { Double($0) / 16 })
        } catch {
            return Row(id: id.text, path: path, unreadable: error.description)
        }
    }

    private static func json(_ rows: [Row]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(rows), as: UTF8.self)
    }

    private static func line(_ row: Row) -> String {
        let length = row.durationMs.map { StatusLine.clock(.milliseconds(Int64($0))) } ?? "-:--"
        let words = row.unreadable ?? row.transcript ?? row.reason ?? ""
        return
            "\(row.id)  \(row.state ?? "damaged")  \(length)  \(TerminalText.singleLine(TerminalText.sanitized(words)))"
    }
}
