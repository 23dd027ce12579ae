// SPDX-License-Identifier: Apache-2.0

internal import Utter

extension ControlStatus {
    /// How `utter status` shows it.
    enum Form {
        case plain, json, waybar
    }

    /// The status in one line.
    func line(as form: Form) -> String {
        switch form {
        case .plain: plainLine
        // Without its line feed.
        case .json: String(decoding: ControlLine.encoded(self).dropLast(), as: UTF8.self)
        case .waybar:
            String(decoding: ControlLine.encoded(WaybarLine(self)).dropLast(), as: UTF8.self)
        }
    }

    private var plainLine: String {
        guard phase != .idle else { return phase.rawValue }
        var parts = [phase.rawValue, StatusLine.clock(.milliseconds(elapsedMs))]
        if let level { parts.append("\(Int(level.rounded())) dBFS") }
        if let take { parts.append(take) }
        let heard = TerminalText.singleLine(TerminalText.sanitized(text))
        if !heard.isEmpty { parts.append(heard) }
        return parts.joined(separator: "  ")
    }
}
