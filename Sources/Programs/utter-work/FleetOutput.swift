// SPDX-License-Identifier: Apache-2.0

import Fleet
import LinuxPlatform
import UtterCommands
internal import UtterTerminal

/// How numbers of a fleet are told to a person.
enum FleetOutput {
    static func give(_ text: String) throws(CommandFailure) {
        guard !StandardOutput.print(text) else { return }
        throw CommandFailure("standard output takes nothing", status: .localIO)
    }

    /// Such as `3 h 20 min`.
    static func time(_ seconds: Double) -> String {
        let whole = Int(min(seconds, 1e12).rounded())
        switch whole {
        case ..<120: return "\(whole) s"
        case ..<7_200: return "\(whole / 60) min"
        case ..<172_800: return "\(whole / 3_600) h \(whole % 3_600 / 60) min"
        default: return "\(whole / 86_400) d \(whole % 86_400 / 3_600) h"
        }
    }

    static func plain(_ text: String) -> String {
        TerminalText.singleLine(TerminalText.sanitized(text))
    }
}
