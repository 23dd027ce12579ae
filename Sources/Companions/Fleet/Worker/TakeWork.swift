// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import Capture
internal import Glibc
internal import LinuxPlatform
internal import SpeechService
internal import Synchronization
internal import TakeStore
internal import Utter

/// The work for one message, on its slot's thread.
struct TakeWork {
    private let worker: FleetWorker
    private let take: QueuedTake
    private let delivery: NATSDelivery
    private let began = ContinuousClock.now
    /// The tag of a mark that is to be replaced, since its death was taken back.
    private var openedTag: String?
    /// Once it is known.
    private var manifest: WorkManifest?
    /// Once it has begun.
    private var attempt: (number: Int, note: AttemptNote)?
    /// So many workers may look for a service that one of them does not know.
    private static let unknownLimit = 5
    /// A service that wants a longer one is asked again then.
    private static let longestPause = Duration.seconds(TokenBucket.longestPause)
    private var store: ObjectStore { worker.store }
    private var id: TakeID { take.id }

    init(_ worker: FleetWorker, _ take: QueuedTake, _ delivery: NATSDelivery) {
        (self.worker, self.take, self.delivery) = (worker, take, delivery)
    }

    mutating func run() throws(StoreFailure) {
        var forgiven = 0
        if let found = try store.get(FleetLayout.mark(of: id)) {
            let mark = ResultMark(found.bytes)
            guard let mark, mark.isOpen else { return try end(with: mark) }
            (openedTag, forgiven) = (found.tag, mark.forgiven ?? 0)
        }
        let manifest: WorkManifest
        do throws(StoreFailure) {
            guard let found = try store.get(take.key, limit: WorkManifest.byteLimit + 1) else {
                return giveUpMessage()
            }
            do throws(ManifestMistake) {
                manifest = try WorkManifest(
                    found.bytes, at: take.key, limit: worker.settings.audioLimit)
            } catch {
                return try bury(error.reason)
            }
        } catch {
            guard error.isTooLong || error.isRefusal else { throw error }
            return try bury(
                error.isRefusal
                    ? unplaced(error) : "the manifest has more than \(WorkManifest.byteLimit) bytes"
            )
        }
        self.manifest = manifest
        let (service, plan): (String, DeliveryPlan)
        switch worker.shelf.choice(for: manifest) {
        case .refused(let reason): return try bury(reason)
        case .unknown(let name):
            let reason = "the service '\(name)' is not one of this worker's"
            guard delivery.deliveryCount >= Self.unknownLimit else {
                return giveBack(.seconds(3), reason)
            }
            return try bury(reason)
        case .unusable(let name, let reason):
            return giveBack(pauseOf(name, .zero, isWrong: true), reason)
        case .service(let name, let made): (service, plan) = (name, made)
        }
        let history = try history(forgiven)
        if let reason = history.death(limit: worker.settings.attemptLimit) {
            return try bury(reason)
        }
        guard isLetThrough(service, manifest) else { return }
        try deliver(manifest, service, plan, history)
    }

    // MARK: - Before the try

    /// The mark is there: of a worker that died before its last steps, or of another.
    private func end(with mark: ResultMark?) throws(StoreFailure) {
        if let mark, delivery.deliveryCount > 1 { _ = try store.putTexts(of: mark, as: id) }
        if mark?.outcome == .death { try noteDeath() }
        worker.numbers.add(.doneAlready)
        tell("has its mark already")
        finish()
    }

    /// A message for which there is no manifest: of a fleet that was deleted, or not of ours.
    private func giveUpMessage() {
        guard delivery.deliveryCount >= 3 else {
            return giveBack(.seconds(10), "its manifest is not there")
        }
        worker.numbers.add(.badMessages)
        tell("dropped: its manifest is not there; is this the queue of this store?")
        delivery.drop()
    }

    private func history(_ forgiven: Int) throws(StoreFailure) -> TakeHistory {
        var notes: [Int: AttemptNote] = [:]
        for number in try store.attempts(of: id) {
            // An unreadable note counts as one without an end.
            notes[number] = try note(number) ?? AttemptNote(worker: "unknown")
        }
        return TakeHistory(attempts: notes, forgiven: forgiven)
    }

    private func note(_ number: Int) throws(StoreFailure) -> AttemptNote? {
        try store.get(FleetLayout.attempt(number, of: id)).flatMap {
            decoded(AttemptNote.self, $0.bytes)
        }
    }

