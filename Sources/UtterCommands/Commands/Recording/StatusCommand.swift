// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import LinuxPlatform
internal import UtterControl
internal import UtterTerminal

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show whether 'utter start' is recording, and what becomes of it.",
        discussion: """
            idle, arming (the microphone opens), recording, tail (a moment more, after the
            stop), sending (what is not sent yet), or waiting (for the answer).
            """)

    @Flag(help: "Go on: a line for each change, at most 20 a second.")
    var follow = false

    @Flag(help: "Print JSON objects.")
    var json = false

    @Flag(help: "Print what Waybar's custom modules read.")
    var waybar = false

    func validate() throws {
        if json && waybar { throw ValidationError("--json and --waybar cannot be used together.") }
    }

    func run() throws {
        Signals.unblock()
        let place = try SocketPlace.current()
        if follow { try followChanges(at: place) }
        let status = try ControlClient.ask(ControlRequest(.status), at: place)?.first.status
        if status == nil, place.isGiven { throw ControlReading.unanswered(place) }
        try show(status ?? ControlStatus())
    }

    /// Shows each change, for as long as there is a reader.
    private func followChanges(at place: SocketPlace) throws -> Never {
        try place.prepareFolder()
        var shown: ControlStatus?
        func update(_ status: ControlStatus) throws(CommandFailure) {
            if status != shown { try show(status) }
            shown = status
        }
        while true {
            // Before the look: what comes in between is not missed.
            let watch = try FolderWatch(place.folder)
            if var conversation = try ControlClient.ask(ControlRequest(.follow), at: place) {
                var answer = conversation.first
                while let status = answer.status {
                    try update(status)
                    guard case .answer(let next) = conversation.client.next(within: nil) else {
                        break
                    }
                    answer = next
                }
                try update(ControlStatus())
            } else {
                try update(ControlStatus())
                // A program behind a forwarded socket changes nothing in the folder.
                watch.wait(within: place.isGiven ? .seconds(1) : nil)
            }
        }
    }

    private func show(_ status: ControlStatus) throws(CommandFailure) {
        let line = status.line(as: waybar ? .waybar : json ? .json : .plain)
        guard StandardOutput.print(line) else {
            throw CommandFailure("the status cannot be printed", status: .localIO)
        }
    }
}
