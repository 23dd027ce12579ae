// SPDX-License-Identifier: Apache-2.0

extension StatusLine {
    /// Minutes, seconds and tenths.
    static func clock(_ duration: Duration) -> String {
        let tenths =
            Int(duration.components.seconds) * 10
            + Int(duration.components.attoseconds / 100_000_000_000_000_000)
        let seconds = tenths / 10 % 60
        return "\(tenths / 600):\(seconds < 10 ? "0" : "")\(seconds).\(tenths % 10)"
    }

    /// Seconds, to the hundredth below ten.
    static func seconds(_ duration: Duration) -> String {
        let hundredths =
            Int(duration.components.seconds) * 100
            + Int(duration.components.attoseconds / 10_000_000_000_000_000)
        guard hundredths < 1_000 else { return "\(hundredths / 100) s" }
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) s"
    }

    /// Milliseconds, to the tenth below 100.
    static func milliseconds(_ duration: Duration) -> String {
        let tenths = Int((duration / .microseconds(100)).rounded())
        guard tenths < 1_000 else { return "\((tenths + 5) / 10) ms" }
        return "\(tenths / 10).\(tenths % 10) ms"
    }

    static func size(_ count: Int) -> String {
        count < 1_000
            ? "\(count) B"
            : count < 1_000_000
                ? "\(count / 1_000) kB"
                : "\(count / 1_000_000).\(count / 100_000 % 10) MB"
    }
}
