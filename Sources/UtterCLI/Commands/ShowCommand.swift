// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter
import UtterTerminal

/// `utter show`: prints what is known of one take.
struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show what is known of a take.")

    @Argument(help: "A take's name or its beginning, or 'last'.")
    var take: String

    func run() throws {
        let folder: TakeFolder
        let manifest: TakeManifest
        do throws(CommandFailure) {
            folder = try TakeLookup.take(take)
            manifest = try TakeLookup.manifest(folder)
        } catch {
            throw Launch.exit(error)
        }
        var rows = [
            ("take", manifest.id.text), ("state", manifest.state.rawValue),
            ("begun", manifest.created), ("source", manifest.source), ("service", manifest.url),
            ("audio", "\(folder.path)/\(manifest.audio)"), ("format", manifest.format),
            ("attempts", "\(manifest.attempts)"),
        ]
        if let frames = manifest.frames {
            rows.append(("length", StatusLine.clock(.milliseconds(frames / 16))))
        }
        if let lost = manifest.gapFrames, lost > 0 { rows.append(("lost", "\(lost / 16) ms")) }
        if let hash = manifest.sha256 { rows.append(("sha256", hash)) }
        if let reason = manifest.reason { rows.append(("reason", reason)) }
        if let transcript = manifest.transcript { rows.append(("transcript", transcript)) }
        let lines = rows.map { name, value in
            name + String(repeating: " ", count: 12 - name.count)
                + TerminalText.singleLine(TerminalText.sanitized(value))
        }
        guard StandardOutput.print(lines.joined(separator: "\n")) else {
            throw ExitStatus.localIO.code
        }
    }
}
