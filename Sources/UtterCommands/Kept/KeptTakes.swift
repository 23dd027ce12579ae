// SPDX-License-Identifier: Apache-2.0

internal import CassetteRecording
internal import Cryptography
internal import Utter
internal import UtterTerminal

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
            if names.count > 1, options.service.bringsSecrets {
                let plans = try names.map { name throws(CommandFailure) in
                    try options.service.delivery(
                        of: take(name, isChanged, session.spool), format: options.format)
                }
                try checkSecrets(of: plans, by: options)
            }
            for name in names {
                var next: ExitStatus
                do throws(CommandFailure) {
                    let take = try take(name, isChanged, session.spool)
                    var plan = try options.service.delivery(of: take, format: options.format)
                    plan.replacesWhole = name != "last"
                    if name == "last", take.state == .answered, !isChanged, !options.output.quiet {
                        StandardError.line(
                            "no take waits: \(take.id.shortName) is sent again, which was answered")
                    }
                    if options.changesAnswerAlone, options.output.form == .text,
                        let text = try orFailure({
                            try session.spool.reread(take, by: plan.service.answer)
                        })
                    {
                        next = session.give(text)
                    } else {
                        next = await session.resend(take.id, by: plan)
                    }
                    if next == .textPrinted, take.known?.unedited != nil, !options.output.quiet {
                        let name = take.id.shortName
                        StandardError.line("take \(name) keeps the text that you have edited")
                        StandardError.hint("see it and the service's with: utter show \(name)")
                    } else if next == .textPrinted, take.state == .answered, !plan.replacesWhole,
                        take.known?.lacksEnd == true, !options.output.quiet
                    {
                        let name = take.id.shortName
                        StandardError.line("take \(name) keeps its text, which was of more audio")
                        StandardError.hint("take the new one with: utter retry \(name)")
                    }
                } catch {
                    error.report(as: options.output.form)
                    next = error.status
                }
                status.fail(next)
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
        let take = try take(name, true, session.spool)
        return try await Comparison(of: take, services, by: options, in: session).run()
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
            let kept = try kept(in: session.spool, tellsRecovery: !session.output.quiet)
            let obstacles = kept.map { take in
                isAsked
                    ? nil
                    : take.obstacle(
                        waitingUpTo: maxAge, isChanged: options.changesSomething,
                        unknownOutcome: options.service.field("retry.unknown").flatMap {
                            UnknownOutcome(rawValue: $0)
                        })
            }
            if !session.output.quiet { tell(kept, obstacles) }
            let due = KeptTake.inSendingOrder(zip(kept, obstacles).filter { $0.1 == nil }.map(\.0))
            var items: [(take: KeptTake, plan: DeliveryPlan)] = []
            var incomplete: ExitStatus?
            var left = 0
            var told: Set<String> = []
            for take in due.prefix(limit) {
                do throws(CommandFailure) {
                    // A timer says nothing, and chooses no service for what was said before.
                    var plan = try options.service.delivery(
                        of: take, format: options.format, isAsked: isAsked || !options.output.quiet)
                    TextSettings.apply(to: &plan)
                    plan.observing = session.cassettes?.observing
                    // A bar shows how many are answered, not how far each has come.
                    plan.reportsProgress = false
                    items.append((take, plan))
                } catch {
                    // A wrong command line is wrong for all.
                    guard error.status != .usage else { throw error }
                    // Without the key nothing can be sent; without a secret, others can.
                    incomplete = incomplete ?? (take.lock != nil ? error.status : .notDelivered)
                    left += 1
                    guard told.insert(error.message).inserted else { continue }
                    var failure = error
                    failure.status = incomplete ?? error.status
                    failure.report(as: options.output.form)
                }
            }
            try checkSecrets(of: items.map(\.plan), by: options)
            var flush = Flush(
                items, left: left, beyond: max(0, due.count - limit), isAsked: isAsked, in: session)
            var status = await flush.run(jobs: jobs)
            if session.running.farewell == nil {
                let archiving = Task { [pipeline = session.pipeline] in
                    await pipeline.archive(isAsked: isAsked)
                }
                session.running.whenLeaving { archiving.cancel() }
                let report = await archiving.value
                if !session.output.quiet { report.lines.tell() }
                if report.waiting > 0 { status.fail(.notDelivered) }
            }
            if session.running.farewell == nil {
                await dropOverdue(in: session)
                status.fail(try await session.fetchWaiting())
            }
            return status == .textPrinted ? incomplete ?? status : status
        }
    }

    /// Removes cancelled takes whose audio has gone by its age, once services have dropped them, too.
    private static func dropOverdue(in session: TakeSession) async {
        // A take that cannot be listed or removed is left for the next time.
        for take in (try? session.spool.takes()) ?? []
        where take.state == .cancelled && take.audioPath == nil && take.isPartlyThere {
            if await session.pipeline.drops(take) {
                _ = try? session.spool.remove(take.id, forGood: true)  // Left, too.
            }
        }
    }

    /// The takes that are kept, oldest first, after those were recovered whose program died.
    private static func kept(
        in spool: Spool, tellsRecovery: Bool
    ) throws(CommandFailure) -> [KeptTake] {
        try orFailure {
            var takes = try spool.takes()
            let dead = takes.filter(\.isAbandoned)
            if dead.count >= ListCommand.quickCount, tellsRecovery {
                StandardError.line("recovering recordings whose program ended")
            }
            if !dead.isEmpty {
                try spool.recover(dead)
                takes = try spool.takes()
            }
            return takes.filter { $0.state == .kept && $0.audioPath != nil }
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

    private static func tell(_ takes: [KeptTake], _ obstacles: [KeptTake.Obstacle?]) {
        let takes = { (isMeant: (KeptTake.Obstacle) -> Bool) in
            zip(takes, obstacles).filter { $0.1.map(isMeant) ?? false }.map(\.0)
        }
        tell(
            takes { $0 == .old }, "is too old to be sent unasked",
            "are too old to be sent unasked", "send what is old with")
        tell(
            takes { $0 == .doubtful }, "may have been delivered, and is not sent again unasked",
            "may have been delivered, and are not sent again unasked", "send it again with")
        tell(
            takes { $0 == .held }, "waits until something about it is changed",
            "wait until something about them is changed", "send it now with", saysWhy: true)
        tell(
            takes { if case .later = $0 { true } else { false } }, "is tried again later",
            "are tried again later", "send it now with")
    }

    private static func tell(
        _ takes: [KeptTake], _ one: String, _ many: String, _ hint: String, saysWhy: Bool = false
    ) {
        guard !takes.isEmpty else { return }
        let reasons = Set(takes.compactMap(\.reason))
        let why = reasons.count > 1 ? "'utter list' says why" : reasons.first
        StandardError.line(
            (takes.count == 1 ? "take \(takes[0].id.text) \(one)" : "\(takes.count) takes \(many)")
                + (saysWhy ? why.map { ": \($0)" } ?? "" : ""))
        StandardError.hint(
            "\(hint): utter retry "
                + (takes.count <= 5 ? takes.map(\.id.shortName).joined(separator: " ") : "all"))
    }

    private static func start(
        _ options: KeptTakeOptions,
        _ body: (TakeSession) async throws(CommandFailure) -> ExitStatus
    ) async throws {
        var keep = KeepOptions.standard
        keep.keepAudio = options.keepAudio
        try await Launch.takes(
            output: options.output, keep: keep, encryption: options.encryption.source,
            readsPipe: false, needsNoArchive: true, body)
    }

    private static func take(
        _ name: String, _ isChanged: Bool, _ spool: Spool
    ) throws(CommandFailure) -> KeptTake {
        let found = try spool.find { () throws(TakeStoreError) in
            try spool.take(toSend: name, isChanged: isChanged)
        }
        guard let found else {
            throw CommandFailure(
                "no take waits for an answer, and none still has its audio",
                hint: "see what is kept with: utter list", status: .noInput)
        }
        return found
    }
}

extension Spool {
    convenience init(
        _ encryption: EncryptionOptions, limits: SpoolLimits = .standard
    ) throws(CommandFailure) {
        let key = try encryption.source.key()
        self.init(
            at: Environment.stateFolder, key: key.map { key in { @Sendable in key } },
            limits: limits)
    }

    /// Finds one take by a part of its name, or by `last` or `last~2`.
    func named(_ name: String) throws(CommandFailure) -> KeptTake {
        try find { () throws(TakeStoreError) in try take(name) }
    }

    /// Finds takes; when a name is that of several, a person may choose.
    func find<Found>(
        _ body: () throws(TakeStoreError) -> Found
    ) throws(CommandFailure) -> Found {
        do throws(TakeStoreError) {
            return try body()
        } catch {
            var failure = CommandFailure(error)
            if case .ambiguous(_, let ids) = error {
                failure.choices = TakeEntry.choices(of: ids, in: self)
            }
            throw failure
        }
    }
}

extension [KeptTake] {
    /// Says how many are left out of what was looked for in their texts.
    func tellLocked() {
        let locked = count { $0.lock != nil }
        guard locked > 0 else { return }
        let left = "left out \(locked) \(locked == 1 ? "take" : "takes")"
        StandardError.line("\(left) that cannot be read without a key")
    }
}

extension ServiceOptions {
    func delivery(
        of take: KeptTake, format: AudioCodec?, isAsked: Bool = true
    ) throws(CommandFailure) -> DeliveryPlan {
        if let lock = take.lock { throw CommandFailure(lock) }
        return try delivery(
            of: orFailure { try take.manifest.get() }, format: format, isAsked: isAsked)
    }
}
