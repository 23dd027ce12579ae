// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import Glibc
internal import UtterSettings
internal import UtterTerminal

struct SetupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Ask for service, token and microphone, try them, and write the settings.",
        discussion: """
            Name a service, and its URL or server where that is another: openai
            http://127.0.0.1:8000. A part of a name lists the services that have it. The token
            that you type is not shown, and goes into a file of its own. utter asks before it
            writes what does not work, and before it replaces a file, to which it gives the
            ending .old.

            Without a terminal it prints what to write. Ctrl-C at any question leaves
            everything as it was. 'utter setup local' installs a recogniser on this machine,
            and 'utter setup binds sway' prints what binds a key.
            """,
        subcommands: [SetupLocalCommand.self, SetupBindsCommand.self])

    func run() async throws {
        guard Dialogue.isPossible else { return try printInstructions() }
        // Ctrl-C ends the program until there is something to write.
        Signals.unblock()
        // A connection that breaks in the trial must not.
        _ = signal(SIGPIPE, SIG_IGN)
        let dialogue = Dialogue()
        guard let answers = try SetupDialogue().answers() else {
            return try await SetupLocalCommand.install(nil)
        }
        let existing = answers.existingFiles
        dialogue.say("Say something …")
        let finding = try await SetupTrial(answers: answers).run()
        for line in finding.lines { dialogue.say(line) }
        var isWanted = true
        if !finding.isGood {
            isWanted = try dialogue.confirms("Write the settings all the same?", usually: false)
        }
        if isWanted, !existing.isEmpty {
            isWanted = try dialogue.confirms(
                "Replace \(existing.joined(separator: " and "))? What is there gets .old behind "
                    + "its name", usually: false)
        }
        guard isWanted else { return dialogue.say("Nothing was written.") }
        try answers.write()
        dialogue.say("Written: \(ConfigurationFile.path)")
        dialogue.say("Now speak: utter")
    }

    private func printInstructions() throws(CommandFailure) {
        var answers = SetupAnswers(profile: "openai")
        answers.token = .typed("")
        answers.language = "en"
        let text = """
            # Write this, with what is true for you, to \(ConfigurationFile.path),
            # and the token to \(ConfigurationFile.expanded(answers.tokenFileName)), mode 0600.
            # token-command = "…" and token-variable = "…" go as well; 'utter services' lists the services.
            \(answers.text())
            """
        guard StandardOutput.print(text) else {
            throw CommandFailure("standard output takes nothing", status: .localIO)
        }
    }
}

struct SetupBindsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "binds", abstract: "Print what binds a key to 'utter start' and 'utter stop'.",
        discussion: "Paste it where its first line says; it changes nothing by itself.")

    @Argument(help: "The desktop: sway, hyprland, i3, gnome, or kde.")
    var desktop: Desktop

    @Option(
        help: ArgumentHelp(
            "Bind another key, from F10 on, to a take with this preset of the settings.",
            valueName: "name"))
    var preset: [String] = []

    func run() throws {
        let word = Desktop.word(forProgramIn: Launch.programFolder)
        let bindings = desktop.bindings(of: word)
        let others = preset.enumerated().map { number, name in
            desktop.bindings(of: word, preset: ShellWord.quoted(name), key: "F\(10 + number)")
        }
        // Its last line feed is added again.
        try StandardOutput.show(
            String(([bindings] + others).joined(separator: "\n").dropLast()))
    }
}
