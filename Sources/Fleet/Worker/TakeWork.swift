// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import Capture
internal import Glibc
internal import LinuxPlatform
internal import SpeechService
internal import Synchronization
internal import TakeStore
internal import Utter

/// What a worker does for one message, on its slot's thread.
struct TakeWork {
    private let worker: FleetWorker
    private let take: QueuedTake
    private let delivery: any Delivery
    private let began = ContinuousClock.now
    private var store: ObjectStore { worker.store }
    private var id: TakeID { take.id }

    /// The mark that is to be replaced, and how many tries it has forgiven; nil for a new one.
    private struct Opened {
        var tag: String?
        var forgiven = 0

        var condition: ObjectStore.Condition { tag.map { .unchanged(tag: $0) } ?? .absent }
    }

    /// One try.
    private struct Attempt {
        var number: Int
        var note: AttemptNote
        var failures: Int
    }

    init(_ worker: FleetWorker, _ take: QueuedTake, _ delivery: any Delivery) {
        (self.worker, self.take, self.delivery) = (worker, take, delivery)
    }

    func run() throws(StoreFailure) {
        var opened = Opened()
        if let found = try store.get(FleetLayout.mark(of: id)) {
            let mark = ResultMark(found.bytes)
            guard let mark, mark.isOpen else { return try end(with: mark) }
            opened = Opened(tag: found.tag, forgiven: mark.forgiven ?? 0)
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
                return try bury(error.reason, opened, nil)
            }
        } catch {
            guard error.isTooLong else { throw error }
            return try bury(
                "the manifest has more than \(WorkManifest.byteLimit) bytes", opened, nil)
        }
        let (service, plan): (Shelf.Service, DeliveryPlan)
        switch worker.shelf.choice(for: manifest) {
        case .refused(let reason): return try bury(reason, opened, manifest)
        case .unusable(let found, let reason):
            return giveBack(pauseOf(found.name, .zero, isWrong: true), reason)
        case .service(let found, let made): (service, plan) = (found, made)
        }
        let history = try history(opened)
        if let reason = history.death(limit: worker.settings.attemptLimit) {
            return try bury(reason, opened, manifest)
        }
        guard try isLetThrough(service.name, manifest) else { return }
        try deliver(manifest, service.name, plan, history, opened)
    }

    // MARK: - Before the try

    /// The mark is there: of a worker that died before its last steps, or of another.
    private func end(with mark: ResultMark?) throws(StoreFailure) {
        if let mark, mark.outcome == .text, delivery.deliveryCount > 1, let text = mark.text {
            _ = try store.put(
                FleetLayout.text(of: id, "txt"), Array((text + "\n").utf8),
                type: "text/plain; charset=utf-8", if: .absent)
        }
        if mark?.outcome == .death { try noteDeath() }
        worker.numbers.change { $0.doneAlready += 1 }
        worker.tell("take \(id.text): has its mark already")
        finish()
    }

    /// A message for which there is no manifest: of a fleet that was deleted, or not of ours.
    private func giveUpMessage() {
        guard delivery.deliveryCount >= 3 else {
            return giveBack(.seconds(10), "its manifest is not there")
        }
        worker.numbers.change { $0.badMessages += 1 }
        worker.tell("take \(id.text): dropped: its manifest is not there")
        delivery.drop()
    }

    private func history(_ opened: Opened) throws(StoreFailure) -> TakeHistory {
        var notes: [Int: AttemptNote] = [:]
        var objects = ListingReader(store, FleetLayout.attempts(of: id))
        while let object = try objects.next() {
            let name = object.key.split(separator: "/").last ?? ""
            guard name.hasSuffix(".json"), let number = Int(name.dropLast(5)), number > 0,
                number < 1_000_000, notes.count < 1_000
            else { continue }
            // One that cannot be read is one without an end.
            notes[number] =
                try store.get(object.key).flatMap { AttemptNote($0.bytes) }
                ?? AttemptNote(worker: "unknown")
        }
        return TakeHistory(attempts: notes, forgiven: opened.forgiven)
    }

    /// Waits for the limits of the service, and leaves it alone while it fails.
    private func isLetThrough(_ name: String, _ manifest: WorkManifest) throws(StoreFailure) -> Bool
    {
        if let rest = worker.state.withLock({ $0.pauses.rest(of: name) }) {
            giveBack(rest, "the service '\(name)' is left alone for now")
            return false
        }
        while let wait = worker.limits.take(name, audio: manifest.seconds) {
            worker.numbers.change { $0.limited += 1 }
            // Another worker may have time sooner.
            guard wait < .seconds(60), waits(wait, unless: { worker.isStopping }) else {
                giveBack(worker.isStopping ? .zero : wait, "the service '\(name)' has its limit")
                return false
            }
        }
        return true
    }

    // MARK: - The try

    private func deliver(
        _ manifest: WorkManifest, _ service: String, _ plan: DeliveryPlan, _ history: TakeHistory,
        _ opened: Opened
    ) throws(StoreFailure) {
        let room = freeByteCount(at: worker.settings.folder) ?? .max
        guard room > manifest.byteCount * 2 + (64 << 20) else {
            return giveBack(.seconds(60), "the disk has no room for its audio")
        }
        var attempt = try beginAttempt(history)
        let path = "\(worker.settings.folder)/\(id.text).\(manifest.format)"
        defer { _ = unsafe unlink(path) }
        switch try fetch(manifest, to: path) {
        case .good: break
        case .bad(let reason): return try bury(reason, opened, manifest, attempt)
        case .missing(let reason): return try fail(attempt, reason)
        }
        let outcome = send(path, plan)
        worker.numbers.change { $0.attempts += outcome.attempts.count }
        if case .success = outcome.result { worker.state.withLock { $0.pauses.succeed(service) } }
        // Where it lay here says nothing to a person.
        switch TakeDecision(outcome).naming(manifest.audio, in: path) {
        case .text: try settle(outcome, manifest, service, opened, attempt)
        case .death(let reason): try bury(reason, opened, manifest, attempt)
        case .left:
            attempt.note.isForgiven = true
            attempt.note.end("given back", "the worker was asked to end")
            giveBack(.zero, "the worker was asked to end")
            try write(attempt)
        case .again(let reason, let asked, let counts, let isOfService):
            var delay = TakeHistory.pause(after: attempt.failures + 1, asked: asked)
            if !counts {
                attempt.note.isForgiven = true
                delay = max(asked, pauseOf(service, asked, isWrong: isOfService))
                if asked > .zero { worker.limits.close(service, for: asked) }
            }
            attempt.note.end(counts ? "failed" : "given back", reason)
            try write(attempt)
            giveBack(delay, reason)
        }
    }

    private func beginAttempt(_ history: TakeHistory) throws(StoreFailure) -> Attempt {
        var number = history.nextNumber
        let note = AttemptNote(worker: worker.settings.name)
        while true {
            let key = FleetLayout.attempt(number, of: id)
            if try store.put(key, note.bytes, if: .absent) { break }
            // The answer was lost, or another worker has the take, too, and was faster.
            if try store.get(key).flatMap({ AttemptNote($0.bytes) }) == note { break }
            number += 1
        }
        return Attempt(number: number, note: note, failures: history.failures)
    }

    private enum Fetched { case good, bad(String), missing(String) }

    private func fetch(_ manifest: WorkManifest, to path: String) throws(StoreFailure) -> Fetched {
        let number = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else {
            throw StoreFailure(reason: SystemError.last("open \(path)").description)
        }
        let file = makePlainFile(OwnedDescriptor(taking: number))
        switch try store.fetch(
            manifest.audio, tag: manifest.tag, into: file, limit: manifest.byteCount)
        {
        case .absent: return .missing("its audio is not there")
        case .changed: return .bad("its audio was replaced since it was submitted")
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

    /// Sends the audio as a take of its own, and waits for its end.
    private func send(_ path: String, _ plan: DeliveryPlan) -> TakeOutcome {
        var delivery = plan
        // The queue tries again, and lets others do so.
        delivery.retry = .never
        delivery.reportsProgress = false
        var plan = TakePlan(source: worker.settings.source(path), delivery: delivery)
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
        // What stays goes with the worker's folder.
        _ = try? pipeline.spool?.remove(id, forGood: true)
        return outcome
    }

    // MARK: - After the try

    private func settle(
        _ outcome: TakeOutcome, _ manifest: WorkManifest, _ service: String, _ opened: Opened,
        _ attempt: Attempt
    ) throws(StoreFailure) {
        var attempt = attempt
        guard case .success(let transcript) = outcome.result else { return }
        var mark = ResultMark(.text, of: id)
        mark.say(transcript)
        mark.service = service
        mark.duration = ((outcome.length / .seconds(1)) * 1_000).rounded() / 1_000
        let isOurs = try put(&mark, opened, attempt.number)
        let work = began.duration(to: .now) / .seconds(1)
        if isOurs {
            try putTexts(of: transcript)
            worker.numbers.change { numbers in
                numbers.done += 1
                numbers.audioSeconds += mark.duration ?? 0
                numbers.workSeconds += work
            }
        } else {
            worker.numbers.change { $0.duplicates += 1 }
            attempt.note.duplicate = true
        }
        attempt.note.end("text")
        try write(attempt)
        let times = "\(Self.tenths(mark.duration ?? 0)) s of audio in \(Self.tenths(work)) s"
        worker.tell("take \(id.text): \(isOurs ? "text" : "duplicate"), \(times)")
        finish()
    }

    /// Writes that the take is dead.
    private func bury(
        _ reason: String, _ opened: Opened, _ manifest: WorkManifest?, _ attempt: Attempt? = nil
    ) throws(StoreFailure) {
        var attempt = attempt
        var mark = ResultMark(.death, of: id)
        mark.reason = reason
        mark.key = take.key
        mark.duration = manifest.flatMap { $0.seconds > 0 ? $0.seconds : nil }
        let isOurs = try put(&mark, opened, attempt?.number)
        if isOurs { try noteDeath() }
        worker.numbers.change { if isOurs { $0.dead += 1 } else { $0.duplicates += 1 } }
        attempt?.note.end("death", reason)
        if !isOurs { attempt?.note.duplicate = true }
        if let attempt { try write(attempt) }
        worker.tell("take \(id.text): \(isOurs ? "dead" : "duplicate"): \(reason)")
        finish()
    }

    /// Deaths are few, and are listed: without this each mark would have to be read.
    private func noteDeath() throws(StoreFailure) {
        _ = try store.put(FleetLayout.dead(id), take.bytes)
    }

    /// Writes the mark, unless another's is there.
    ///
    /// - Returns: whether the mark is this one: an answer may have been lost.
    private func put(
        _ mark: inout ResultMark, _ opened: Opened, _ attempt: Int?
    ) throws(StoreFailure) -> Bool {
        mark.worker = worker.settings.name
        mark.attempt = attempt
        let key = FleetLayout.mark(of: id)
        if try store.put(key, mark.bytes, if: opened.condition) { return true }
        let other = try store.get(key).flatMap { ResultMark($0.bytes) }
        return other == mark
    }

    private func putTexts(of transcript: Transcript) throws(StoreFailure) {
        var texts = [("txt", transcript.displayText + "\n")]
        let cues = SubtitleText.cues(of: transcript)
        if !cues.isEmpty {
            texts += [("srt", SubtitleText.srt(cues)), ("vtt", SubtitleText.vtt(cues))]
        }
        for (ending, text) in texts {
            _ = try store.put(
                FleetLayout.text(of: id, ending), Array(text.utf8),
                type: "text/\(ending == "vtt" ? "vtt" : "plain"); charset=utf-8")
        }
    }

    private func write(_ attempt: Attempt) throws(StoreFailure) {
        _ = try store.put(FleetLayout.attempt(attempt.number, of: id), attempt.note.bytes)
    }

    private func fail(_ attempt: Attempt, _ reason: String) throws(StoreFailure) {
        var attempt = attempt
        attempt.note.end("failed", reason)
        try write(attempt)
        giveBack(TakeHistory.pause(after: attempt.failures + 1, asked: .zero), reason)
    }

    private func pauseOf(_ service: String, _ asked: Duration, isWrong: Bool) -> Duration {
        worker.state.withLock { $0.pauses.fail(service, asked: asked, isWrong: isWrong) }
    }

    private func giveBack(_ time: Duration, _ reason: String) {
        worker.numbers.change { $0.givenBack += 1 }
        worker.tell(
            "take \(id.text): given back for \(Self.tenths(time / .seconds(1))) s: \(reason)")
        delivery.giveBack(after: time)
    }

    private func finish() {
        do throws(QueueFailure) {
            try delivery.finish()
        } catch {
            // It is delivered once more, and has its mark then.
            worker.numbers.change { $0.queueErrors += 1 }
            worker.tell("take \(id.text): \(error.reason)")
        }
    }

    private static func tenths(_ seconds: Double) -> String {
        let tenths = Int((max(0, min(seconds, 1e9)) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
