// SPDX-License-Identifier: Apache-2.0

internal import Utter
internal import UtterTerminal

/// Sends many files, a few at a time, and prints their texts in the order of the files.
struct SendBatch: OrderedBatch {
    enum Ending: Sendable {
        case ended(EndedTake)
        case refused(CommandFailure)
        /// It was not sent: the service takes none, or the person wants to leave.
        case left
    }

    private let files: [String]
    private let plan: (String, StatusScreen) throws(CommandFailure) -> TakePlan
    private let session: TakeSession
    private let progress: BatchProgress
    private var gate = ServiceGate()
    /// Why the other files are skipped, until that is said.
    private var skipReason: String?
    private var status = ExitStatus.textPrinted

    init(
        _ files: [String], in session: TakeSession,
        _ plan: @escaping (String, StatusScreen) throws(CommandFailure) -> TakePlan
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
        let prepared: TakePlan?
        do throws(CommandFailure) {
            prepared = try prepare(files[index])
        } catch {
            return { .refused(error) }
        }
        return { [own, progress] in
            guard var plan = prepared else { return .left }
            let take = await own.begin(&plan)
            own.running.begin(take)
            let ended = await own.follow(take, by: plan.delivery) { event in
                own.tell(event, of: take)
                guard case .progress(let state) = event else { return }
                progress.note { $0.parts[index] = state.sentShare }
            }
            return .ended(ended)
        }
    }

    /// The plan of a file that is to be sent; nil when none is.
    private func prepare(_ file: String) throws(CommandFailure) -> TakePlan? {
        guard session.farewellStatus == nil else { return nil }
        try session.folder?.check(file)
        let plan = try plan(file, progress.screen)
        // A pipe's sound is nowhere else, and is kept at least.
        let isRefused = gate.reason(against: .init(plan.delivery.service)) != nil
        return file != "-" && isRefused ? nil : plan
    }

    mutating func learn(_ ending: Ending, _ index: Int) {
        guard case .ended(let ended) = ending else {
            return progress.note { $0.finish(index, nil, hasFailed: true) }
        }
        progress.note {
            let hasFailed = ExitStatus(ended.outcome) != .textPrinted
            $0.finish(index, ended.outcome.length, hasFailed: hasFailed)
        }
        let service = ServiceGate.Service(ended.plan.service)
        let wasOpen = gate.reason(against: service) == nil
        guard case .failure(let failure) = ended.outcome.result else {
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
        case .ended(var ended): status.fail(await ended.conclude(on: progress.screen))
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
