// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform
internal import Synchronization

/// The thread that waits for the disk, so that nobody else has to.
///
/// It makes growing journals durable every 200 ms, those first that have waited longest, and
/// carries out jobs that block on the disk (a new take folder, a manifest, a removal), in order.
/// Jobs and journals take turns, so that many of the ones never keep the others waiting.
package final class SyncLoop: Sendable {
    /// How much of a take a power cut may cost.
    package static let interval = Duration.milliseconds(250)
    /// From the begin of a sync to the begin of the next; the rest of the interval is for the sync.
    fileprivate static let period = Duration.milliseconds(200)
    /// What takes longer than this is said.
    fileprivate static let slowness = Duration.seconds(1)

    fileprivate struct Entry {
        let journal: Journal
        let onChange: @Sendable () -> Void
        var dueAt = ContinuousClock.now
        var condition = JournalCondition()
    }

    private struct Inbox {
        var jobs: [@Sendable () -> Void] = []
        var journals: [Entry] = []
        /// Whether the thread has ended: a job would wait for ever, and keep alive what it uses.
        var isClosed = false
    }

    private let wakeup: Wakeup
    private let inbox = Mutex(Inbox())
    private let isShutDown = Atomic(false)
    private let thread = Mutex<NamedThread?>(nil)

    /// Starts the thread.
    ///
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    package init() throws(SystemError) {
        wakeup = try Wakeup()
        let started = try NamedThread(name: "sync") { [self] in run() }
        thread.withLock { $0 = started }
    }

    /// Makes a journal durable every 200 ms until it is sealed and durable.
    ///
    /// From any thread.
    ///
    /// - Parameters:
    ///   - journal: grows, or is sealed.
    ///   - onChange: called on the sync thread when the journal's condition has changed, and when
    ///     it is settled.
    package func add(_ journal: Journal, onChange: @escaping @Sendable () -> Void = {}) {
        inbox.withLock { $0.journals.append(Entry(journal: journal, onChange: onChange)) }
        wakeup.signal()
    }

    /// Carries out a job after those that were given before, unless the loop has been shut down.
    ///
    /// From any thread.
    package func perform(_ job: @escaping @Sendable () -> Void) {
        inbox.withLock { if !$0.isClosed { $0.jobs.append(job) } }
        wakeup.signal()
    }

    /// Carries out what was given before, ends the thread and waits for it.
    package func shutDown() {
        // releasing: partner of the acquire in `run`.
        isShutDown.store(true, ordering: .releasing)
        wakeup.signal()
        thread.withLock { $0 }?.join()
    }

    private func run() {
        var jobs: ArraySlice<@Sendable () -> Void> = []
        var entries: [Entry] = []
        while true {
            let wokenAt = ContinuousClock.now
            var isLast = false
            var isBusy = true
            while isBusy {
                // Taken back first: what is asked for after this signals again.
                wakeup.drain()
                // acquiring: partner of the release in `shutDown`; what was given before it is
                // seen below.
                isLast = isShutDown.load(ordering: .acquiring)
                inbox.withLock { inbox in
                    jobs += inbox.jobs
                    entries += inbox.journals
                    inbox = Inbox()
                }
                isBusy = !jobs.isEmpty
                jobs.popFirst()?()
                for index in entries.indices { entries[index].noteWait(since: wokenAt) }
                if !isLast, Self.tendNext(&entries) { isBusy = true }
            }
            if isLast {
                for entry in entries { entry.journal.finish() }
                return inbox.withLock { $0 = Inbox(isClosed: true) }
            }
            wait(until: entries.map(\.dueAt).min())
        }
    }

    /// Syncs the journal that is due for longest; false when none is.
    private static func tendNext(_ entries: inout [Entry]) -> Bool {
        let begin = ContinuousClock.now
        let oldest = entries.indices.min { entries[$0].dueAt < entries[$1].dueAt }
        guard let oldest, entries[oldest].dueAt <= begin else { return false }
        if entries[oldest].tend(at: begin) { entries.remove(at: oldest) }
        return true
    }

    private func wait(until instant: ContinuousClock.Instant?) {
        var timeout: Int32 = -1
        if let instant {
            let left = max(.zero, instant - .now).components
            timeout = Int32(left.seconds * 1_000 + left.attoseconds / 1_000_000_000_000_000) + 1
        }
        var descriptor = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
        // EINTR leads to one more turn, which is harmless.
        _ = unsafe poll(&descriptor, 1, timeout)
    }
}

extension SyncLoop.Entry {
    /// Syncs the journal, and tells what has changed.
    ///
    /// Returns whether it is settled.
    fileprivate mutating func tend(at begin: ContinuousClock.Instant) -> Bool {
        journal.sync(at: begin)
        noteWait(since: begin)
        dueAt = begin + SyncLoop.period
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
        guard wait > SyncLoop.slowness else { return }
        journal.note(slow: wait)
        tellChange()
    }

    private mutating func tellChange() {
        let now = journal.condition
        if now != condition { onChange() }
        condition = now
    }
}
