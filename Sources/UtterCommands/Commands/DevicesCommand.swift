// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import AudioDevices
import FoundationEssentials
import Utter
internal import UtterTerminal

struct DevicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List the capture devices by name, with what they offer.",
        discussion: """
            --device takes any of these names, or a part of one name or description. Numbers are
            not taken: they change when a device is plugged in.
            """)

    @Flag(help: "List the devices that 'utter play' can use instead.")
    var playback = false

    @Flag(help: "Print the names alone, and open no device.")
    var names = false

    @Flag(help: "Print a JSON array.")
    var json = false

    func run() throws {
        let devices = try CaptureDevices.list(for: playback ? .playing : .recording)
        guard !devices.isEmpty else {
            throw CommandFailure(
                "there is no \(playback ? "playback" : "capture") device",
                hint: "check that the sound driver is loaded: "
                    + (playback ? "aplay -l" : "arecord -l"), status: .noInput)
        }
        let text: String
        if names {
            text = devices.map(\.name).joined(separator: "\n")
        } else {
            let listing = DeviceListing(devices, isOpened: !playback)
            text = json ? listing.json : listing.table
        }
        try StandardOutput.show(text)
    }
}
