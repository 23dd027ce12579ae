// SPDX-License-Identifier: Apache-2.0

internal import Utter

extension TakeOutcome {
    /// Where the time went, for `-v` and the demo: a few lines, each with a line break at its end.
    var timeAccount: String {
        var lines: [(String, String)] = [
            (
                "recorded",
                StatusLine.seconds(.milliseconds(account.encodedFrames / 16))
                    + (account.gapFrames > 0 ? ", \(account.gapFrames / 16) ms of it lost" : "")
            )
        ]
        if let first = times.firstFrame {
            lines.append(("first frame after", StatusLine.milliseconds(first)))
        }
        if let result = attempts.last?.result {
            lines.append(("connection", result.connection))
            let timings = result.timings
            if let connected = timings.secured ?? timings.connected {
                lines.append(("connected after", StatusLine.milliseconds(connected)))
            }
            if let first = timings.firstByteOut {
                lines.append(("first byte sent after", StatusLine.milliseconds(first)))
            }
            if let first = timings.firstByteIn, let last = timings.lastByteOut {
                lines.append(
                    (
                        "answer began",
                        first < last
                            ? "\(StatusLine.seconds(last - first)) before the end of the recording"
                            : StatusLine.milliseconds(first - last)
                                + " after the end of the recording"
                    ))
            }
            if let first = timings.firstText, let last = timings.lastByteOut, first < last {
                lines.append(("first text after", StatusLine.milliseconds(first)))
            }
            if let last = timings.lastByteOut, let end = timings.end {
                let time = StatusLine.milliseconds(end - last)
                lines.append(("answer complete", "\(time) after the end"))
            }
            let (sent, wire) = (account.sentBytes, account.wireBytes)
            lines.append(
                ("sent", sent == wire ? "\(sent) bytes" : "\(sent) bytes, as \(wire)"))
        }
        if attempts.count > 1 {
            let reasons = [(retryCount, "retried"), (redirectCount, "redirected")]
                .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
            let why = reasons.isEmpty ? "" : ": " + reasons.joined(separator: ", ")
            lines.append(("attempts", "\(attempts.count)\(why)"))
        }
        return lines.map { name, value in
            "  " + name + String(repeating: " ", count: max(1, 24 - name.count)) + value + "\n"
        }.joined()
    }
}

extension TransferResult {
    /// The connection of the request: `127.0.0.1:8443, a proxy, HTTP/1.1, TLSv1.3`.
    fileprivate var connection: String {
        var words = [route.remote ?? "none"]
        if route.isByProxy { words.append("a proxy") }
        if hasReusedConnection { words.append("used before") }
        if let version = timings.httpVersion { words.append("HTTP/\(version)") }
        if let tls = route.tls {
            words.append(tls + (route.cipher.map { " with \($0)" } ?? ""))
        }
        return words.joined(separator: ", ")
    }
}
