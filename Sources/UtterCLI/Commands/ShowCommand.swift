// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Utter
import UtterTerminal

/// `utter show`: prints what is known of one take.
struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show what is known of a take.")

    @Argument(help: "A take's name or its beginning, or 'last'.", completion: .takes)
    var take: String

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    /// The manifest, and where the audio is, if it is.
    private struct Report: Encodable {
        let manifest: TakeManifest
        let path: String?

        enum CodingKeys: CodingKey { case path }

        func encode(to encoder: any Encoder) throws {
            try manifest.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(path, forKey: .path)
        }
    }

    func run() throws {
        let folder: TakeFolder
        let manifest: TakeManifest
        do throws(CommandFailure) {
            folder = try TakeLookup.take(take)
            manifest = try TakeLookup.manifest(folder)
        } catch {
            throw Launch.exit(error)
        }
        // Playing and sending say why it cannot be read.
        let isThere = (try? folder.audioByteCount(fileName: manifest.audio)) != nil
        let path = isThere ? "\(folder.path)/\(manifest.audio)" : nil
        let text: String
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            let report = Report(manifest: manifest, path: path)
            text = String(decoding: try encoder.encode(report), as: UTF8.self)
        } else {
            text = Self.lines(manifest, audio: path)
        }
        guard StandardOutput.print(text) else { throw ExitStatus.localIO.code }
    }

    private static func lines(_ manifest: TakeManifest, audio: String?) -> String {
        var rows = [
            ("take", manifest.id.text), ("state", manifest.state.rawValue),
            ("begun", manifest.created),
        ]
        if !manifest.isLocked { rows.append(("source", manifest.source)) }
        rows += [
            ("service", manifest.lastURL), ("audio", audio ?? "deleted"),
            ("format", manifest.format), ("attempts", "\(manifest.attempts)"),
        ]
        rows += (manifest.history ?? []).map { transfer in
            let status = transfer.status.map { " \($0)" } ?? ""
            let ending = transfer.ending ?? "its process died, or runs"
            let target = transfer.url.map { ", by \($0)" } ?? ""
            return ("  \(transfer.number)", "\(transfer.begun) \(ending)\(status)\(target)")
        }
        if manifest.mayBeDelivered {
            rows.append(("delivered", "perhaps: all was sent, and no answer came"))
        }
        if manifest.isEncrypted {
            rows.append(("encrypted", manifest.isLocked ? "yes; the right key is missing" : "yes"))
        }
        if let holder = manifest.holder { rows.append(("process", "\(holder)")) }
        if let frames = manifest.frames {
            rows.append(("length", StatusLine.clock(.milliseconds(frames / 16))))
        }
        if let lost = manifest.gapFrames, lost > 0 { rows.append(("lost", "\(lost / 16) ms")) }
        if let hash = manifest.sha256 { rows.append(("sha256", hash)) }
        if let reason = manifest.reason { rows.append(("reason", reason)) }
        if let file = manifest.unreadAnswer { rows.append(("answer", file)) }
        if let transcript = manifest.transcript { rows.append(("transcript", transcript)) }
        let lines = rows.map { name, value in
            name + String(repeating: " ", count: max(1, 12 - name.count))
                + TerminalText.singleLine(TerminalText.sanitized(value))
        }
        return lines.joined(separator: "\n")
    }
}
