// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform

/// The thread that waits for the disk, so that no other has to.
///
/// It makes growing journals durable every 200 ms, those first that have waited longest, and
/// carries out jobs that block on the disk (a manifest, a removal), in order. Jobs and journals
/// take turns, so that many of the ones never keep the others waiting.
package final class SyncLoop: Sendable {
    private let loop: WorkerLoop<SyncWorker>

    package init() throws(SystemError) { loop = try WorkerLoop(name: "sync") { SyncWorker() } }

    /// Makes a journal durable every 200 ms until it is sealed and durable.
    ///
    /// From any thread. `onChange` is called on the sync thread when the condition has changed, and
    /// when the journal is settled.
    package func add(_ journal: Journal, onChange: @escaping @Sendable () -> Void = {}) {
        loop.send(.tend(SyncWorker.Entry(journal: journal, onChange: onChange)))
    }

    /// In the order of the calls; dropped after `shutDown`; from any thread.
    package func perform(_ job: @escaping @Sendable () -> Void) { loop.send(.perform(job)) }

    /// Carries out the jobs so far, ends the thread and waits for it.
    package func shutDown() { loop.shutDown() }
}

/// The sync thread: a job, then the journal that has waited longest, and so on.
struct SyncWorker: Worker {
    enum Message {
        case tend(Entry)
        case perform(@Sendable () -> Void)
    }

    /// More journals than this are synced by one sync of their file system.
    static let crowd = 8
    /// How long each is synced by itself after that failed or was dearer: it also writes what other
    /// programs have left.
    static let crowdPause = Duration.seconds(5)

    /// From the start of a sync to the start of the next.
    ///
    /// A power cut may cost 250 ms of a take; the rest is for the sync itself.
    private static let period = Duration.milliseconds(200)
    /// Longer waits are reported.
    fileprivate static let slowness = Duration.seconds(1)

    struct Entry: Sendable {
        let journal: Journal
        let onChange: @Sendable () -> Void
        var dueAt = ContinuousClock.now
        var condition = JournalCondition()
    }

    /// Not a slice: a slice would keep removed jobs, and with them whole takes.
    private var jobs: [@Sendable () -> Void] = []
    private var entries: [Entry] = []
    private var wokenAt = ContinuousClock.now
    private let now: @Sendable () -> ContinuousClock.Instant
    /// The mean of the last syncs of one journal.
    private var cost: Duration?
    private var crowdsFrom: ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        (self.now, crowdsFrom) = (now, now())
    }

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

    /// Syncs the journal that has waited longest, and perhaps all others of its file system; false
    /// when none is due.
    private mutating func tendNext() -> Bool {
        let begin = now()
        let oldest = entries.indices.min { entries[$0].dueAt < entries[$1].dueAt }
        guard let oldest, entries[oldest].dueAt <= begin else { return false }
        let synced = syncTogether(with: oldest, at: begin)
        if synced.isEmpty { tendAlone(oldest, at: begin) }
        // From the end: one that is settled is removed.
        for (index, byteCount) in synced.reversed()
        where entries[index].tend(
            at: begin, every: Self.period, synced: byteCount)
        { entries.remove(at: index) }
        return true
    }

    private mutating func tendAlone(_ index: Int, at begin: ContinuousClock.Instant) {
        let before = entries[index].journal.durableByteCount
        let isSettled = entries[index].tend(at: begin, every: Self.period)
        if entries[index].journal.durableByteCount > before {
            cost = ((cost ?? now() - begin) * 7 + (now() - begin)) / 8
        }
        if isSettled { entries.remove(at: index) }
    }

    /// Syncs the file system of a journal, if that serves many.
    ///
    /// - Returns: its journals, and how much of each is durable now; none when each is to be synced
    ///   by itself, which also tells whose error it was.
    private mutating func syncTogether(
        with oldest: Int, at begin: ContinuousClock.Instant
    ) -> [(index: Int, byteCount: Int)] {
        guard entries.count > Self.crowd, begin >= crowdsFrom,
            let fileSystem = entries[oldest].journal.syncedFileSystem
        else { return [] }
        let crowd = entries.indices.filter { entries[$0].journal.syncedFileSystem == fileSystem }
            .map { (index: $0, byteCount: entries[$0].journal.byteCount) }
        guard crowd.count > Self.crowd else { return [] }
        do throws(SystemError) {
            // The file that was opened first: an error before that is not told to it.
            try entries[crowd[0].index].journal.syncFileSystem()
            let longest = cost.map { $0 * crowd.count } ?? Self.period
            if now() - begin > longest { crowdsFrom = now() + Self.crowdPause }
            return crowd
        } catch {
            crowdsFrom = now() + Self.crowdPause
            return []
        }
    }
}

extension SyncWorker.Entry {
    /// Returns whether the journal is settled.
    fileprivate mutating func tend(
        at begin: ContinuousClock.Instant, every period: Duration, synced: Int? = nil
    ) -> Bool {
        journal.sync(at: begin, synced: synced)
        noteWait(since: begin)
        dueAt = begin + period
        let isSettled = journal.isSettled
        tellChange()
        if isSettled { onChange() }
        return isSettled
    }

    /// Reports when the journal has waited long for its sync.
    ///
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
