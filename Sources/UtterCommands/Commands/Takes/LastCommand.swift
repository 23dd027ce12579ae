// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter
internal import UtterTerminal

struct LastCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "last", abstract: "Print the last transcript again.",
        discussion: """
            A take in which nothing was heard has none. With -n the last ones are printed,
            the newest last. -o, --copy, --type and --run give the text to another place.
            """)

    @Option(
        name: [.customShort("n"), .customLong("newest")],
        help: ArgumentHelp("Print so many transcripts.", valueName: "count"))
    var newest = 1

    @Flag(help: "Print a JSON array of what is known of these takes.")
    var json = false

    @OptionGroup(title: "Text")
    var texts: TextOptions

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    func validate() throws {
        guard newest > 0 else { throw ValidationError("--newest must be above zero.") }
    }

    func run() throws {
        let places = try TextOutput(texts, form: json ? .object : .text)
        let takes = try takes()
        guard !takes.isEmpty else {
            throw CommandFailure("there is no transcript yet", status: .heardNothing)
        }
        let transcripts = takes.map { TerminalText.sanitized($0.transcript ?? "") }
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
