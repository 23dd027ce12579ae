// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import UtterControl

struct StartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Begin a recording that 'utter stop' ends, from anywhere.",
        discussion: """
            It comes back once something is recorded. Without 'utter daemon' a recorder of its
            own goes on in the background until 'utter stop' and the text is where it belongs;
            with UTTER_FOREGROUND=true this command stays, and is that recorder. When one
            records already, it says so. The options count for takes that its recorder
            records; a daemon has its own, and refuses them, but for --service with the name of
            a service of its settings or profiles.
            """)

    @OptionGroup
    var options: RecorderOptions

    func validate() throws { try options.refuseReports() }

    func run() async throws { try await Recording.run(.start, options) }
}

struct ToggleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "toggle", abstract: "Begin a recording, or end it and print its text.",
        discussion:
            "For keys that tell no release: the first press is 'utter start', the next 'utter stop'."
    )

    @OptionGroup
    var options: RecorderOptions

    func validate() throws { try options.refuseReports() }

    func run() async throws { try await Recording.run(.toggle, options) }
}
