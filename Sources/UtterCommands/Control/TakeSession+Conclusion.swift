// SPDX-License-Identifier: Apache-2.0

internal import Utter
internal import UtterControl

extension TakeSession {
    func conclusion(
        of outcome: TakeOutcome, by plan: DeliveryPlan, hungUp: Bool, isServiceUnset: Bool
    ) -> TakeConclusion {
        var status = status(of: outcome)
        if case .failure(.left) = outcome.result, hungUp { status = .hungUp }
        let telling = OutcomeTelling(
            outcome: outcome, output: output, keepsAudio: audioTime.map { $0 > .zero } ?? false,
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
            take: outcome.id, exit: status.rawValue, text: text,
            lines: warnings + telling.lines + brokenPromise(outcome),
            report: OutcomeReport(outcome, status: status, isKept: isKept(outcome)).json,
            isSettled: isSettled(outcome))
    }
}
