// SPDX-License-Identifier: Apache-2.0

package import Utter

/// Sends many kept takes, a few at a time, and prints their answers in order.
package struct Flush {
    /// One take and how it is delivered.
    package struct Item: Sendable {
        package let id: TakeID
        package private(set) var plan: DeliveryPlan
        /// How many attempts are known of.
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

    /// What became of one.
    private enum Ending: Sendable {
        case outcome(TakeOutcome, Take)
        case refused(TakeStoreError)
        /// The service takes no more.
        case left
    }

    private let session: TakeSession
    private let items: [Item]
    private var count: FlushCount
    private var gate = ServiceGate()
    private var status = ExitStatus.textPrinted
    private var isDrawn = false

    /// Prepares to send takes, in this order; `left` more cannot be sent now.
    package init(_ items: [Item], left: Int = 0, in session: TakeSession) {
        self.session = session
        self.items = items
        count = FlushCount(total: items.count + left)
        count.left = left
    }

    /// Sends them, at most `jobs` at a time.
    ///
    /// - Returns: the status of the first that failed, in their order.
    package mutating func run(jobs: Int) async -> ExitStatus {
        guard count.total > 0 else { return .textPrinted }
        draw()
        var endings: [Int: Ending] = [:]
        var printed = 0
        await withTaskGroup(of: (Int, Ending).self) { group in
            var next = 0
            var running = 0
            while true {
                while running < jobs, next < items.count {
                    let (index, item) = (next, items[next])
                    next += 1
                    running += 1
                    let isClosed =
                        gate.reason(against: item.service) != nil || session.farewellStatus != nil
                    group.addTask { [session] in
                        (index, isClosed ? .left : await Self.send(item, in: session))
                    }
                }
                guard let (index, ending) = await group.next() else { break }
                running -= 1
                endings[index] = ending
                learn(ending, from: items[index])
                while let ending = endings.removeValue(forKey: printed) {
                    tell(ending, of: items[printed])
                    printed += 1
                }
                draw()
            }
        }
        clear()
        say(count.summary)
        if !session.output.quiet, count.left > 0 || count.failed > 0 {
            StandardError.hint("what waits is shown by 'utter list'; send one with: utter retry ID")
        }
        return session.farewellStatus ?? status
    }

    private static func send(_ item: Item, in session: TakeSession) async -> Ending {
        do throws(TakeStoreError) {
            let store = try session.pipeline.store.get()
            var plan = item.plan
            plan.cassettes = session.cassettes
            let take = try await session.pipeline.patientlyResend(
                store.take(item.id), by: plan, ifStillAfter: item.attempts)
            session.running.begin(take, isCancellable: false)
            let outcome = await take.outcome
            session.trace?.add(outcome)
            session.running.end(take, isUnprotected: outcome.unprotected != nil)
            return .outcome(outcome, take)
        } catch {
            return .refused(error)
        }
    }

    private mutating func learn(_ ending: Ending, from item: Item) {
        guard case .outcome(let outcome, _) = ending else { return }
        switch outcome.result {
        case .success: gate.note(nil, at: item.service)
        case .failure(let failure):
            let wasOpen = gate.reason(against: item.service) == nil
            gate.note(failure, at: item.service)
            guard wasOpen, let reason = gate.reason(against: item.service) else { return }
            clear()
            StandardError.line("skipping the other takes for \(item.plan.service.url): \(reason)")
            StandardError.hint(Hints.of(failure))
        }
    }

    private mutating func tell(_ ending: Ending, of item: Item) {
        clear()
        switch ending {
        case .left: count.left += 1
        // What another process sends, has had answered, or has removed meanwhile is no failure.
        case .refused(.inUse), .refused(.notWaiting), .refused(.noSuchTake):
            count.elsewhere += 1
        case .refused(let error):
            count.failed += 1
            StandardError.error(error.description)
            fail(CommandFailure(error).status)
        case .outcome(let outcome, let take):
            tell(outcome, take)
        }
    }

    private mutating func tell(_ outcome: TakeOutcome, _ take: Take) {
        let id = outcome.id.text
        let status = ExitStatus(outcome)
        for notice in outcome.notices {
            guard case .damaged = notice else { continue }
            clear()
            StandardError.line("warning: take \(id) is \(notice.text)")
        }
        if outcome.mayBeDoubled {
            clear()
            StandardError.line(
                "take \(id) was sent twice: the service may have had the whole take before")
        }
        switch outcome.result {
        case .success where outcome.shortfall != nil:
            count.failed += 1
            StandardError.line("take \(id): \(outcome.shortfall ?? "")")
            fail(status)
        case .success:
            count.answered += 1
            say("take \(id): answered", isDetail: true)
        case .failure(.left):
            count.left += 1
        case .failure(let failure):
            count.failed += 1
            StandardError.error("take \(id): \(failure.description)")
            fail(status)
        }
        let given = session.give(outcome, status)
        if given.status != status { fail(given.status) }
        guard given.isSafe else {
            StandardError.hint("the transcript of take \(id) is in the take: utter show \(id)")
            fail(.localIO)
            return
        }
        if session.isSettled(outcome) { take.release(keepingAudioFor: session.audioTime) }
    }

    private mutating func fail(_ status: ExitStatus) {
        if self.status == .textPrinted { self.status = status }
    }

    // MARK: - The terminal

    private var isLive: Bool { StandardError.isTerminal && !session.output.quiet }

    /// A line; a mere detail is not shown where a bar shows the same.
    private mutating func say(_ text: String, isDetail: Bool = false) {
        guard !session.output.quiet, !(isDetail && isLive) else { return }
        clear()
        StandardError.line(text)
    }

    private mutating func draw() {
        guard isLive else { return }
        StandardError.write(LiveText.drawing(count.bar(columns: StandardError.columns)))
        isDrawn = true
    }

    private mutating func clear() {
        if isDrawn { StandardError.write(LiveText.erasure()) }
        isDrawn = false
    }
}
