// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// What the sync thread does: a job, then the journal that is due for longest, and so on.
struct SyncWorker: Worker {
    enum Message {
        case tend(Entry)
        case perform(@Sendable () -> Void)
    }

    /// From the begin of a sync to the begin of the next.
    ///
    /// A power cut may cost 250 ms of a take; the rest of them is for the sync itself.
    private static let period = Duration.milliseconds(200)
    /// What takes longer than this is said.
    fileprivate static let slowness = Duration.seconds(1)

    /// A journal that is to become durable.
    struct Entry: Sendable {
        let journal: Journal
        let onChange: @Sendable () -> Void
        var dueAt = ContinuousClock.now
        var condition = JournalCondition()
    }

    /// Not a slice: that keeps what was taken from it, and with it whole takes.
    private var jobs: [@Sendable () -> Void] = []
    private var entries: [Entry] = []
    /// When the thread has woken last.
    private var wokenAt = ContinuousClock.now

    mutating func receive(_ message: Message) {
        switch message {
        case .tend(let entry): entries.append(entry)
        case .perform(let job): jobs.append(job)
        }
    }

    mutating func turn(isLast: Bool) -> WorkerPause {
        let job = jobs.isEmpty ? nil : jobs.removeFirst()
        job?()
        for index in entries.indices { entries[index].noteWait(since: wokenAt) }
        let hasTended = isLast ? false : tendNext()
        if job != nil || hasTended { return .goesOn }
        return WorkerPause(until: entries.map(\.dueAt).min())
    }

    mutating func wait(for wakeup: Int32, _ pause: WorkerPause) -> Bool {
        defer { if pause != .goesOn { wokenAt = .now } }
        return pause.wait(for: wakeup)
    }

    mutating func end() { for entry in entries { entry.journal.finish() } }

    /// Syncs the journal that is due for longest; false when none is.
    private mutating func tendNext() -> Bool {
        let begin = ContinuousClock.now
        let oldest = entries.indices.min { entries[$0].dueAt < entries[$1].dueAt }
        guard let oldest, entries[oldest].dueAt <= begin else { return false }
        if entries[oldest].tend(at: begin, every: Self.period) { entries.remove(at: oldest) }
        return true
    }
}

extension SyncWorker.Entry {
    /// Syncs the journal, and tells what has changed.
    ///
    /// Returns whether it is settled.
    fileprivate mutating func tend(
        at begin: ContinuousClock.Instant, every period: Duration
    ) -> Bool {
        journal.sync(at: begin)
        noteWait(since: begin)
        dueAt = begin + period
        let isSettled = journal.isSettled
        tellChange()
        if isSettled { onChange() }
        return isSettled
    }

    /// Tells when the journal has waited long for its sync, or within it.
    ///
    /// Time before `instant`, in which nothing was to be done or this program was stopped, is not
    /// the disk's.
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
