// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
internal import LinuxPlatform
internal import UtterSettings
internal import UtterTerminal

struct ConfigCommand: ParsableCommand {
    enum Action: String, CaseIterable, ExpressibleByArgument {
        case path, show, check, edit
    }

    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show, check or edit the settings.",
        discussion: """
            path   print where the file of settings is
            show   print what counts now: a variable goes before the file
            check  say whether the file can be used
            edit   open it with $VISUAL or $EDITOR, and check it afterwards

            'utter setup' asks for what there is to say, and writes the file.
            """)

    @Argument(help: "What to do: path, show, check or edit.")
    var action = Action.show

    @Flag(help: "Say of each setting where it stands.")
    var explain = false

    func validate() throws {
        if explain, action != .show { throw ValidationError("--explain is for 'show'.") }
    }

    func run() throws {
        switch action {
        case .path: try StandardOutput.give(ConfigurationFile.path)
        case .show:
            Configuration.warnOfProblems()
            try StandardOutput.give(SettingsListing.text(isExplained: explain))
        case .check: try check()
        case .edit: try edit()
        }
    }

    private func check() throws(CommandFailure) {
        try SettingsListing.check()
        StandardError.line(ConfigurationFile.state)
    }

    private static let script = #"""
        ${VISUAL:-${EDITOR:-vi}} "$1" && exec "$0" config check
        echo "utter: error: the editor '${VISUAL:-${EDITOR:-vi}}' has failed" >&2
        echo "utter: hint: name another one with EDITOR, or change $1 otherwise" >&2
        exit 78
        """#

    /// Becomes a shell that runs the editor and then checks the file, so that the terminal is
    /// theirs.
    private func edit() throws(CommandFailure) {
        let path = ConfigurationFile.path
        let editors = ["VISUAL", "EDITOR"].compactMap { Environment[$0] }.filter { !$0.isEmpty }
        guard !editors.isEmpty || isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(
                "there is no terminal for vi", hint: "set EDITOR, or change \(path) otherwise",
                status: .configuration)
        }
        if unsafe access(path, F_OK) != 0 {
            try ConfigurationFile.make(KnownSettings.catalogue.template)
        }
        Signals.unblock()
        let words = ["sh", "-c", Self.script, Launch.programFolder + "/utter", path]
        var pointers = unsafe words.map { unsafe strdup($0) } + [nil]
        unsafe execv("/bin/sh", &pointers)
        unsafe pointers.forEach { unsafe free($0) }
        throw CommandFailure("there is no /bin/sh", status: .internalError)
    }
}
