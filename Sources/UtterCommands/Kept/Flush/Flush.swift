// SPDX-License-Identifier: Apache-2.0

package import Utter

/// Sends many kept takes, a few at a time, and prints their answers in order.
package struct Flush: OrderedBatch {
    /// One take and how it is delivered.
    package struct Item: Sendable {
        package let id: TakeID
        package private(set) var plan: DeliveryPlan
        let attempts: Int

        package init(_ take: TakeManifest, plan: DeliveryPlan) {
            id = take.id
            attempts = take.attempts
            self.plan = plan
            // A bar shows how many are answered, not how far each has come.
            self.plan.reportsProgress = false
        }

        fileprivate var service: ServiceGate.Service { .init(plan.service) }
    }

    enum Ending: Sendable {
        case outcome(TakeOutcome, Take)
        case refused(TakeStoreError)
        /// The service takes no more.
        case left
    }

    private let session: TakeSession
    private let items: [Item]
    private let total: Int
    /// As many more wait for the next run.
    private let beyond: Int
    /// Whether the person has asked for these takes, however often they were sent.
    private let isAsked: Bool
    private let progress: BatchProgress
    private var gate = ServiceGate()
    /// The failures that have closed the gate, by the items that met them.
    private var closing: [Int: TakeFailure] = [:]
    /// Why takes are skipped, as far as that was said.
    private var told: Set<String> = []
    var status = ExitStatus.textPrinted

    /// Prepares to send takes, in this order; `left` more cannot be sent now, and `beyond` are too
    /// many for this run.
    package init(
        _ items: [Item], left: Int = 0, beyond: Int = 0, isAsked: Bool = false,
        in session: TakeSession
    ) {
        (self.session, self.items) = (session, items)
        (self.beyond, self.isAsked) = (beyond, isAsked)
        total = items.count + left
        var count = BatchCount("flush", total: total)
        count.left = left
        progress = BatchProgress(count, on: total > 0 ? session.makeLiveLine() : nil)
    }

    package mutating func run(jobs: Int) async -> ExitStatus {
        guard total > 0 else { return .textPrinted }
        await runAll(jobs: jobs)
        let count = progress.end()
        guard !session.output.quiet else { return session.farewellStatus ?? status }
        StandardError.line(count.summary(at: .now))
        if count.left > 0 || count.failed > 0 {
            StandardError.hint("what waits is shown by 'utter list'; send one with: utter retry ID")
        }
        if beyond > 0 {
            StandardError.line("\(beyond) more \(beyond == 1 ? "take waits" : "takes wait")")
            StandardError.hint("send more with: utter flush --limit \(items.count + beyond)")
        }
        return session.farewellStatus ?? status
    }

    var itemCount: Int { items.count }

    func job(_ index: Int) -> @Sendable () async -> Ending {
        let item = items[index]
        let isClosed = gate.reason(against: item.service) != nil || session.farewellStatus != nil
        return { [session] in isClosed ? .left : await Self.send(item, in: session) }
    }

    private static func send(_ item: Item, in session: TakeSession) async -> Ending {
        do throws(TakeStoreError) {
            guard let store = try session.pipeline.spool?.store() else { throw .notWanted }
            var plan = item.plan
            plan.cassettes = session.cassettes
            let take = try await session.pipeline.patientlyResend(
                store.take(item.id), by: plan, ifStillAfter: item.attempts)
            session.running.begin(take, isCancellable: false)
            let outcome = await take.outcome
            session.running.end(take, isUnprotected: outcome.unprotected != nil)
            return .outcome(outcome, take)
        } catch {
            return .refused(error)
        }
    }

    mutating func learn(_ ending: Ending, _ index: Int) {
        guard case .outcome(let outcome, _) = ending else { return }
        let item = items[index]
        switch outcome.result {
        case .success: gate.note(nil, at: item.service)
        case .failure(let failure):
            let wasOpen = gate.reason(against: item.service) == nil
            gate.note(failure, at: item.service)
            if wasOpen, gate.reason(against: item.service) != nil { closing[index] = failure }
        }
    }

    mutating func tell(_ ending: Ending, _ index: Int) {
        switch ending {
        case .left:
            progress.note { $0.left += 1 }
            tellSkipped(items[index])
        // What another process sends, has had answered, or has removed meanwhile is no failure.
        case .refused(.inUse), .refused(.notWaiting), .refused(.noSuchTake):
            progress.note { $0.elsewhere += 1 }
        case .refused(let error):
            progress.note { $0.failed += 1 }
            progress.write { StandardError.error(error.description) }
            fail(CommandFailure(error).status)
        case .outcome(let outcome, let take):
            progress.note { Self.count(outcome, in: &$0) }
            fail(progress.write { tell(outcome, of: take, closing[index]) })
        }
    }

    /// Says of the first take that a service is not asked for why that is so.
    private mutating func tellSkipped(_ item: Item) {
        guard let reason = gate.reason(against: item.service) else { return }
        let text = "skipping the other takes for \(item.plan.service.url): \(reason)"
        guard told.insert(text).inserted else { return }
        progress.write { StandardError.line(text) }
    }

    private static func count(_ outcome: TakeOutcome, in count: inout BatchCount) {
        switch outcome.result {
        case .success:
            if outcome.shortfall == nil { count.answered += 1 } else { count.failed += 1 }
        case .failure(.left): count.left += 1
        case .failure: count.failed += 1
        }
    }

    /// Prints what became of a take, and lets go of it.
    ///
    /// A failure that concerns more takes than this one has its hint.
    ///
    /// - Returns: how the process should exit for it.
    private func tell(
        _ outcome: TakeOutcome, of take: Take, _ closing: TakeFailure?
    ) -> ExitStatus {
        let id = outcome.id.text
        var status = ExitStatus(outcome)
        for notice in outcome.notices {
            guard case .damaged = notice else { continue }
            StandardError.line("warning: take \(id) is \(notice.text)")
        }
        if isAsked ? outcome.isRepeated : outcome.mayBeDoubled {
            StandardError.line(
                "take \(id) was sent twice: the service may have had the whole take before")
        }
        switch outcome.result {
        case .success:
            if let shortfall = outcome.shortfall {
                StandardError.line("take \(id): \(shortfall)")
            } else if progress.live == nil, !session.output.quiet {
                // A bar shows the same.
                StandardError.line("take \(id): answered")
            }
        // It waits on.
        case .failure(.left): status = .textPrinted
        case .failure(let failure): StandardError.error("take \(id): \(failure.description)")
        }
        if let closing { StandardError.hint(Hints.of(closing)) }
        let given = session.give(outcome, status)
        guard given.isSafe else {
            StandardError.hint("the transcript of take \(id) is in the take: utter show \(id)")
            return status == .textPrinted ? .localIO : status
        }
        if session.isSettled(outcome) { take.release(keepingAudioFor: session.audioTime) }
        return given.status
    }
}
