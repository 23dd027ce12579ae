// SPDX-License-Identifier: Apache-2.0

internal import Utter
internal import UtterTerminal

struct ComparisonRow: Encodable {
    struct Failure: Encodable {
        var message: String
        @Nullable var hint: String?
    }

    var service: String
    var exit: Int32
    @Nullable var text: String?
    @Nullable var error: Failure?
    /// From the beginning of the sending to the end of the answer.
    @Nullable var milliseconds: Double?

    private var display: String?

    private enum CodingKeys: String, CodingKey {
        case service, exit, text, error, milliseconds
    }

    init(_ service: String, _ failure: CommandFailure) {
        (self.service, exit) = (service, failure.status.rawValue)
        error = Failure(message: failure.message, hint: failure.hint)
    }

    init(_ service: String, _ outcome: TakeOutcome, in time: Duration) {
        self.service = service
        exit = ExitStatus(outcome).rawValue
        milliseconds = (time / .milliseconds(1)).rounded()
        switch outcome.result {
        case .success(let transcript):
            (text, display) = (transcript.displayText, transcript.displayText)
            if let reason = outcome.shortfall { error = Failure(message: reason) }
        case .failure(let failure):
            error = Failure(message: failure.description, hint: Hints.of(failure))
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
            let text = row.display.flatMap { $0.isEmpty ? nil : $0 } ?? reason ?? ""
            return TextWidth.padded(row.service, to: names + 2)
                + String(repeating: " ", count: width - time.count) + time + "  "
                + TerminalText.singleLine(text)
        }.joined(separator: "\n")
    }

    static func json(_ rows: [ComparisonRow]) -> String {
        JSONOutput.text(rows, isPretty: true)
    }
}
