// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter
internal import UtterTerminal

struct ShowCommand: SettinglessCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show what is known of a take.")

    @Argument(help: "A part of a take's id, 'last', or 'last~2'.", completion: .takes)
    var take = "last"

    @Flag(help: "Print one JSON object; its path names the audio while it is there.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print the format and the audio's SHA-256 too.")
    var verbose = false

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

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
        let spool = try Spool(encryption)
        let take = try spool.named(take)
        let manifest = try take.manifest.get()
        let text: String
        if json {
            text = JSONOutput.text(Report(manifest: manifest, path: take.audioPath), isPretty: true)
        } else {
            let report = TakeReport(
                manifest, audio: take.audioPath,
                isQueued: spool.isToBeArchived(take),
                isVerbose: verbose)
            text = report.lines(columns: StandardOutput.columns).joined(separator: "\n")
        }
        try StandardOutput.show(text)
    }
}

struct LastCommand: SettinglessCommand {
    static let configuration = CommandConfiguration(
        commandName: "last", abstract: "Print the last transcript again.",
        discussion: """
            A take in which nothing was heard has none. With -n the last ones are printed,
            the newest last. -o, --copy, --type and --run give the text to another place.
            """)

    @Option(
        name: [.customShort("n"), .customLong("newest")],
        help: ArgumentHelp("Print this many transcripts.", valueName: "count"))
    var newest = 1

    @Flag(help: "Print a JSON array of what is known of these takes.")
    var json = false

    @Flag(help: "Print the text as the service wrote it, before any rule.")
    var raw = false

    @Flag(help: "Print what each rule has changed, instead of the text.")
    var explain = false

    @OptionGroup(title: "Text")
    var texts: TextOptions

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    func validate() throws {
        guard newest > 0 else { throw ValidationError("--newest must be above zero.") }
        guard [json, raw, explain].count(where: { $0 }) < 2 else {
            throw ValidationError("--json, --raw and --explain exclude each other.")
        }
    }

    func run() throws {
        let places = try TextOutput(texts, form: json ? .object : .text)
        let takes = try takes()
        guard !takes.isEmpty else {
            throw CommandFailure("there is no transcript yet", status: .heardNothing)
        }
        let transcripts = takes.map { take in
            let text = raw ? take.raw ?? take.transcript : take.transcript
            return TerminalText.sanitized(explain ? take.explanation : text ?? "")
        }
        let failures = places.give(transcripts.joined(separator: "\n")) { _ in
            JSONOutput.text(takes, isPretty: true)
        }
        guard let (_, failure) = failures.last else { return }
        for (_, other) in failures.dropLast() { StandardError.error(other.message) }
        throw failure
    }

    private func takes() throws -> [TakeManifest] {
        let spool = try Spool(encryption)
        let takes = try spool.newest(newest, mayBe: { $0.known?.wasAnswered == true }) {
            $0.state == .answered && ($0.transcript?.isEmpty == false || $0.lock != nil)
        }
        if let lock = takes.compactMap(\.lock).first { throw lock }
        return takes.reversed().compactMap(\.known)
    }
}

extension TakeManifest {
    /// A line for each change that a rule, or the person, has made to the text.
    fileprivate var explanation: String {
        func line(_ rule: String, _ said: String, _ written: String) -> String {
            let result = written.isEmpty ? "left out" : "“\(written.shownBreaks)”"
            return "\(rule): “\(said.shownBreaks)” → \(result)"
        }
        let edit = unedited.map { line("edit", $0, transcript ?? "") }
        let lines =
            (changes ?? []).map { line($0.rule.rawValue, $0.said, $0.written) }
            + (edit.map { [$0] } ?? [])
        return lines.isEmpty
            ? "no rule has changed the text of take \(id.shortName)" : lines.joined(separator: "\n")
    }
}

extension String {
    fileprivate var shownBreaks: String { replacing("\n", with: "⏎") }
}

struct PlayCommand: AsyncParsableCommand, SettinglessCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Play a take's audio; Ctrl-C stops it.",
        discussion: "It plays by pw-play, paplay or aplay, whichever is installed.")

    @Argument(help: "A part of a take's id, 'last', or 'last~2'.", completion: .takes)
    var take = "last"

    @Option(
        name: [.long, .customShort("D")],
        help: ArgumentHelp(
            "The ALSA device on which aplay plays; see 'utter devices --playback'.",
            valueName: "name"),
        completion: .loudspeakers)
    var device: String?

    @Flag(name: .shortAndLong, help: "Show no position.")
    var quiet = false

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    func run() async throws {
        let spool = try Spool(encryption)
        let take = try spool.named(take)
        let status = try TakePlayback(on: device, isQuiet: quiet).play(take, of: spool)
        if status != .textPrinted { throw status.code }
    }
}