    /// Waits for the limits of the service, and leaves it alone while it fails.
    private func isLetThrough(_ name: String, _ manifest: WorkManifest) -> Bool {
        if let rest = worker.state.withLock({ $0.pauses.rest(of: name) }) {
            giveBack(rest, "the service '\(name)' is left alone for now")
            return false
        }
        while let wait = worker.limits.take(name, audio: manifest.seconds) {
            worker.numbers.add(.limited)
            // Another worker may have time sooner.
            guard wait < .seconds(60), waits(wait, unless: { worker.isStopping }) else {
                giveBack(
                    worker.isStopping ? .zero : wait,
                    "the service '\(name)' has its limit, or wants a pause")
                return false
            }
        }
        return true
    }

    // MARK: - The try

    private mutating func deliver(
        _ manifest: WorkManifest, _ service: String, _ plan: DeliveryPlan, _ history: TakeHistory
    ) throws(StoreFailure) {
        let room = freeByteCount(at: worker.settings.folder) ?? .max
        guard room > manifest.byteCount * 2 + (64 << 20) else {
            return giveBack(.seconds(60), "the disk has no room for its audio")
        }
        try beginAttempt(history.nextNumber)
        let path = "\(worker.settings.folder)/\(id.text).\(manifest.format)"
        defer { _ = unsafe unlink(path) }
        let pause = { asked in TakeHistory.pause(after: history.failures + 1, asked: asked) }
        switch try fetch(manifest, to: path) {
        case .good: break
        case .bad(let reason): return try bury(reason)
        case .missing: return try giveBack(pause(.zero), "its audio is not there", .take)
        }
        let outcome = send(path, plan)
        worker.numbers.add(.calls, Double(outcome.attempts.count))
        if case .success = outcome.result { worker.state.withLock { $0.pauses.succeed(service) } }
        // Where it lay here says nothing to a person.
        let named = { (reason: String) in reason.replacing(path, with: manifest.audio) }
        switch TakeDecision(outcome) {
        case .text:
            let end = outcome.capture
            let notices = [end.warning.map(named)].compactMap(\.self) + end.faults.map(end.text)
            try settle(outcome, service, notices)
        case .death(let reason): try bury(named(reason))
        case .left: try giveBack(.zero, "the worker was asked to end", .nothing)
        case .again(let reason, let asked, .take):
            try giveBack(pause(asked), named(reason), .take)
        case .again(let reason, let wanted, let blame):
            let asked = min(wanted, Self.longestPause)
            let rest = pauseOf(service, asked, isWrong: blame == .account)
            if asked > .zero { worker.limits.close(service, for: asked) }
            try giveBack(max(asked, rest), named(reason), blame)
        }
    }

    private mutating func beginAttempt(_ first: Int) throws(StoreFailure) {
        var number = first
        let note = AttemptNote(worker: worker.settings.name)
        while true {
            if try store.put(FleetLayout.attempt(number, of: id), note.bytes, if: .absent) { break }
            // The answer was lost, or another worker has the take, too, and was faster.
            if try self.note(number) == note { break }
            number += 1
        }
        attempt = (number, note)
    }

    private enum Fetched { case good, missing, bad(String) }

    private func fetch(_ manifest: WorkManifest, to path: String) throws(StoreFailure) -> Fetched {
        let number = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else {
            throw StoreFailure(reason: SystemError.last("open \(path)").description)
        }
        let file = makePlainFile(OwnedDescriptor(taking: number))
        let fetched: ObjectStore.Fetched
        do throws(StoreFailure) {
            fetched = try store.fetch(
                manifest.audio, tag: manifest.tag, into: file, limit: manifest.byteCount)
        } catch {
            // The store has just taken the note of this try: what it refuses is this recording.
            if error.isRefusal { return .bad(unplaced(error)) }
            throw StoreFailure(reason: error.reason)
        }
        switch fetched {
        case .absent: return .missing
        case .changed: return .bad("its audio was replaced since it was submitted")
        case .tooLong: return .bad("its audio has more than \(manifest.byteCount) bytes")
        case .whole(let count, let digest):
            guard count == manifest.byteCount else {
                return .bad("its audio has \(count) bytes, not \(manifest.byteCount)")
            }
            guard manifest.sha256.map({ $0 == digest }) ?? true else {
                return .bad("its audio has another digest than its manifest says")
            }
            return .good
        }
    }

    /// Where the store is belongs into no mark.
    private func unplaced(_ error: StoreFailure) -> String {
        error.reason.replacing(store.link.place, with: "the store")
    }

    /// Sends the audio as a take of its own, and waits for its end.
    private func send(_ path: String, _ plan: DeliveryPlan) -> TakeOutcome {
        var delivery = plan
        // The queue tries again, and lets others do so.
        delivery.retry = .never
        delivery.reportsProgress = false
        var plan = TakePlan(source: self.worker.settings.source(path), delivery: delivery)
        plan.isCompleteSoon = true
        plan.id = id
        let pipeline = worker.pipeline
        let running = pipeline.start(plan)
        let isLeaving = worker.state.withLock { state in
            state.running[id] = .some(running)
            return state.isLeaving
        }
        if isLeaving { running.leave() }
        let outcome = blocking {
            let outcome = await running.outcome
            running.release(keepingAudioFor: .zero)
            await pipeline.settled()
            return outcome
        }
        // A folder that stays goes with the worker's.
        _ = try? pipeline.spool?.remove(id, forGood: true)
        return outcome
    }

