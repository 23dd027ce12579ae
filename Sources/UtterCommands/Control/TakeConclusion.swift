// SPDX-License-Identifier: Apache-2.0

internal import Utter
internal import UtterTerminal

/// How a take ended, in the form in which it goes to the one who asks for its text.
struct TakeConclusion: Sendable {
    let take: TakeID
    var status: ExitStatus
    var text: String?
    var lines: [ToldLine]
    var report: String
    /// Whether the audio is needed no more once the text was printed.
    var isSettled: Bool

    var answer: ControlAnswer {
        var answer = ControlAnswer(.result, take: take.text)
        (answer.exit, answer.text, answer.lines) = (status.rawValue, text, lines)
        return answer
    }
}

extension TakeSession {
    func conclusion(
        of outcome: TakeOutcome, by plan: DeliveryPlan, hungUp: Bool, isServiceUnset: Bool
    ) -> TakeConclusion {
        var status = status(of: outcome)
        if case .failure(.left) = outcome.result, hungUp { status = .hungUp }
        let telling = OutcomeTelling(
            outcome, output: output, keepsAudio: audioTime.map { $0 > .zero } ?? false,
            isServiceUnset: isServiceUnset,
            tokenSource: plan.service.credentials.first?.source)
        var text: String?
        if case .success(let transcript) = outcome.result, !transcript.text.isEmpty {
            text = transcript.displayText
        }
        let warnings = outcome.notices.map { notice in
            ToldLine.line(notice == .protectedAgain ? notice.text : "warning: \(notice.text)")
        }
        return TakeConclusion(
            take: outcome.id, status: status, text: text,
            lines: warnings + telling.lines + brokenPromise(outcome),
            report: OutcomeReport(outcome, status: status, isKept: isKept(outcome)).json,
            isSettled: isSettled(outcome))
    }
}
