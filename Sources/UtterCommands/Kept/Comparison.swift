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

    /// The status of the first service that failed; rows stand in the order of the services.
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
                take = try await orFailure(awaiting: {
                    try await session.pipeline.resend(kept, by: plan.delivery)
                })
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
        let ended = await session.follow(take, by: take.delivery)
        if isOwn { ended.release() }
        return ComparisonRow(service, ended.outcome, in: .now - start)
    }

    private struct Plan {
        var delivery: DeliveryPlan
        var isOwn: Bool
    }

    private func plan(for service: String) throws(CommandFailure) -> Plan {
        let delivery = try options.service.of(service).delivery(
            of: kept, format: options.format)
        let own = kept.known?.delivery
        // A take that cannot be sent has no service of its own.
        let ownURL = own.flatMap { try? DeliveryPlan($0) }?.service.url
        let isOwn =
            (delivery.profile?.profile.name ?? "") == own?.profileName ?? ""
            && delivery.service.url == ownURL
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
    /// The same options for another service; nil: that of the take.
    fileprivate func of(_ service: String?) -> ServiceOptions {
        var options = self
        options.profile.service = service
        return options
    }
}

private struct ComparisonRow {
    private let service: String
    let status: ExitStatus
    private var text: String?
    private var error: (message: String, hint: String?)?
    /// From the beginning of the sending to the end of the answer.
    private var milliseconds: Double?

    init(_ service: String, _ failure: CommandFailure) {
        (self.service, status) = (service, failure.status)
        error = (failure.message, failure.hint)
    }

    init(_ service: String, _ outcome: TakeOutcome, in time: Duration) {
        self.service = service
        status = ExitStatus(outcome)
        milliseconds = (time / .milliseconds(1)).rounded()
        switch outcome.result {
        case .success(let transcript):
            text = transcript.displayText
            if let reason = outcome.shortfall { error = (reason, nil) }
        case .failure(let failure):
            error = (failure.description, failure.hint)
        }
    }

    static func table(_ rows: [ComparisonRow]) -> String {
        let names = rows.map(\.service.count).max() ?? 0
        let times = rows.map { row in
            row.milliseconds.map { "\(Int($0 / 100) / 10).\(Int($0 / 100) % 10) s" } ?? ""
        }
        let width = times.map(\.count).max() ?? 0
        return zip(rows, times).map { row, time in
            let reason = row.error.map { "error: " + TerminalText.sanitized($0.message) }
            let text = row.text.flatMap { $0.isEmpty ? nil : $0 } ?? reason ?? ""
            return TextWidth.padded(row.service, to: names + 2)
                + String(repeating: " ", count: width - time.count) + time + "  "
                + TerminalText.singleLine(text)
        }.joined(separator: "\n")
    }

    static func json(_ rows: [ComparisonRow]) -> String {
        let objects = rows.map { row -> JSONObject in
            let error = row.error.map { ["message": $0.message, "hint": $0.hint] as JSONObject }
            return [
                "service": row.service, "exit": row.status.rawValue, "text": row.text,
                "error": error, "milliseconds": row.milliseconds,
            ]
        }
        return JSONOutput.text(objects, isPretty: true)
    }
}
