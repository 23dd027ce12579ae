// SPDX-License-Identifier: Apache-2.0

internal import Capture
internal import Utter
internal import UtterTerminal

struct DeviceListing {
    private let devices: [CaptureDevice]
    /// The abilities of each device; nil for one that did not answer.
    private let abilities: [Result<DeviceAbility, CaptureError>?]

    /// Lists devices, and opens each for a moment if that is wanted.
    init(_ devices: [CaptureDevice], isOpened: Bool) {
        self.devices = devices
        abilities =
            isOpened ? DeviceHost.abilities(of: devices) : devices.map { _ in .success(.unknown) }
    }

    var json: String { JSONOutput.text(zip(devices, abilities).map(Self.row), isPretty: true) }

    var table: String {
        let width = devices.map(\.name.count).max() ?? 0
        return zip(devices, abilities).map { device, ability in
            let words = [
                TerminalText.singleLine(device.description)
                    + (device.isDefault ? " (default)" : ""),
                device.isMonitor ? "records what the computer plays" : "", Self.text(ability),
            ].map { $0.hasPrefix(" ") ? String($0.dropFirst()) : $0 }.filter { !$0.isEmpty }
            guard !words.isEmpty else { return device.name }
            return TextWidth.padded(device.name, to: width + 2) + words.joined(separator: "; ")
        }.joined(separator: "\n")
    }

    private static func row(
        _ device: CaptureDevice, _ ability: Result<DeviceAbility, CaptureError>?
    ) -> JSONObject {
        var row: JSONObject = [
            "name": device.name, "description": device.description, "card": device.card,
            "isDefault": device.isDefault, "isMonitor": device.isMonitor,
            // Empty for a device that was not opened.
            "formats": [String](), "rates": [Int](),
        ]
        switch ability {
        case .success(.unknown)?: break
        case .success(let ability)?:
            (row["formats"], row["rates"]) = (ability.formats, ability.rates)
            row["fewestChannels"] = ability.channels.lowerBound
            row["mostChannels"] = ability.channels.upperBound
        case .failure(let error)?:
            row["problem"] = error.description
            if case .deviceBusy(_, let holders) = error {
                row["holders"] = holders.map { holder -> JSONObject in
                    ["process": holder.process, "program": holder.program]
                }
            }
        case nil: row["problem"] = "it does not answer"
        }
        return row.withoutNulls
    }

    private static func text(_ ability: Result<DeviceAbility, CaptureError>?) -> String {
        switch ability {
        case nil: return "does not answer"
        case .failure(.deviceBusy(_, let holders))?:
            return holders.isEmpty
                ? "busy" : "held by " + holders.map(\.description).joined(separator: ", ")
        case .failure(.deviceNotFound)?: return "not there"
        case .failure(.permissionDenied)?: return "may not be opened"
        case .failure(let error)?: return TerminalText.singleLine(error.description)
        case .success(.unknown)?: return ""
        case .success(let ability)?:
            let rates = range(ability.rates) { "\(Double($0) / 1_000)".replacing(".0", with: "") }
            let (fewest, most) = (ability.channels.lowerBound, ability.channels.upperBound)
            let channels = most > 32 ? "\(fewest) or more" : range([fewest, most])
            return [
                rates.isEmpty ? "" : rates + " kHz", channels + " ch", formats(ability.formats),
            ].filter { !$0.isEmpty }.joined(separator: ", ")
        }
    }

    private static func range(_ values: [Int], _ text: (Int) -> String = { "\($0)" }) -> String {
        guard let least = values.min(), let most = values.max() else { return "" }
        return least == most ? text(least) : "\(text(least))-\(text(most))"
    }

    private static func formats(_ names: [String]) -> String {
        names.count > 4 ? "any format" : names.joined(separator: " ")
    }
}
