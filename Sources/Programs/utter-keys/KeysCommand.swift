// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter
import UtterCommands

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Talk while a key is held in any window.",
        discussion: """
            Hold the key and speak; each text is printed when it comes. A tap begins, and
            the next one ends. It records by 'utter daemon', or by 'utter start' where no
            daemon runs, and ends on Ctrl-C, when the last text has come.

            With --portal, and unless another is chosen, the desktop tells of the key, once
            you have allowed it. Plasma, GNOME 48 and Hyprland can; it needs no right, and
            sees no other key. The person's settings may have another key than proposed.

            With --evdev the keyboards are read below /dev/input. That works in every
            desktop and on the console, and takes the right to read them: a program with
            it sees every key that you type, passwords too. So it is never used unless
            you ask for it. utter compares each key with the one it waits for, keeps none,
            and never grabs the keyboard: the key does elsewhere what it always does.
            Together with another key within 0.4 s it is a shortcut; Escape, while it is
            held, throws away what was said. Where texts are typed while you talk on, choose
            a key that is no modifier, such as scroll-lock: held, it would change them.

            How to give that right, from little to much:
              to this program alone, by a service of the system (docs/control.md has one):
                SupplementaryGroups=input
              to all your programs, for one device such as a pedal, by a rule of udev:
                SUBSYSTEM=="input", ATTRS{name}=="NAME", TAG+="uaccess"
              to all your programs, for all keyboards, from the next login on:
                sudo usermod -aG input $USER

            Desktops that bind commands to keys need neither: utter setup binds sway.
            """)

    @Flag(help: "Let the desktop tell of the key (XDG portal for global shortcuts).")
    var portal = false

    @Flag(help: "Read the keyboards below /dev/input, which takes the right to see all keys.")
    var evdev = false

    @Option(
        help: ArgumentHelp(
            "The key: for --evdev a name such as right-ctrl, scroll-lock or f13; for --portal what "
                + "is proposed to the desktop, such as F9 or CTRL+ALT+space. "
                + "(default: right-ctrl, and F9 for the desktop)", valueName: "name"))
    var key: String?

    @OptionGroup
    var preset: PresetOption

    @Flag(help: "Print one JSON object a take with the transcript and the account of every sample.")
    var json = false

    @OptionGroup(title: "Text")
    var texts: TextOptions

    func validate() throws {
        if portal, evdev { throw ValidationError("--portal and --evdev cannot be used together.") }
    }

    func run() async throws {
        let form: OutputForm = json ? .object : .text
        let session = try KeySession(
            trigger: trigger(), texts: TextOutput(texts, form: form, isVoice: true), form: form,
            preset: preset.name)
        throw try await session.run().code
    }

    private func trigger() throws(CommandFailure) -> any KeyTrigger {
        if evdev { return try KeyboardTrigger(key: key) }
        return PortalTrigger(preferred: key ?? "F9")
    }
}

/// The program behind `utter keys`.
@main
struct KeysMain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "utter",
        abstract: "Talk while a key is held in any window.",
        version: "utter \(UtterVersion.text)",
        subcommands: [KeysCommand.self])

    static func main() { Program.run(KeysMain.self) }
}
