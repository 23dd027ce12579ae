// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform

/// The thread that waits for the disk, so that no other has to.
///
/// Every 200 ms it carries rings into their journals and makes these durable, those first that have
/// waited longest. It also carries out jobs that block on the disk (a manifest, a removal), in order.
/// Jobs and journals take turns, so that many of the ones never keep the others waiting.
package final class SyncLoop: Sendable {
    private let loop: WorkerLoop<SyncWorker>

    package init() throws(SystemError) { loop = try WorkerLoop(name: "sync") { SyncWorker() } }

    /// Makes a journal durable every 200 ms until it is sealed and durable.
    ///
    /// From any thread. `onChange` is called on the sync thread when the condition has changed, and
    /// when the journal is settled. A stage carries a ring into the journal first, until its end.
    package func add(
        _ journal: Journal, filledBy stage: JournalStage? = nil,
        onChange: @escaping @Sendable () -> Void = {}
    ) {
        loop.send(.tend(SyncWorker.Entry(journal: journal, stage: stage, onChange: onChange)))
    }

    /// In the order of the calls; from any thread; false after `shutDown`, when the job is dropped.
    @discardableResult
    package func perform(_ job: @escaping @Sendable () -> Void) -> Bool {
        loop.send(.perform(job))
    }

    /// Carries out a job in steps, until one returns false: the first at once, and the others as jobs
    /// of their own, so that audio is synced in between; on the sync thread.
    func carryOn<State: Sendable>(
        _ state: State, _ step: @escaping @Sendable (inout State) -> Bool
    ) {
        var state = state
        guard step(&state) else { return }
        perform { [self, state] in carryOn(state, step) }
    }

    /// Carries out the jobs so far, ends the thread and waits for it.
    package func shutDown() { loop.shutDown() }
}

/// The sync thread: a job, then the journal that has waited longest, and so on.
struct SyncWorker: Worker {
    enum Message {
        case tend(Entry)
        case perform(@Sendable () -> Void)
    }

    /// More journals than this are synced together.
    static let crowd = 8

    /// Between starts.
    ///
    /// A power cut may cost 250 ms of a take; the rest is for the sync itself.
    private static let period = Duration.milliseconds(200)
    /// Longer waits are reported.
    fileprivate static let slowness = Duration.seconds(1)

    struct Entry: Sendable {
        let journal: Journal
        var stage: JournalStage?
        let onChange: @Sendable () -> Void
        var dueAt = ContinuousClock.now
        var condition = JournalCondition()
    }

    /// Not a slice: a slice would keep removed jobs, and with them whole takes.
    private var jobs: [@Sendable () -> Void] = []
    private var entries: [Entry] = []
    /// When the first journal is due; nil without any.
    private var firstDueAt: ContinuousClock.Instant?
    private var wokenAt = ContinuousClock.now
    private let now: @Sendable () -> ContinuousClock.Instant
    private let syncAll: ([Int32]) -> [SystemError?]

    init(
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        syncAll: (([Int32]) -> [SystemError?])? = nil
    ) {
        let batch = SyncBatch()
        (self.now, self.syncAll) = (now, syncAll ?? { batch.sync($0) })
    }

    mutating func receive(_ message: Message) {
        switch message {
        case .tend(let entry):
            entries.append(entry)
            noteFirstDue()
        case .perform(let job): jobs.append(job)
        }
    }

    mutating func turn(isLast: Bool) -> WorkerPause {
        let job = jobs.isEmpty ? nil : jobs.removeFirst()
        job?()
        if let firstDueAt, .now - firstDueAt > Self.slowness {
            for index in entries.indices { entries[index].noteWait(since: wokenAt) }
        }
        let hasTended = isLast ? false : tendNext()
        return job != nil || hasTended ? .goesOn : WorkerPause(until: firstDueAt)
    }

    private mutating func noteFirstDue() { firstDueAt = entries.lazy.map(\.dueAt).min() }

    mutating func wait(for wakeup: Wakeup, _ pause: WorkerPause) {
        wakeup.wait(pause)
        if pause != .goesOn { wokenAt = .now }
    }

    mutating func end() {
        for entry in entries {
            entry.journal.finish()
            entry.onChange()
        }
    }

    /// Carries out the jobs that the end has brought.
    mutating func refuse(_ message: Message) { if case .perform(let job) = message { job() } }

    /// Syncs the journal that has waited longest, or a crowd of which it is one; false when none is
    /// due.
    private mutating func tendNext() -> Bool {
        let begin = now()
        guard let first = firstDueAt, first <= begin else { return false }
        // Journals that are due soon come along, so that in the end all are due at once.
        let soon = begin + Self.period / 2
        var due = entries.indices.filter { entries[$0].dueAt <= soon }
        if due.count <= Self.crowd {
            due = Array(due.filter { entries[$0].dueAt == first }.prefix(1))
        }
        for index in due where entries[index].stage?.turn() == .done {
            entries[index].stage = nil
        }
        if due.count > Self.crowd {
            syncTogether(due, at: begin)
        } else {
            for index in due { entries[index].journal.sync(at: begin) }
        }
        var settled: Set<Int> = []
        for index in due where entries[index].noteTurn(at: begin, every: Self.period) {
            settled.insert(index)
        }
        if !settled.isEmpty {
            entries = entries.indices.filter { !settled.contains($0) }.map { entries[$0] }
        }
        noteFirstDue()
        return true
    }

    /// Syncs the journals in one call; those that the kernel does not take together, one by one.
    private func syncTogether(_ indices: [Int], at begin: ContinuousClock.Instant) {
        let due = indices.compactMap { index -> (Journal, Journal.DueSync, Int32)? in
            let journal = entries[index].journal
            guard let due = journal.prepareSync(at: begin) else { return nil }
            guard let descriptor = due.file.descriptor else {
                journal.sync(at: begin)
                return nil
            }
            return (journal, due, descriptor)
        }
        let errors = due.isEmpty ? [] : syncAll(due.map(\.2))
        for (index, (journal, due, _)) in due.enumerated() {
            if index < errors.count {
                journal.noteSync(of: due, errors[index])
            } else {
                journal.sync(at: begin)
            }
        }
        for index in indices { entries[index].journal.bringBack(at: begin) }
    }
}

extension SyncWorker.Entry {
    /// Returns whether the journal is settled.
    fileprivate mutating func noteTurn(
        at begin: ContinuousClock.Instant, every period: Duration
    ) -> Bool {
        noteWait(since: begin)
        dueAt = begin + period
        let isSettled = journal.isSettled
        tellChange()
        if isSettled { onChange() }
        return isSettled
    }

    /// Time before `instant` does not count: the journal was at rest, or this program was stopped.
    fileprivate mutating func noteWait(since instant: ContinuousClock.Instant) {
        let wait = .now - max(dueAt, instant)
        guard wait > SyncWorker.slowness else { return }
        journal.note(slow: wait)
        tellChange()
    }

    private mutating func tellChange() {
        let now = journal.condition
        if now != condition { onChange() }
        condition = now
    }
}
