// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
internal import LinuxPlatform
internal import Utter
internal import UtterTerminal

struct EditCommand: SettinglessCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Correct the text of a take in your editor.",
        discussion: """
            It opens the text with $VISUAL or $EDITOR, and keeps both: 'utter last' prints the new
            one, 'utter last --explain' both. A word that you correct twice is one that
            'utter words suggest' proposes for your list.
            """)

    @Argument(help: "A part of a take's id, 'last', or 'last~2'.", completion: .takes)
    var take = "last"

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    private static let script = #"${VISUAL:-${EDITOR:-vi}} "$1""#

    func run() throws {
        let spool = try Spool(encryption)
        let take = try spool.named(take)
        if let lock = take.lock { throw lock }
        let manifest = try take.manifest.get()
        guard manifest.state == .answered,
            let text = manifest.transcript ?? manifest.unedited.map({ _ in "" })
        else {
            throw CommandFailure(
                "take \(take.id.shortName) has no text",
                hint: "see what became of it with: utter show \(take.id.shortName)",
                status: .heardNothing)
        }
        let new = try edited(text, isSecret: manifest.isEncrypted)
        guard new != text else { return StandardError.line("the text is as it was") }
        guard try spool.edit(take, to: new) else {
            throw CommandFailure(
                "another process has take \(take.id.shortName)",
                hint: "what you have written: \(TerminalText.shown(new))", status: .notDelivered)
        }
        guard !new.isEmpty else {
            return StandardError.line("the take has no text now; the old one: utter last --explain")
        }
        try StandardOutput.show(new)
    }

    /// The text as the person leaves it, in a file that is gone then.
    private func edited(_ text: String, isSecret: Bool) throws(CommandFailure) -> String {
        let folder = Environment[filled: "XDG_RUNTIME_DIR"]
        guard let folder = folder ?? (isSecret ? nil : Environment[filled: "TMPDIR"] ?? "/tmp")
        else {
            throw CommandFailure(
                "there is no folder in memory for the text of an encrypted take",
                hint: "set XDG_RUNTIME_DIR to one", status: .configuration)
        }
        let file = try orFailure {
            try TextFile(Array((text + "\n").utf8), named: "edit", in: folder)
        }
        let terminal = ForegroundTerminal()
        defer { terminal?.takeBack() }
        let status = try orFailure { () throws(SystemError) in
            var process = try ChildProcess(
                "/bin/sh", ["sh", "-c", Self.script, "sh", file.path],
                environment: ScrubbedEnvironment.entries(),
                input: .shared(ProgramStart.current.input),
                output: .shared(ProgramStart.current.output), terminal: terminal?.number)
            return try process.status(by: .now + .seconds(7 * 86_400)) ?? 0
        }
        guard status == 0 else {
            throw CommandFailure(
                "the editor \(ChildProcess.end(by: status)); the text is as it was",
                hint: "an editor is named by VISUAL or EDITOR", status: .configuration)
        }
        let bytes = try explained("the editor has left no file", status: .localIO) {
            try readFile(file.path, limit: 1 << 20)
        }
        let lines = TerminalText.sanitized(String(decoding: bytes, as: UTF8.self))
        return String(lines.reversed().drop(while: \.isWhitespace).reversed())
    }
}
