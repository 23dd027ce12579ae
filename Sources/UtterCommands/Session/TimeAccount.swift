// SPDX-License-Identifier: Apache-2.0

package import Utter

/// A short account of where a take's time went, for `-v` and the demo.
package struct TimeAccount {
    private let outcome: TakeOutcome

    /// Accounts for a take that has ended.
    package init(_ outcome: TakeOutcome) { self.outcome = outcome }

    /// A few lines, each with a line break at its end.
    package var text: String {
        var lines: [(String, String)] = [
            (
                "recorded",
                "\(StatusLine.seconds(.milliseconds(outcome.account.encodedFrames / 16)))"
                    + (outcome.account.gapFrames > 0
                        ? ", \(outcome.account.gapFrames / 16) ms of it lost" : "")
            )
        ]
        if let attempt = outcome.attempts.last {
            let timings = attempt.result.timings
            if let connected = timings.secured ?? timings.connected {
                lines.append(("connected after", milliseconds(connected)))
            }
            if let first = timings.firstByteOut {
                lines.append(("first byte sent after", milliseconds(first)))
            }
            if let first = timings.firstByteIn, let last = timings.lastByteOut {
                lines.append(
                    (
                        "answer began",
                        first < last
                            ? "\(StatusLine.seconds(last - first)) before the end of the recording"
                            : "\(milliseconds(first - last)) after the end of the recording"
                    ))
            }
            if let last = timings.lastByteOut, let end = timings.end {
                lines.append(("answer complete", "\(milliseconds(end - last)) after the end"))
            }
            let (sent, wire) = (attempt.result.sentByteCount, attempt.result.wireByteCount)
            lines.append(
                ("sent", sent == wire ? "\(sent) bytes" : "\(sent) bytes, as \(wire)"))
        }
        if outcome.attempts.count > 1 { lines.append(("attempts", "\(outcome.attempts.count)")) }
        return lines.map { name, value in
            "  " + name + String(repeating: " ", count: max(1, 24 - name.count)) + value + "\n"
        }.joined()
    }

    private func milliseconds(_ duration: Duration) -> String {
        let micro =
            duration.components.seconds * 1_000_000
            + duration.components.attoseconds / 1_000_000_000_000
        return "\(micro / 1_000).\(micro / 100 % 10) ms"
    }
}