    // MARK: - After the try

    private mutating func settle(
        _ outcome: TakeOutcome, _ service: String, _ notices: [String]
    ) throws(StoreFailure) {
        guard case .success(let transcript) = outcome.result else { return }
        var mark = ResultMark(.text, of: id)
        mark.say(transcript)
        mark.service = service
        mark.notices = notices.isEmpty ? nil : notices
        let gaps = outcome.capture.gaps.map { gap in
            ResultMark.Hole(
                start: Double(gap.start) / 16_000, duration: Double(gap.frames) / 16_000)
        }
        mark.gaps = gaps.isEmpty ? nil : gaps
        mark.duration = ((outcome.length / .seconds(1)) * 1_000).rounded() / 1_000
        let isOurs = try put(&mark)
        let work = began.duration(to: .now)
        if isOurs {
            _ = try store.putTexts(of: mark, as: id)
            worker.numbers.add(.audioSeconds, mark.duration ?? 0)
            worker.numbers.add(.workSeconds, work / .seconds(1))
        }
        let times = "\(outcome.length.secondsText) of audio in \(work.secondsText)"
        try end(.done, isOurs, "text", nil, told: "text, \(times)")
    }

    private mutating func bury(_ reason: String) throws(StoreFailure) {
        var mark = ResultMark(.death, of: id)
        (mark.reason, mark.key) = (reason, take.key)
        mark.duration = manifest.flatMap { $0.seconds > 0 ? $0.seconds : nil }
        let isOurs = try put(&mark)
        if isOurs { try noteDeath() }
        try end(.dead, isOurs, "death", reason, told: "dead: \(reason)")
    }

    /// The take has its mark.
    private mutating func end(
        _ count: FleetNumbers.Count, _ isOurs: Bool, _ outcome: String, _ reason: String?,
        told: String
    ) throws(StoreFailure) {
        worker.numbers.add(isOurs ? count : .duplicates)
        if !isOurs { attempt?.note.duplicate = true }
        try endAttempt(outcome, reason)
        tell((isOurs ? "" : "duplicate of another's mark: ") + told)
        finish()
    }

    /// Deaths are few, and are listed: without this each mark would have to be read.
    private func noteDeath() throws(StoreFailure) {
        _ = try store.put(FleetLayout.dead(id), take.bytes)
    }

    /// False when another's mark is there, and not this one, whose answer was lost.
    private func put(_ mark: inout ResultMark) throws(StoreFailure) -> Bool {
        mark.worker = worker.settings.name
        mark.attempt = attempt?.number
        let key = FleetLayout.mark(of: id)
        let condition = openedTag.map { ObjectStore.Condition.unchanged(tag: $0) } ?? .absent
        if try store.put(key, mark.bytes, if: condition) { return true }
        return try store.get(key).flatMap { ResultMark($0.bytes) } == mark
    }

    private mutating func endAttempt(
        _ outcome: String, _ reason: String?
    ) throws(StoreFailure) {
        attempt?.note.end(outcome, reason)
        guard let attempt else { return }
        _ = try store.put(FleetLayout.attempt(attempt.number, of: id), attempt.note.bytes)
    }

    /// Ends the attempt without a mark, and lets others have the take.
    private mutating func giveBack(
        _ time: Duration, _ reason: String, _ blame: TakeDecision.Blame
    ) throws(StoreFailure) {
        if blame != .take { attempt?.note.isForgiven = true }
        try endAttempt(blame == .take ? "failed" : "given back", reason)
        giveBack(time, reason)
    }

    private func giveBack(_ time: Duration, _ reason: String) {
        worker.numbers.add(.givenBack)
        tell("given back for \(time.secondsText): \(reason)")
        delivery.giveBack(after: time)
    }

    private func pauseOf(_ service: String, _ asked: Duration, isWrong: Bool) -> Duration {
        worker.state.withLock { $0.pauses.fail(service, asked: asked, isWrong: isWrong) }
    }

    private func finish() {
        do throws(QueueFailure) {
            try delivery.finish()
        } catch {
            // It is delivered once more, and has its mark then.
            worker.numbers.add(.queueErrors)
            tell(error.reason)
        }
    }

    private func tell(_ text: String) {
        var fields = ["TAKE_ID": id.text]
        fields["ATTEMPT"] = attempt.map { "\($0.number)" }
        worker.tell("take \(id.text): \(text)", fields)
    }
}
