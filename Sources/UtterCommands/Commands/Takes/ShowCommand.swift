// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter
internal import UtterTerminal

struct ShowCommand: SettinglessCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show what is known of a take.",
        discussion: """
            On a terminal a recording of up to ten minutes is drawn, with its words below it.

            --html writes one file that a browser shows, and that loads nothing: the wave, the
            sound, the words by time, partial texts and requests. Longer recordings than 30
            minutes have their sound in a file beside it.
            """)

    @Argument(help: "A part of a take's id, 'last', or 'last~2'.", completion: .takes)
    var take = "last"

    @Flag(help: "Print one JSON object; its path names the audio while it is there.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print the format and the audio's SHA-256 too.")
    var verbose = false

    @Flag(help: "Write a page for a browser, to the file that --output names.")
    var html = false

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The page, a file that must not exist.", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Write the page of an encrypted take, which is not encrypted.")
    var decrypt = false

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    func validate() throws {
        guard html == (output != nil) else {
            throw ValidationError("A page needs --html and the file: --html -o take.html.")
        }
        if json && html { throw ValidationError("--json and --html cannot be used together.") }
    }

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
        if let output {
            return try TakePage.write(take, of: spool, to: output, decrypts: decrypt)
        }
        let text: String
        if json {
            text = JSONOutput.text(Report(manifest: manifest, path: take.audioPath), isPretty: true)
        } else {
            let report = TakeReport(
                manifest, audio: take.audioPath,
                isQueued: spool.isToBeArchived(take),
                isVerbose: verbose)
            let picture = StandardOutput.columns.map { Self.picture(of: take, in: spool, $0) } ?? []
            text = (report.lines(columns: StandardOutput.columns) + picture)
                .joined(separator: "\n")
        }
        try StandardOutput.show(text)
    }
}

extension ShowCommand {
    /// A longer one takes a while to be read.
    private static let longestPicture = 600 * 16_000

    /// The wave in a row of blocks, and below it each word where it begins, as far as there is room.
    private static func picture(of take: KeptTake, in spool: Spool, _ columns: Int) -> [String] {
        // Without the sound there is no picture, and the rest is shown all the same.
        guard take.audioPath != nil, let manifest = try? take.manifest.get(),
            let frames = manifest.frames, frames > 0, frames <= longestPicture,
            // The same.
            let waveform = try? Waveform(spool.samples(of: take), frames: frames, parts: columns)
        else { return [] }
        var (words, width) = ("", 0)
        let timed = TimedText(manifest.transcript ?? "", manifest.story?.pieces ?? [])
        for part in timed.parts {
            guard let start = part.start else { continue }
            let text = TerminalText.singleLine(TerminalText.sanitized(part.text))
            let place = Int(start / waveform.length * Double(columns))
            guard place >= width, place + TextWidth.columns(of: text) <= columns else { continue }
            words += String(repeating: " ", count: place - width) + text
            width = place + TextWidth.columns(of: text) + 1
            words += " "
        }
        return ["", waveform.row] + (words.isEmpty ? [] : [words])
    }
}

struct LastCommand: SettinglessCommand {
    static let configuration = CommandConfiguration(
        commandName: "last", abstract: "Print the last transcript again.",
        discussion: """
            A take in which nothing was heard has none. With -n the last ones are printed,
            the newest last. -o, --copy, --type and --run give the text to another place.
            """)

    @Argument(
        help: "A part of a take's id; without it, the newest that has a text.", completion: .takes)
    var take: String?

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
        guard take == nil || newest == 1 else {
            throw ValidationError("--newest and the name of a take cannot be used together.")
        }
        guard [json, raw, explain].count(where: { $0 }) < 2 else {
            throw ValidationError("--json, --raw and --explain cannot be used together.")
        }
    }

    func run() throws {
        let places = try TextOutput(texts, form: json ? .object : .text)
        let takes = try takes()
        guard let last = takes.last else {
            throw CommandFailure("there is no transcript yet", status: .heardNothing)
        }
        let transcripts = takes.map { take in
            let text = raw ? take.raw ?? take.unedited ?? take.transcript : take.transcript
            return TerminalText.sanitized(explain ? take.explanation : text ?? "")
        }.filter { !$0.isEmpty }
        guard !transcripts.isEmpty else {
            let (name, isEdited) = (last.id.shortName, last.unedited != nil)
            throw CommandFailure(
                isEdited ? "the text of take \(name) is empty" : "take \(name) has no text",
                hint: isEdited
                    ? "see the text before you edited it with: utter last --raw \(name)"
                    : "see what became of it with: utter show \(name)", status: .heardNothing)
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
        let named = try take.map { [try spool.named($0)] }
        let takes =
            try named
            ?? spool.newest(newest, mayBe: { $0.known?.wasAnswered == true }) {
                // A text that the person has emptied is the last one all the same.
                $0.state == .answered
                    && ($0.transcript?.isEmpty == false || $0.lock != nil
                        || $0.known?.unedited != nil)
            }
        if let lock = takes.compactMap(\.lock).first { throw lock }
        return try takes.reversed().map { try $0.manifest.get() }
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
