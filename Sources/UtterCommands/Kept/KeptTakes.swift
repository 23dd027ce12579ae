// SPDX-License-Identifier: Apache-2.0

import Utter

enum KeptTakes {
    /// Sends the takes that `names` name, one after the other.
    ///
    /// The status is that of the first failure; the others are sent all the same, unless
    /// the person wants to leave.
    static func send(_ names: [String], by options: KeptTakeOptions) async throws {
        try await start(options) { session throws(CommandFailure) in
            var status = ExitStatus.textPrinted
            let isChanged = options.changesSomething
            if let services = Comparison.services(in: options) {
                return try await compare(names, services, by: options, in: session)
            }
            if names.count > 1 {
                try checkSecrets(of: names, isChanged, by: options, session.lookup)
            }
            for name in names {
                var next: ExitStatus
                do throws(CommandFailure) {
                    let folder = try folder(name, isChanged, session.lookup)
                    let manifest = try TakeLookup.manifest(folder)
                    try session.lookup.checkKey(of: manifest)
                    let plan = try options.service.delivery(of: manifest, format: options.format)
                    if options.changesAnswerAlone, options.output.form == .text,
                        var answer = KeptAnswer(of: folder, manifest),
                        let text = answer.text(by: plan.service.answer)
                    {
                        next = session.give(text)
                    } else {
                        next = await session.resend(folder, by: plan)
                    }
                } catch {
                    error.report(as: options.output.form)
                    next = error.status
                }
                if status == .textPrinted { status = next }
                if next.isByRequest { return next }
            }
            return status
        }
    }

    private static func compare(
        _ names: [String], _ services: [String], by options: KeptTakeOptions,
        in session: TakeSession
    ) async throws(CommandFailure) -> ExitStatus {
        guard let name = names.first, names.count == 1, name != "all" else {
            throw CommandFailure(
                "one recording is compared at a time", hint: "name one take", status: .usage)
        }
        let folder = try folder(name, true, session.lookup)
        let manifest = try TakeLookup.manifest(folder)
        try session.lookup.checkKey(of: manifest)
        return try await Comparison(of: folder, manifest, services, by: options, in: session).run()
    }

    /// Sends what waits, at most `limit` takes and `jobs` at a time.
    ///
    /// Unless the person has asked for all (`isAsked`), some are left: what has waited for longer
    /// than `maxAge`, what the same request would fail with again, and what is tried again later.
    static func flush(
        limit: Int = .max, jobs: Int = 1, maxAge: Duration? = nil, isAsked: Bool = false,
        by options: KeptTakeOptions
    ) async throws {
        try await start(options) { session throws(CommandFailure) in
            guard let store = try session.lookup.store() else { return .textPrinted }
            let clock = SpoolAge(in: store)
            let queue = FlushQueue(
                try TakeLookup.kept(in: store, tellsRecovery: !session.output.quiet),
                isAsked: isAsked,
                isChanged: { _ in options.changesSomething },
                isDoubtful: { take in
                    let word = options.service.onUnknown ?? .init(take.delivery)
                    return take.mayBeDelivered && word != .resend
                },
                isOld: { take in maxAge.map { clock.age(since: take.id.date) >= $0 } ?? false })
            if !session.output.quiet { tell(queue) }
            var items: [Flush.Item] = []
            var incomplete: ExitStatus?
            var left = 0
            var told: Set<String> = []
            for manifest in queue.due.prefix(limit) {
                do throws(CommandFailure) {
                    try session.lookup.checkKey(of: manifest)
                    var plan = try options.service.delivery(of: manifest, format: options.format)
                    // The next run tries again, and other takes wait.
                    plan.retry.pausesAfterRelease = Array(plan.retry.pausesAfterRelease.prefix(1))
                    items.append(Flush.Item(manifest, plan: plan))
                } catch {
                    // A wrong command line is wrong for all.
                    guard error.status == .configuration else { throw error }
                    // Without the key nothing can be sent; without a secret, others can.
                    incomplete = incomplete ?? (manifest.isLocked ? error.status : .notDelivered)
                    left += 1
                    guard told.insert(error.message).inserted else { continue }
                    var failure = error
                    failure.status = incomplete ?? error.status
                    failure.report(as: options.output.form)
                }
            }
            try checkSecrets(of: items.map(\.plan), by: options)
            var flush = Flush(
                items, left: left, beyond: max(0, queue.due.count - limit), isAsked: isAsked,
                in: session)
            let status = await flush.run(jobs: jobs)
            return status == .textPrinted ? incomplete ?? status : status
        }
    }

