// SPDX-License-Identifier: Apache-2.0

internal import Utter

/// A short account of where a take's time went, for `-v` and the demo.
struct TimeAccount {
    private let outcome: TakeOutcome

    init(_ outcome: TakeOutcome) { self.outcome = outcome }

    /// A few lines, each with a line break at its end.
    var text: String {
        var lines: [(String, String)] = [
            (
                "recorded",
                "\(StatusLine.seconds(.milliseconds(outcome.account.encodedFrames / 16)))"
                    + (outcome.account.gapFrames > 0
                        ? ", \(outcome.account.gapFrames / 16) ms of it lost" : "")
            )
        ]
        if let first = outcome.times.firstFrame {
            lines.append(("first frame after", milliseconds(first)))
        }
        if let attempt = outcome.attempts.last {
            lines.append(("connection", connection(attempt.result)))
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
            if let first = timings.firstText, let last = timings.lastByteOut, first < last {
                lines.append(("first text after", milliseconds(first)))
            }
            if let last = timings.lastByteOut, let end = timings.end {
                lines.append(("answer complete", "\(milliseconds(end - last)) after the end"))
            }
            let (sent, wire) = (outcome.account.sentBytes, outcome.account.wireBytes)
            lines.append(
                ("sent", sent == wire ? "\(sent) bytes" : "\(sent) bytes, as \(wire)"))
        }
        if outcome.attempts.count > 1 {
            let (redirects, retries) = (outcome.redirectCount, outcome.retryCount)
            let reasons =
                [(retries, "retried"), (redirects, "redirected")].filter { $0.0 > 0 }
                .map { "\($0.0) \($0.1)" }
            let why = reasons.isEmpty ? "" : ": " + reasons.joined(separator: ", ")
            lines.append(("attempts", "\(outcome.attempts.count)\(why)"))
        }
        return lines.map { name, value in
            "  " + name + String(repeating: " ", count: max(1, 24 - name.count)) + value + "\n"
        }.joined()
    }

    /// What carried the last request: `127.0.0.1:8443 by a proxy, HTTP/1.1, TLSv1.3`.
    private func connection(_ result: TransferResult) -> String {
        let (route, timings) = (result.route, result.timings)
        var place = route.remote ?? "none"
        if route.isByProxy { place += ", a proxy" }
        if result.hasReusedConnection { place += ", used before" }
        var words = [place]
        if let version = timings.httpVersion { words.append("HTTP/\(version)") }
        if let tls = route.tls {
            words.append(tls + (route.cipher.map { " with \($0)" } ?? ""))
        }
        return words.joined(separator: ", ")
    }

    private func milliseconds(_ duration: Duration) -> String {
        StatusLine.milliseconds(duration)
    }
}
