// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Utter
internal import UtterControl

extension ControlStatus {
    enum Form { case plain, json, waybar }

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

/// A status as Waybar's custom modules read it with `"return-type": "json"` (waybar-custom(5)).
struct WaybarLine: Encodable {
    /// What the bar shows; it hides a module whose text is empty.
    var text: String
    /// For `format-icons`.
    var alt: String
    /// Plain text; Waybar reads Pango's marks in it, so that they are escaped.
    var tooltip: String
    /// For the style sheet.
    var `class`: String
    /// How loud it is, from 0 to 100.
    var percentage: Int

    /// The level at which the bar begins, in dBFS.
    private static let quietest = -60.0

    init(_ status: ControlStatus) {
        let clock = StatusLine.clock(.milliseconds(status.elapsedMs))
        text =
            switch status.phase {
            case .idle: ""
            case .arming: "…"
            case .recording, .tail: "● \(clock)"
            case .sending, .waiting: "⋯ \(clock)"
            }
        alt = status.phase.rawValue
        let heard = TerminalText.singleLine(TerminalText.sanitized(status.text))
        tooltip = Self.escaped(heard.isEmpty ? "utter: \(status.phase.rawValue)" : heard)
        `class` = status.phase.rawValue
        let level = status.level.map { min(0, max(Self.quietest, $0)) } ?? Self.quietest
        percentage = Int(100 * (level - Self.quietest) / -Self.quietest)
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;")
    }
}
