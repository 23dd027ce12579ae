// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter
import UtterTerminal

/// `utter last`: prints the last transcript once more.
struct LastCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "last", abstract: "Print the last transcript once more.")

    func run() throws {
        let text: String?
        do throws(CommandFailure) {
            let store = try TakeLookup.store()
            text = try TakeLookup.takes(in: store) { $0.state == .answered && $0.transcript != nil }
                .last?.transcript
        } catch {
            throw Launch.exit(error)
        }
        guard let text, !text.isEmpty else {
            throw Launch.exit(
                CommandFailure("there is no transcript yet", status: .heardNothing))
        }
        guard StandardOutput.print(TerminalText.sanitized(text)) else {
            throw ExitStatus.localIO.code
        }
    }
}
