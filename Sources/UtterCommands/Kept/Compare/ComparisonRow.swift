// SPDX-License-Identifier: Apache-2.0

internal import Utter
internal import UtterTerminal

struct ComparisonRow {
    private let service: String
    private let exit: Int32
    private var text: String?
    private var error: (message: String, hint: String?)?
    /// From the beginning of the sending to the end of the answer.
    private var milliseconds: Double?

    init(_ service: String, _ failure: CommandFailure) {
        (self.service, exit) = (service, failure.status.rawValue)
        error = (failure.message, failure.hint)
    }

    init(_ service: String, _ outcome: TakeOutcome, in time: Duration) {
        self.service = service
        exit = ExitStatus(outcome).rawValue
        milliseconds = (time / .milliseconds(1)).rounded()
        switch outcome.result {
        case .success(let transcript):
            text = transcript.displayText
            if let reason = outcome.shortfall { error = (reason, nil) }
        case .failure(let failure):
            error = (failure.description, Hints.of(failure))
        }
    }

    var status: ExitStatus { ExitStatus(rawValue: exit) ?? .internalError }

    static func table(_ rows: [ComparisonRow]) -> String {
        let names = rows.map(\.service.count).max() ?? 0
        let times = rows.map { row in
            row.milliseconds.map { "\(Int($0 / 100) / 10).\(Int($0 / 100) % 10) s" } ?? ""
        }
        let width = times.map(\.count).max() ?? 0
        return zip(rows, times).map { row, time in
            let reason = row.error.map { "error: " + TerminalText.sanitized($0.message) }
            let text = row.text.flatMap { $0.isEmpty ? nil : $0 } ?? reason ?? ""
            return TextWidth.padded(row.service, to: names + 2)
                + String(repeating: " ", count: width - time.count) + time + "  "
                + TerminalText.singleLine(text)
        }.joined(separator: "\n")
    }

    static func json(_ rows: [ComparisonRow]) -> String {
        let objects = rows.map { row -> JSONObject in
            let error = row.error.map { ["message": $0.message, "hint": $0.hint] as JSONObject }
            return [
                "service": row.service, "exit": row.exit, "text": row.text, "error": error,
                "milliseconds": row.milliseconds,
            ]
        }
        return JSONOutput.text(objects, isPretty: true)
    }
}
