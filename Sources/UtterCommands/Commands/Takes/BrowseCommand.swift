// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import LinuxPlatform
import Utter
internal import UtterTerminal

struct BrowseCommand: SettinglessCommand {
    static let configuration = CommandConfiguration(
        commandName: "browse", abstract: "Walk through the takes, and play, copy or edit them.",
        discussion: """
            Arrow keys or j and k choose a take, Enter or p plays it, c copies its text, r sends
            it again, e edits its text, d removes it and u brings it back, s shows it; / searches,
            Escape ends a search, q leaves. With --plain each step is a sentence.
            """)

    @Flag(help: "Say each step in a line, for a screen reader.")
    var plain = false

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    func run() throws {
        if plain { StandardError.bePlain() }
        guard plain || StandardError.isTerminal, let keys = KeyReader() else {
            throw CommandFailure(
                "there is no terminal whose keys could be read", hint: "see them with: utter list",
                status: .usage)
        }
        defer { keys.leave() }
        let screen = BrowseScreen(isPlain: plain)
        defer { screen.end() }
        var state = BrowseState()
        state.take(try rows())
        screen.show(state)
        while true {
            guard let key = keys.next(within: .milliseconds(500)) else {
                // The window may have another size.
                if !plain { screen.show(state) }
                continue
            }
            switch state.handle(key, page: screen.rows - 3) {
            case .quit: return
            case .nothing: continue
            case .changed: break
            case .act(let act, let id):
                screen.end()
                keys.leave()
                let (message, isToBeRead) = try carryOut(act, id)
                state.message = message
                if isToBeRead, !plain {
                    StandardError.line("\(message); a key goes back to the list")
                }
                keys.take()
                if isToBeRead, !plain { _ = keys.next(within: .seconds(3_600)) }
                // A take that was removed meanwhile is not there any more.
                state.take(try rows())
            }
            screen.show(state)
        }
    }

    private func rows() throws -> [BrowseState.Row] {
        let spool = try Spool(encryption)
        let all = try spool.takes()
        let now = LocalTime(ProgramStart.current.now)
        return all.reversed().map { take in
            let time = take.began.map { LocalTime($0).text(at: now) } ?? ""
            let length = take.length.map { StatusLine.clock($0) } ?? ""
            let known = take.known
            let text = known?.transcript ?? ""
            return BrowseState.Row(
                id: take.id.shortName,
                columns: [time, take.state.rawValue, length].filter { !$0.isEmpty }
                    .joined(separator: ", "),
                words: text.isEmpty ? take.reason ?? "(heard nothing)" : text,
                hasText: !text.isEmpty, hasSound: take.audioPath != nil)
        }
    }

    /// Does what a key asks for by the command of that name, which has the terminal meanwhile.
    ///
    /// - Returns: what came of it, in a sentence, and whether the command has said more.
    private func carryOut(
        _ act: BrowseState.Act, _ id: String
    ) throws -> (message: String, isToBeRead: Bool) {
        let words: [String]
        switch act {
        case .copy: return (try copy(id), false)
        case .remove: words = ["rm", id] + keyWords
        case .undo: words = ["rm", "--undo"] + keyWords
        case .play, .retry, .edit, .show: words = [act.rawValue, id] + keyWords
        }
        let terminal = ForegroundTerminal()
        defer { terminal?.takeBack() }
        let status = try orFailure { () throws(SystemError) in
            var process = try ChildProcess(
                "/proc/self/exe", ["utter"] + words, environment: Environment.all { _ in true },
                input: .shared(ProgramStart.current.input),
                output: .shared(ProgramStart.current.output), terminal: terminal?.number)
            return try process.status(by: .now + .seconds(7 * 86_400)) ?? 0
        }
        let name = "utter \(words.joined(separator: " "))"
        let end = status == 0 ? "done" : "it \(ChildProcess.end(by: status))"
        return ("\(name): \(end)", status != 0 || [.show, .retry].contains(act))
    }

    /// The key of encrypted takes, for another command.
    private var keyWords: [String] {
        (encryption.encryptKey.map { ["--encrypt-key", $0] } ?? [])
            + (encryption.encryptKeyCommand.map { ["--encrypt-key-command", $0] } ?? [])
    }

    private func copy(_ id: String) throws -> String {
        let take = try Spool(encryption).named(id)
        let text = TerminalText.sanitized(take.known?.transcript ?? "")
        let output = TextOutput([.clipboard], isUsual: false, form: .text, endsLines: false)
        let failures = output.give(text, printsUngiven: false) { _ in "" }
        return failures.last?.failure.message ?? "the text of \(id) is in the clipboard"
    }
}

/// The terminal as a list is seen on it, or heard from it.
private struct BrowseScreen {
    let isPlain: Bool

    /// The rows of the terminal.
    var rows: Int { isPlain ? 24 : StandardError.rows }

    func show(_ state: BrowseState) {
        guard !isPlain else { return StandardError.line(state.sentence) }
        let lines = state.lines(columns: StandardError.columns, rows: rows)
        let text = lines.map { line in
            (line.isSelected ? "\u{1B}[7m\(line.text)\u{1B}[0m" : line.text) + "\u{1B}[K"
        }
        StandardError.write(
            "\u{1B}[?1049h\u{1B}[?25l\u{1B}[H" + text.joined(separator: "\r\n") + "\u{1B}[J")
    }

    func end() {
        if !isPlain { StandardError.write("\u{1B}[?25h\u{1B}[?1049l") }
    }
}
