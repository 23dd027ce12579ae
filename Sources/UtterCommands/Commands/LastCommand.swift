// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter

/// `utter last`: prints the last transcript once more.
struct LastCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "last", abstract: "Print the last transcript again.",
        discussion: "A take in which nothing was heard has none.")

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    func run() throws {
        let text: String?
        do throws(CommandFailure) {
            let lookup = try TakeLookup(encryption)
            let store = try lookup.store()
            let last = try TakeLookup.takes(in: store) {
                $0.state == .answered && ($0.transcript?.isEmpty == false || $0.isLocked)
            }.last
            if let last { try lookup.checkKey(of: last) }
            text = last?.transcript
        } catch {
            throw Launch.exit(error)
        }
        guard let text else {
            throw Launch.exit(
                CommandFailure("there is no transcript yet", status: .heardNothing))
        }
        guard StandardOutput.print(TerminalText.sanitized(text)) else {
            throw ExitStatus.localIO.code
        }
    }
}
