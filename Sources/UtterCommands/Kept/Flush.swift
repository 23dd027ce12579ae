// SPDX-License-Identifier: Apache-2.0

internal import Utter
internal import UtterTerminal

/// Sends many kept takes, a few at a time, and prints their answers in order.
struct Flush {
    private let session: TakeSession
    private let takes: [KeptTake]
    private let plans: [TakeID: DeliveryPlan]
    private let total: Int
    /// As many more wait for the next run.
    private let beyond: Int
    /// Whether the person has asked for these takes, however often they were sent.
    private let isAsked: Bool
    private let progress: BatchProgress
    /// Why takes are skipped, as far as that was said.
    private var told: Set<String> = []
    private var status = ExitStatus.textPrinted

    /// `left` more takes cannot be sent now, and `beyond` are too many for this run.
    init(
        _ items: [(take: KeptTake, plan: DeliveryPlan)], left: Int, beyond: Int, isAsked: Bool,
        in session: TakeSession
    ) {
        self.session = session
        takes = items.map(\.take)
        plans = Dictionary(items.map { ($0.take.id, $0.plan) }) { first, _ in first }
        (self.beyond, self.isAsked) = (beyond, isAsked)
        total = items.count + left
        var count = BatchCount("flush", total: total)
        count.left = left
        progress = BatchProgress(count, on: total > 0 ? session.makeScreen() : .silent)
    }

    mutating func run(jobs: Int) async -> ExitStatus {
        guard total > 0 else {
            // A timer finds nothing most of the time.
            if isAsked, !session.output.quiet { StandardError.line("no take waits for an answer") }
            return .textPrinted
        }
        let batch = session.pipeline.resend(takes, jobs: jobs) {
            [plans] take throws(TakeStoreError) in
            guard let plan = plans[take.id] else { throw .noSuchTake(take.id.text) }
            return plan
        }
        session.running.whenLeaving { batch.leave() }
        for await resent in batch { tell(resent) }
        let count = progress.end()
        guard !session.output.quiet else { return session.farewellStatus ?? status }
        StandardError.line(count.summary(at: .now))
        if count.left > 0 || count.failed > 0 {
            StandardError.hint("what waits is shown by 'utter list'; send one with: utter retry ID")
        }
        if beyond > 0 {
            StandardError.line("\(beyond) more \(beyond == 1 ? "take waits" : "takes wait")")
            StandardError.hint("send more with: utter flush --limit \(takes.count + beyond)")
        }
        return session.farewellStatus ?? status
    }

    private mutating func tell(_ resent: ResentTake) {
        switch resent.ending {
        case .left: progress.note { $0.left += 1 }
        case .skipped(let reason):
            progress.note { $0.left += 1 }
            tellSkipped(resent.kept, reason)
        // A take that another process sends, has had answered, or has removed is not a failure.
        case .elsewhere: progress.note { $0.elsewhere += 1 }
        case .failed(let error):
            progress.note { $0.failed += 1 }
            progress.screen.write { StandardError.error(error.description) }
            status.fail(CommandFailure(error).status)
        case .outcome(let outcome, let take):
            session.running.end(take, isUnprotected: outcome.unprotected != nil)
            progress.note { Self.count(outcome, in: &$0) }
            let ended = EndedTake(
                session: session, take: take, plan: take.delivery, outcome: outcome)
            status.fail(progress.screen.write { tell(ended, isLast: resent.closesService) })
        }
    }

    /// Says once for each service and reason why takes are not sent.
    private mutating func tellSkipped(_ take: KeptTake, _ reason: String) {
        let url = plans[take.id]?.service.url.description ?? take.service
        let text = "skipping the other takes for \(url): \(reason)"
        guard told.insert(text).inserted else { return }
        progress.screen.write { StandardError.line(text) }
    }

    private static func count(_ outcome: TakeOutcome, in count: inout BatchCount) {
        switch outcome.result {
        case .success:
            if outcome.shortfall == nil { count.answered += 1 } else { count.failed += 1 }
        case .failure(.left): count.left += 1
        case .failure: count.failed += 1
        }
    }

    /// A failure that concerns more takes than this one (`isLast`) has its hint.
    private func tell(_ ended: EndedTake, isLast: Bool) -> ExitStatus {
        let outcome = ended.outcome
        let id = outcome.id.text
        var status = ExitStatus(outcome)
        for notice in outcome.notices {
            switch notice {
            case .damaged: StandardError.line("warning: take \(id) is \(notice.text)")
            case .oddAnswer: StandardError.line("warning: take \(id): \(notice.text)")
            default: break
            }
        }
        if isAsked ? outcome.isRepeated : outcome.mayBeDoubled {
            StandardError.line(
                "take \(id) was sent twice: the service may have had \(outcome.doubledPart) before")
        }
        switch outcome.result {
        case .success:
            if let shortfall = outcome.shortfall {
                StandardError.line("take \(id): \(shortfall)")
            } else if !progress.screen.isLive, !session.output.quiet {
                // A bar shows the same.
                StandardError.line("take \(id): answered")
            }
        // It waits on.
        case .failure(.left): status = .textPrinted
        case .failure(let failure):
            StandardError.error("take \(id): \(failure.description)")
            if isLast { StandardError.hint(failure.hint) }
        }
        let given = ended.give(status)
        guard given.isSafe else {
            StandardError.hint(
                "the transcript of take \(id) is in the take: utter show \(outcome.id.shortName)")
            return status == .textPrinted ? .localIO : status
        }
        ended.release()
        return given.status
    }
}
