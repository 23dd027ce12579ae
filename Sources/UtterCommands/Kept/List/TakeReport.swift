// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import LinuxPlatform
internal import Utter
internal import UtterTerminal

/// The facts of one take, for a person: a name and a value on each line.
struct TakeReport {
    private static let indent = 12

    private let rows: [(name: String, value: String)]

    init(_ manifest: TakeManifest, audio: String?, isQueued: Bool, isVerbose: Bool) {
        let now = LocalTime(ProgramStart.current.now)
        var rows = [("take", manifest.id.text), ("state", manifest.state.rawValue)]
        if let began = Self.date(manifest.created) {
            let age = LocalTime(began).age(at: now)
            let ago = age.map { $0 == "now" ? ", just now" : ", \($0) ago" } ?? ""
            rows.append(("started", LocalTime(began).exact + ago))
        }
        if !manifest.isLocked { rows.append(("source", manifest.source)) }
        rows += [("service", manifest.lastURL), ("audio", audio ?? "deleted")]
        if isVerbose { rows.append(("format", manifest.format)) }
        rows.append(("attempts", "\(manifest.attempts)"))
        rows += (manifest.history ?? []).map { transfer in
            let status = transfer.status.map { " \($0)" } ?? ""
            let ending = transfer.ending ?? "not known: the program died, or still runs"
            let target = transfer.url.map { ", by \($0)" } ?? ""
            let time = Self.date(transfer.begun).map { LocalTime($0).exact } ?? transfer.begun
            return ("  \(transfer.number)", "\(time)  \(ending)\(status)\(target)")
        }
        if manifest.mayBeDelivered {
            let rest = manifest.isDoubtful ? "; it is not sent again unasked" : ""
            let isOpen = manifest.history?.last.map { $0.ending == nil } ?? false
            let reason =
                isOpen
                ? "the program ended before an answer came"
                : (manifest.stretches.isEmpty ? "all" : "a part")
                    + " of it was sent, and no answer came"
            rows.append(("delivered", "perhaps: \(reason)\(rest)"))
        }
        if manifest.isEncrypted {
            rows.append(("encrypted", manifest.isLocked ? "yes; the right key is missing" : "yes"))
        }
        if let archive = manifest.archive {
            rows.append(("archive", archive.place + (isQueued ? ", not stored yet" : "")))
        }
        if let holder = manifest.holder { rows.append(("process", "\(holder)")) }
        if let frames = manifest.frames {
            let lack =
                manifest.lacksEnd == true ? ", not whole: its end is not on the disk" : ""
            rows.append(("length", StatusLine.clock(.milliseconds(frames / 16)) + lack))
        }
        let stretches = manifest.stretches.map { stretch in
            let twice = stretch.overlap > 0 ? " (\(stretch.overlap / 16) ms twice)" : ""
            return StatusLine.clock(.seconds(stretch.beginning)) + twice
                + (stretch.isUnheard ? " (nothing heard)" : "")
        }
        if !stretches.isEmpty {
            let beginnings = stretches.joined(separator: ", ")
            rows.append(("stretches", "\(stretches.count), from \(beginnings)"))
        }
        if let lost = manifest.gapFrames, lost > 0 { rows.append(("lost", "\(lost / 16) ms")) }
        for pause in manifest.pauses ?? [] {
            let end = pause.ended.flatMap(Self.date).map { " until \(LocalTime($0).exact)" } ?? ""
            let begin = Self.date(pause.begun).map { LocalTime($0).exact } ?? pause.begun
            let place = StatusLine.clock(.milliseconds(pause.frame / 16))
            rows.append(("paused", "behind \(place), at \(begin)\(end)"))
        }
        if isVerbose, let hash = manifest.sha256 { rows.append(("sha256", hash)) }
        if let reason = manifest.reason { rows.append(("reason", reason)) }
        if let transcript = manifest.transcript {
            rows.append(("transcript", transcript.isEmpty ? "(heard nothing)" : transcript))
        }
        if let raw = manifest.raw ?? manifest.unedited { rows.append(("raw", raw)) }
        self.rows = rows.map { ($0, TerminalText.singleLine(TerminalText.sanitized($1))) }
    }

    /// Values go on below their beginning where they are longer than `columns`; nil breaks none.
    ///
    /// A word that is longer, such as a path, stays whole, since it will be copied.
    func lines(columns: Int?) -> [String] {
        rows.flatMap { name, value in
            let blank = String(repeating: " ", count: Self.indent)
            let folded = columns.map { TextWidth.folded(value, columns: $0 - Self.indent) } ?? value
            let pieces = folded.split(separator: "\n", omittingEmptySubsequences: false)
            return pieces.enumerated().map { index, piece in
                (index == 0 ? TextWidth.padded(name + " ", to: Self.indent) : blank) + piece
            }
        }
    }

    private static func date(_ text: String) -> Date? {
        // An unreadable date is none.
        try? Date(text, strategy: .iso8601)
    }
}
