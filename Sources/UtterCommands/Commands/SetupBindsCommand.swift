// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import UtterTerminal

struct SetupBindsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "binds", abstract: "Print what binds a key to 'utter start' and 'utter stop'.",
        discussion: "Paste it where its first line says; it changes nothing by itself.")

    @Argument(help: "The desktop: sway, hyprland, i3, gnome, or kde.")
    var desktop: Desktop

    func run() throws {
        let word = Desktop.word(forProgramIn: Launch.programFolder)
        // Its last line feed is added again.
        try StandardOutput.show(String(desktop.bindings(of: word).dropLast()))
    }
}
