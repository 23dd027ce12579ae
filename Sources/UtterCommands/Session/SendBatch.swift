// SPDX-License-Identifier: Apache-2.0

internal import Utter

/// Sends many files, a few at a time, and prints their texts in the order of the files.
struct SendBatch {
    /// What became of a file.
    private enum Ending: Sendable {
        case outcome(TakeOutcome, Take, DeliveryPlan)
        case refused(CommandFailure)
        /// It was not sent: the service takes none, or the person wants to leave.
        case left
    }

    private let files: [String]
    private let session: TakeSession
    private let isServiceUnset: Bool
    private let progress: BatchProgress
    private var gate = ServiceGate()
    private var status = ExitStatus.textPrinted

    /// Prepares to send files.
    init(_ files: [String], in session: TakeSession, isServiceUnset: Bool) {
        self.files = files
        self.isServiceUnset = isServiceUnset
        var session = session
        session.namesTexts = true
        self.session = session
        progress = BatchProgress(
            count: files.count, isLive: StandardError.isTerminal && !session.output.quiet)
    }

    /// Sends them, at most `jobs` at a time.
    ///
    /// - Parameters:
    ///   - jobs: how many at a time.
    ///   - plan: makes the take of a file, when its turn has come.
    /// - Returns: the status of the first file that failed.
    mutating func run(
        jobs: Int, _ plan: (String) throws(CommandFailure) -> TakePlan
    ) async -> ExitStatus {
        var endings: [Int: Ending] = [:]
        var printed = 0
        await withTaskGroup(of: (Int, Ending).self) { group in
            var (next, running) = (0, 0)
            while true {
                while running < jobs, next < files.count {
                    let index = next
                    (next, running) = (next + 1, running + 1)
                    var own = session
                    own.file = files[index]
                    let prepared = prepare(files[index], plan)
                    group.addTask { [own, progress] in
                        (index, await Self.send(prepared, index, in: own, progress))
                    }
                }
                guard let (index, ending) = await group.next() else { break }
                running -= 1
                endings[index] = ending
                learn(ending, index)
                while let ending = endings.removeValue(forKey: printed) {
                    await tell(ending, of: files[printed])
                    printed += 1
                }
            }
        }
        progress.clear()
        if !session.output.quiet { StandardError.line(progress.summary) }
        return session.farewellStatus ?? status
    }

    private func prepare(
        _ file: String, _ plan: (String) throws(CommandFailure) -> TakePlan
    ) -> Result<TakePlan, CommandFailure>? {
        guard session.farewellStatus == nil else { return nil }
        let prepared = Result { () throws(CommandFailure) in
            try session.folder?.check(file)
            return try plan(file)
        }
        // What comes from a pipe is nowhere else, and is kept at least.
        if case .success(let plan) = prepared, file != "-",
            gate.reason(against: .init(plan.delivery.service)) != nil
        {
            return nil
        }
        return prepared
    }

    private static func send(
        _ prepared: Result<TakePlan, CommandFailure>?, _ index: Int, in session: TakeSession,
        _ progress: BatchProgress
    ) async -> Ending {
        switch prepared {
        case nil: return .left
        case .failure(let failure): return .refused(failure)
        case .success(let plan):
            var plan = plan
            // For the bar, which counts parts of files.
            plan.delivery.reportsProgress = progress.isLive || session.output.events
            plan.delivery.cassettes = session.cassettes
            let take = await session.begin(plan)
            session.running.begin(take)
            for await event in take.events {
                session.tell(event, of: take)
                progress.note(event, of: index)
            }
            let outcome = await take.outcome
            session.trace?.add(outcome)
            session.running.end(take, isUnprotected: outcome.unprotected != nil)
            return .outcome(outcome, take, plan.delivery)
        }
    }

    private mutating func learn(_ ending: Ending, _ index: Int) {
        guard case .outcome(let outcome, _, let plan) = ending else {
            return progress.finish(index, nil, hasFailed: true)
        }
        progress.finish(index, outcome.length, hasFailed: ExitStatus(outcome) != .textPrinted)
        let service = ServiceGate.Service(plan.service)
        let wasOpen = gate.reason(against: service) == nil
        guard case .failure(let failure) = outcome.result else {
            return gate.note(nil, at: service)
        }
        gate.note(failure, at: service)
        guard wasOpen, let reason = gate.reason(against: service) else { return }
        progress.write {
            StandardError.line("skipping the other files: \(reason)")
            StandardError.hint(Hints.of(failure))
        }
    }

    private mutating func tell(_ ending: Ending, of file: String) async {
        var session = session
        session.file = file
        switch ending {
        case .left: fail(session.farewellStatus ?? .notDelivered)
        case .refused(let failure):
            progress.write { fail(session.refuse(failure)) }
        case .outcome(let outcome, let take, let plan):
            progress.clear()
            fail(
                await session.conclude(take, outcome, by: plan, isServiceUnset: isServiceUnset))
            progress.show()
        }
    }

    private mutating func fail(_ status: ExitStatus) {
        if self.status == .textPrinted { self.status = status }
    }
}
