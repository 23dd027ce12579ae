// SPDX-License-Identifier: Apache-2.0

internal import Utter
internal import UtterTerminal

/// Sends many files, a few at a time, and prints their texts in the order of the files.
struct SendBatch: OrderedBatch {
    enum Ending: Sendable {
        case outcome(TakeOutcome, Take, DeliveryPlan)
        case refused(CommandFailure)
        /// It was not sent: the service takes none, or the person wants to leave.
        case left
    }

    private let files: [String]
    private let plan: (String) throws(CommandFailure) -> TakePlan
    private let session: TakeSession
    private let progress: BatchProgress
    private var gate = ServiceGate()
    /// Why the other files are skipped, until that is said.
    private var skipReason: String?
    private var status = ExitStatus.textPrinted

    init(
        _ files: [String], in session: TakeSession,
        _ plan: @escaping (String) throws(CommandFailure) -> TakePlan
    ) {
        (self.files, self.plan) = (files, plan)
        var session = session
        session.namesTexts = true
        self.session = session
        progress = BatchProgress(
            BatchCount("send", total: files.count), on: session.makeScreen())
    }

    mutating func run(jobs: Int) async -> ExitStatus {
        await runAll(jobs: jobs)
        let count = progress.end()
        if !session.output.quiet { StandardError.line(count.summary(at: .now)) }
        return session.farewellStatus ?? status
    }

    var itemCount: Int { files.count }

    func job(_ index: Int) -> @Sendable () async -> Ending {
        var own = session
        own.file = files[index]
        let prepared = prepare(files[index])
        return { [own, progress] in await Self.send(prepared, index, in: own, progress) }
    }

    private func prepare(_ file: String) -> Result<TakePlan, CommandFailure>? {
        guard session.farewellStatus == nil else { return nil }
        let prepared = Result { () throws(CommandFailure) in
            try session.folder?.check(file)
            return try plan(file)
        }
        // A pipe's sound is nowhere else, and is kept at least.
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
            session.watch(&plan.delivery)
            let take = await session.begin(plan)
            session.running.begin(take)
            for await event in take.events {
                session.tell(event, of: take)
                guard case .progress(let state) = event else { continue }
                progress.note { $0.parts[index] = state.sentShare }
            }
            let outcome = await take.outcome
            session.running.end(take, isUnprotected: outcome.unprotected != nil)
            return .outcome(outcome, take, plan.delivery)
        }
    }

    mutating func learn(_ ending: Ending, _ index: Int) {
        guard case .outcome(let outcome, _, let plan) = ending else {
            return progress.note { $0.finish(index, nil, hasFailed: true) }
        }
        progress.note {
            $0.finish(index, outcome.length, hasFailed: ExitStatus(outcome) != .textPrinted)
        }
        let service = ServiceGate.Service(plan.service)
        let wasOpen = gate.reason(against: service) == nil
        guard case .failure(let failure) = outcome.result else {
            return gate.note(nil, at: service)
        }
        gate.note(failure, at: service)
        if wasOpen { skipReason = gate.reason(against: service) }
    }

    mutating func tell(_ ending: Ending, _ index: Int) async {
        var session = session
        session.file = files[index]
        switch ending {
        case .left:
            if let reason = skipReason {
                progress.screen.write { StandardError.line("skipping the other files: \(reason)") }
                skipReason = nil
            }
            status.fail(session.farewellStatus ?? .notDelivered)
        case .refused(let failure): status.fail(progress.screen.write { session.refuse(failure) })
        case .outcome(let outcome, let take, let plan):
            status.fail(await session.conclude(take, outcome, by: plan, on: progress.screen))
        }
    }
}

extension TakeProgress {
    /// How much the service has, from 0 to 1; the length of a file that is read is not known yet.
    fileprivate var sentShare: Double {
        guard isComplete, bodyByteCount > 0 else { return 0 }
        return min(1, Double(sentByteCount) / Double(bodyByteCount))
    }
}