    /// A token that is given here belongs to one service, and goes to no other.
    private static func checkSecrets(
        of plans: [DeliveryPlan], by options: KeptTakeOptions
    ) throws(CommandFailure) {
        let origins = Set(plans.map { $0.service.url.origin.description }).sorted()
        guard options.service.bringsSecrets, origins.count > 1 else { return }
        throw CommandFailure(
            "the takes go to \(origins.count) services, and the token belongs to one of them: "
                + origins.joined(separator: ", "),
            hint: "send the takes of each by their names: utter retry ID …", status: .usage)
    }

    private static func checkSecrets(
        of names: [String], _ isChanged: Bool, by options: KeptTakeOptions,
        _ lookup: TakeLookup
    ) throws(CommandFailure) {
        guard options.service.bringsSecrets else { return }
        var plans: [DeliveryPlan] = []
        for name in names {
            let manifest = try TakeLookup.manifest(try folder(name, isChanged, lookup))
            try lookup.checkKey(of: manifest)
            plans.append(try options.service.delivery(of: manifest, format: options.format))
        }
        try checkSecrets(of: plans, by: options)
    }

    private static func tell(_ queue: FlushQueue) {
        tell(
            queue.old, "is too old to be sent unasked", "are too old to be sent unasked",
            "send what is old with")
        tell(
            queue.doubtful, "may have been delivered, and is not sent again unasked",
            "may have been delivered, and are not sent again unasked", "send it again with")
        tell(
            queue.held, "waits until something about it is changed: 'utter list' says why",
            "wait until something about them is changed: 'utter list' says why", "send it now with")
        tell(
            queue.later, "is tried again later", "are tried again later", "send it now with")
    }

    private static func tell(
        _ takes: [TakeManifest], _ one: String, _ many: String, _ hint: String
    ) {
        guard !takes.isEmpty else { return }
        let names = takes.map(\.id.text)
        StandardError.line(
            takes.count == 1 ? "take \(names[0]) \(one)" : "\(takes.count) takes \(many)")
        StandardError.hint(
            "\(hint): utter retry "
                + (takes.count <= 5 ? names.joined(separator: " ") : "all"))
    }

    private static func start(
        _ options: KeptTakeOptions,
        _ body: (TakeSession) async throws(CommandFailure) -> ExitStatus
    ) async throws {
        var keep = KeepOptions.standard
        keep.keepAudio = options.keepAudio
        try await Launch.takes(
            output: options.output, keep: keep, encryption: options.encryption.source,
            readsPipe: false, body)
    }

    /// Finds a take; `last` is the newest that waits for an answer, or when none does, or something
    /// is to be done in another way, the newest that has its audio; `last~N` is the N-th before it.
    private static func folder(
        _ name: String, _ isChanged: Bool, _ lookup: TakeLookup
    ) throws(CommandFailure) -> TakeFolder {
        guard let steps = TakeNames.stepsBack(name) else { return try lookup.take(name) }
        let store = try lookup.store()
        let count = min(steps, 1 << 30) + 1
        var takes = try TakeLookup.newest(
            count, in: store, where: { $0.state != .answered }, mayBe: { _ in true })
        if isChanged || takes.isEmpty {
            takes = try TakeLookup.newest(
                count, in: store, where: { store?.audioByteCount(of: $0.id) != nil },
                mayBe: { _ in true })
        }
        guard takes.count == count, let last = takes.last else {
            throw CommandFailure(
                "no take waits for an answer, and none still has its audio",
                hint: "run 'utter list' to see what is kept", status: .noInput)
        }
        return try lookup.take(last.id.text)
    }
}
