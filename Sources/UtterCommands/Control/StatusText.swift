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
        return (parts + told).joined(separator: "  ")
    }

    /// The troubles and the words, each in a line without controls.
    fileprivate var told: [String] {
        let lines = (troubles ?? []).map { "\($0.kind.rawValue): \($0.reason)" } + [text]
        return lines.map { TerminalText.singleLine(TerminalText.sanitized($0)) }
            .filter { !$0.isEmpty }
    }
}

/// A status as Waybar's custom modules read it with `"return-type": "json"` (waybar-custom(5)).
struct WaybarLine: Encodable {
    /// The bar's text; it hides a module whose text is empty.
    var text: String
    /// For `format-icons`.
    var alt: String
    /// Plain text; Waybar reads Pango's marks in it, so that they are escaped.
    var tooltip: String
    /// For the style sheet: what is wrong, or else the phase.
    var `class`: String
    /// How loud it is, from 0 to 100.
    var percentage: Int

    /// The level at which the bar begins, in dBFS.
    private static let quietest = -60.0

    init(_ status: ControlStatus) {
        let clock = StatusLine.clock(.milliseconds(status.elapsedMs))
        let trouble = status.troubles?.first?.kind.rawValue
        text =
            switch status.phase {
            case .idle: ""
            case .arming: "…"
            case .recording, .tail: "● \(clock)"
            case .paused: "‖ \(clock)"
            case .sending, .waiting: "⋯ \(clock)"
            }
        if let trouble { text += " \(trouble)" }
        alt = status.phase.rawValue
        let told = status.told.joined(separator: "\n")
        tooltip = told.isEmpty ? "utter: \(status.phase.rawValue)" : DesktopNotice.escaped(told)
        `class` = trouble ?? status.phase.rawValue
        let level = status.level.map { min(0, max(Self.quietest, $0)) } ?? Self.quietest
        percentage = Int(100 * (level - Self.quietest) / -Self.quietest)
    }
}
