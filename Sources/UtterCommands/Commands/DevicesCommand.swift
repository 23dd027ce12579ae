// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import AudioDevices
import FoundationEssentials
import Utter

/// `utter devices`: lists the devices for recording, or for playing.
struct DevicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices", abstract: "List the capture devices by name.")

    @Flag(help: "List the devices that 'utter play' can use instead.")
    var playback = false

    @Flag(help: "Print a JSON array.")
    var json = false

    private struct Row: Encodable {
        var name, description: String
        var card: String?
        var isDefault: Bool
    }

    func run() throws {
        let devices: [CaptureDevice]
        do throws(CaptureError) {
            devices = try CaptureDevices.list(for: playback ? .playing : .recording)
        } catch {
            throw Launch.exit(
                CommandFailure(error.description, hint: Hints.of(error), status: ExitStatus(error)))
        }
        guard !devices.isEmpty else {
            throw Launch.exit(
                CommandFailure(
                    "there is no \(playback ? "playback" : "capture") device",
                    hint: "check that the sound driver is loaded: "
                        + (playback ? "aplay -l" : "arecord -l"), status: .noInput))
        }
        let text = json ? try Self.json(devices) : Self.table(devices)
        guard StandardOutput.print(text) else { throw ExitStatus.localIO.code }
    }

    private static func json(_ devices: [CaptureDevice]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let rows = devices.map {
            Row(name: $0.name, description: $0.description, card: $0.card, isDefault: $0.isDefault)
        }
        return String(decoding: try encoder.encode(rows), as: UTF8.self)
    }

    private static func table(_ devices: [CaptureDevice]) -> String {
        let width = devices.map(\.name.count).max() ?? 0
        return devices.map { device in
            let text =
                TerminalText.singleLine(device.description) + (device.isDefault ? " (default)" : "")
            guard !text.isEmpty else { return device.name }
            return TextWidth.padded(device.name, to: width + 2) + text
        }.joined(separator: "\n")
    }
}
