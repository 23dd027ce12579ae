// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
internal import LinuxPlatform
internal import UtterSettings
internal import UtterTerminal

struct ConfigCommand: ParsableCommand {
    enum Action: String, CaseIterable {
        case path, show, check, edit, get, set, unset
    }

    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show, check or change the settings.",
        discussion: """
              path   print where the file of settings is
              show   print what counts now, of all settings or of one: a variable goes
                     before the file
              check  say whether the file is valid
              edit   open it with $VISUAL or $EDITOR, and check it afterwards
              get    print what counts for one setting, such as keep.audio
              set    write one setting, such as: utter config set language de
              unset  take one setting out of the file

            Remarks and the order of the file stay as they are.
            'utter setup' asks for what there is to say, and writes the file.
            """)

    @Argument(
        help: "What to do: path, show, check, edit, get, set or unset.",
        completion: .list(Action.allCases.map(\.rawValue)), transform: Action.init(parsing:))
    var action = Action.show

    @Argument(
        help: "A setting, such as language, keep.audio or services.mine.url.",
        completion: .list(KnownSettings.catalogue.all.map(\.name)))
    var name: String?

    @Argument(help: "What it shall be.")
    var value: String?

    @Flag(help: "Say of each setting where it stands.")
    var explain = false

    func validate() throws {
        if explain, action != .show { throw ValidationError("--explain is for 'show'.") }
        let wanted =
            action == .set ? 2 : [.get, .unset].contains(action) || shownName != nil ? 1 : 0
        guard [name, value].compactMap(\.self).count != wanted else { return }
        switch wanted {
        case 2: throw ValidationError("Write: utter config set NAME VALUE")
        case 1: throw ValidationError("Write: utter config \(action) NAME")
        default: throw ValidationError("'\(action)' takes no name.")
        }
    }

    private var shownName: String? { action == .show && !explain ? name : nil }

    func run() throws {
        switch action {
        case .path: try StandardOutput.give(ConfigurationFile.path)
        case .show where name == nil:
            Configuration.warnOfProblems()
            try StandardOutput.give(SettingsListing.text(isExplained: explain))
        case .check:
            try SettingsListing.check()
            StandardError.line(ConfigurationFile.state)
        case .edit: try edit()
        case .get, .show:
            guard let value = try change().value() else { throw ExitStatus.heardNothing.code }
            try StandardOutput.give(value)
        case .set:
            try change().set(value ?? "")
            warnOfVariable()
            // It depends on several settings, and on a profile: what is written stays.
            if name?.hasPrefix("archive.") == true {
                _ = try KnownSettings.archive(isOptional: true)
            }
        case .unset:
            try change().unset()
            warnOfVariable()
        }
    }

    private func change() throws(CommandFailure) -> ConfigurationChange {
        try ConfigurationChange(name ?? "")
    }

    private func warnOfVariable() {
        // The name is that of a setting by now.
        guard let variable = try? change().overridingVariable else { return }
        StandardError.line("warning: \(variable) is set, and counts before the file")
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
        let editors = ["VISUAL", "EDITOR"].compactMap { Environment[filled: $0] }
        guard !editors.isEmpty || isatty(ProgramStart.current.input) == 1 else {
            throw CommandFailure(
                "there is no terminal for vi", hint: "set EDITOR, or change \(path) otherwise",
                status: .configuration)
        }
        if unsafe access(path.cPath, F_OK) != 0 {
            try ConfigurationFile.make(KnownSettings.catalogue.template)
        }
        OtherProgram.become(
            "/bin/sh", ["sh", "-c", Self.script, Launch.programFolder + "/utter", path])
        throw CommandFailure("there is no /bin/sh", status: .internalError)
    }
}
