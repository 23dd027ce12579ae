// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Utter
internal import UtterSettings

/// Whether the service can be found, is trusted, takes the token, and answers; half a second of a
/// quiet tone is sent, as a recording would be.
struct ServiceCheck: Check {
    let name = "service"
    let options: ServiceOptions

    func run() async -> [Finding] {
        let outcome: TakeOutcome
        // The settings say the rest.
        if options.isServiceUnset, (try? Configuration.reading()) == nil {
            return [.warning("the settings that may name it cannot be read")]
        }
        do throws(CommandFailure) {
            let plan = TakePlan(
                source: SampleSource.tone(.milliseconds(500), isSpoken: true),
                delivery: try options.delivery(format: nil, isSpoken: true))
            outcome = try await plan.outcomeOfTrial()
        } catch {
            return [.bad(error)]
        }
        let connection = outcome.attempts.last.flatMap { Self.connection($0) }
        switch outcome.result {
        case .failure(let failure):
            let isUnset = options.isServiceUnset && failure.isOfConnecting
            let problem =
                isUnset
                ? Finding.bad(TakeSession.serviceUnset, hint: Hints.serviceUnset)
                : Finding.bad(failure.description, hint: failure.hint)
            return [connection, problem].compactMap(\.self)
        case .success:
            return [connection, outcome.attempts.last.map { Self.answer($0) }].compactMap(\.self)
        }
    }

    private static func connection(_ attempt: TakeAttempt) -> Finding? {
        let timings = attempt.result.timings
        guard let connected = timings.connected else { return nil }
        let parts = [
            "\(TerminalText.singleLine(attempt.url)) was reached in \(milliseconds(connected))",
            timings.resolved.map { "its name was found in \(milliseconds($0))" },
            timings.secured.map { "TLS stood after \(milliseconds($0))" },
        ]
        return .good(parts.compactMap(\.self).joined(separator: "; "))
    }

    /// When it answered; that something came before the end shows that it reads while one speaks.
    private static func answer(_ attempt: TakeAttempt) -> Finding {
        let timings = attempt.result.timings
        // A session begins with words of the service, whatever it hears.
        let isSession = attempt.result.messages != nil
        guard let first = isSession ? timings.lastByteIn : timings.firstByteIn,
            let last = timings.lastByteOut
        else { return .good("it answered") }
        if isSession {
            let wait = milliseconds(max(.zero, first - last))
            return .good(
                "it answered \(wait) after the end of the recording, in a realtime session")
        }
        if first < last {
            return .good(
                "it began to answer before the end of the recording: it reads while you speak")
        }
        return .good(
            "it answered \(milliseconds(first - last)) after the end of the recording; this "
                + "trial cannot tell whether it reads while you speak")
    }

    private static func milliseconds(_ time: Duration) -> String {
        "\(Int(time / .milliseconds(1))) ms"
    }
}
