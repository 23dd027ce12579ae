// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Utter
internal import UtterTerminal

/// Sends one kept recording to several services side by side.
///
/// Each gets a take of its own, which lives in memory and leaves nothing on the disk. Where the
/// kept take was meant to go it is sent as it is, and answered by that.
struct Comparison {
    private static let jobs = 4

    private static let sampleLimit = 128 << 20

    private let kept: KeptTake
    private let services: [String]
    private let options: KeptTakeOptions
    private let session: TakeSession

    /// The services that are to be compared; nil when one at most is named.
    static func services(in options: KeptTakeOptions) -> [String]? {
        let names = (options.service.profile.service ?? "").split(separator: ",").map(String.init)
        return names.count > 1 ? names : nil
    }

    init(
        of kept: KeptTake, _ services: [String], by options: KeptTakeOptions,
        in session: TakeSession
    ) throws(CommandFailure) {
        (self.kept, self.services) = (kept, services)
        (self.options, self.session) = (options, session)
        guard !options.service.bringsSecrets, options.service.target == nil else {
            throw CommandFailure(
                "a token and a URL belong to one service, and several are named",
                hint: "say them in the settings: utter config edit", status: .usage)
        }
    }

    /// Sends it, and prints what came back, in the order of the services.
    ///
    /// - Returns: the status of the first service that failed.
    func run() async throws(CommandFailure) -> ExitStatus {
        var plans: [Result<Plan, CommandFailure>] = []
        for service in services {
            let plan = Result { () throws(CommandFailure) in try self.plan(for: service) }
            if case .failure(let failure) = plan, failure.status == .usage { throw failure }
            plans.append(plan)
        }
        let samples = try samples()
        let pipeline = try orFailure { try Pipeline(spool: nil, secrets: SecretAsker().answer) }
        defer { pipeline.shutDown() }
        var rows: [Int: ComparisonRow] = [:]
        await withTaskGroup(of: (Int, ComparisonRow).self) { group in
            for (index, plan) in plans.enumerated() {
                if index >= Self.jobs, let (done, row) = await group.next() { rows[done] = row }
                group.addTask { [services] in
                    guard session.farewellStatus == nil else {
                        return (index, ComparisonRow(services[index], Self.left))
                    }
                    let row = await row(services[index], plan, samples, in: pipeline)
                    return (index, row)
                }
            }
            for await (index, row) in group { rows[index] = row }
        }
        let ordered = services.indices.compactMap { rows[$0] }
        let text =
            options.output.form != .text
            ? ComparisonRow.json(ordered) : ComparisonRow.table(ordered)
        let printed = session.give(text)
        guard printed == .textPrinted else { return printed }
        return session.farewellStatus
            ?? ordered.map(\.status).first { $0 != .textPrinted } ?? .textPrinted
    }

    private static let left = CommandFailure("it was not asked", status: .cancelled)

    private func row(
        _ service: String, _ plan: Result<Plan, CommandFailure>, _ samples: [Int16],
        in pipeline: Pipeline
    ) async -> ComparisonRow {
        let start = ContinuousClock.now
        let take: Take
        let isOwn: Bool
        do throws(CommandFailure) {
            let plan = try plan.get()
            isOwn = plan.isOwn
            if isOwn {
                take = try await resend(by: plan.delivery)
            } else {
                var plan = TakePlan(
                    source: SampleSource(kept.id.text, samples), capture: CapturePlan(),
                    delivery: plan.delivery)
                plan.isCompleteSoon = true
                take = pipeline.start(plan)
            }
        } catch {
            return ComparisonRow(service, error)
        }
        session.running.begin(take)
        let outcome = await take.outcome
        session.running.end(take, isUnprotected: outcome.unprotected != nil)
        if isOwn, session.isSettled(outcome) { take.release(keepingAudioFor: session.audioTime) }
        return ComparisonRow(service, outcome, in: .now - start)
    }

    private func resend(by plan: DeliveryPlan) async throws(CommandFailure) -> Take {
        try await orFailure(awaiting: { try await session.pipeline.resend(kept, by: plan) })
    }

    private struct Plan {
        var delivery: DeliveryPlan
        var isOwn: Bool
    }

    private func plan(for service: String) throws(CommandFailure) -> Plan {
        let delivery = try options.service.of(service).delivery(
            of: kept, format: options.format)
        let own = kept.known?.delivery
        let isOwn =
            (delivery.profile?.profile.name ?? "") == own?.profile?.name ?? ""
            && delivery.service.url.text == own?.url
        var plan = Plan(delivery: delivery, isOwn: isOwn)
        if isOwn {
            plan.delivery = try options.service.of(nil).delivery(
                of: kept, format: options.format)
        }
        plan.delivery.reportsProgress = false
        return plan
    }

    private func samples() throws(CommandFailure) -> [Int16] {
        var source = try orFailure { try session.spool.samples(of: kept) }
        if let report = source.damageReport { StandardError.line("warning: not whole: \(report)") }
        var (samples, next): ([Int16], [Int16]) = ([], [])
        try orFailure {
            while samples.count <= Self.sampleLimit, try source.next(into: &next) {
                samples += next
            }
        }
        guard samples.count <= Self.sampleLimit else {
            throw CommandFailure(
                "take \(kept.id.text) is too long to be compared", status: .unusableAudio)
        }
        return samples
    }
}

extension ServiceOptions {
    /// The same options for another service; nil is that of the take.
    fileprivate func of(_ service: String?) -> ServiceOptions {
        var options = self
        options.profile.service = service
        return options
    }
}
