// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter

struct UtterCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "utter",
        abstract: "Stream your voice to a speech recogniser while you speak; print the transcript.",
        discussion: """
            Without a subcommand utter records from the default microphone and prints what was
            understood: while Space is held where the terminal reports releases, otherwise until
            Space, Enter, SIGUSR1 or --for. p pauses and goes on. Escape and Ctrl-C cancel; SIGTERM
            keeps the take and ends. See 'utter record --help' for its options.

            Examples:
              utter setup                          name service, token and microphone, once
              utter                                speak, press Space, read the text
              utter loop                           sentence after sentence, each a line
              utter --for 5s --to https://speech.example/v1/recognize
              utter send interview.wav             send a file at full speed
              utter send https://example.com/a.mp3 fetch a recording, and send it
              utter send --pace realtime note.wav  replay it as if it were spoken now
              arecord -t raw -f S16_LE -r 16000 | utter send -
              utter start, utter stop              for the press and the release of a key
              utter retry last                     send again what could not be delivered
              utter demo                           see it work, without a microphone

            The transcript is the only thing on standard output.

            Exit status: 0 text printed, 1 heard nothing, 64 usage, 65 unusable audio,
            66 no such input, 67 nothing recorded, 69 refused, 70 internal,
            71 microphone lost, 74 local I/O, 75 not delivered yet, 76 unusable answer,
            77 token refused, 78 configuration, 129, 130, 143 ended by a signal.
            """,
        version: "utter \(UtterVersion.text)",
        groupedSubcommands: [
            CommandGroup(
                name: "Dictation",
                subcommands: [
                    RecordCommand.self, LoopCommand.self, StartCommand.self, StopCommand.self,
                    ToggleCommand.self, CancelCommand.self, PauseCommand.self,
                    ResumeCommand.self, StatusCommand.self,
                ]),
            CommandGroup(
                name: "Recordings",
                subcommands: [
                    SendCommand.self, ListCommand.self, LastCommand.self, ShowCommand.self,
                    RetryCommand.self, PlayCommand.self, RemoveCommand.self,
                ]),
            CommandGroup(
                name: "Settings",
                subcommands: [
                    SetupCommand.self, ConfigCommand.self, ServicesCommand.self, KeyCommand.self,
                ]),
            CommandGroup(name: "Text", subcommands: [EditCommand.self, WordsCommand.self]),
            CommandGroup(
                name: "Files",
                subcommands: [
                    BrowseCommand.self, StatsCommand.self, FetchCommand.self, ExportCommand.self,
                ]),
            CommandGroup(
                name: "Trial",
                subcommands: [
                    DoctorCommand.self, DevicesCommand.self, LevelCommand.self, DemoLaunch.self,
                ]),
            CommandGroup(
                name: "Operator",
                subcommands: [
                    KeysLaunch.self, DaemonCommand.self, FlushCommand.self, ServeLaunch.self,
                    FleetLaunch.self,
                ]),
        ],
        defaultSubcommand: RecordCommand.self)
}

extension Program {
    /// Called on the main thread.
    package static func runUtter() { run(UtterCommand.self) }
}
