// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import LinuxPlatform
internal import Synchronization

/// The thread that waits for the disk, so that nobody else has to.
///
/// It makes growing journals durable every 250 ms and carries out jobs that block on the disk
/// (a new take folder, a manifest, a removal), in order.
public final class SyncLoop: Sendable {
    /// How much of a take a power cut may cost.
    public static let interval = Duration.milliseconds(250)

    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var journals: [Journal] = []
    }

    private let wakeup: Wakeup
    private let state = Mutex(State())
    private let isShutDown = Atomic(false)
    private let thread = Mutex<NamedThread?>(nil)

    /// Starts the thread.
    ///
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    public init() throws(SystemError) {
        wakeup = try Wakeup()
        let started = try NamedThread(name: "sync") { [self] in run() }
        thread.withLock { $0 = started }
    }

    /// Makes a journal durable every 250 ms until it is sealed and durable.
    ///
    /// From any thread.
    public func add(_ journal: Journal) {
        state.withLock { $0.journals.append(journal) }
        wakeup.signal()
    }

    /// Carries out a job after those that were given before.
    ///
    /// From any thread.
    public func perform(_ job: @escaping @Sendable () -> Void) {
        state.withLock { $0.jobs.append(job) }
        wakeup.signal()
    }

    /// Carries out what was given before, ends the thread and waits for it.
    public func shutDown() {
        // releasing: partner of the acquire in `run`.
        isShutDown.store(true, ordering: .releasing)
        wakeup.signal()
        thread.withLock { $0 }?.join()
    }

    private func run() {
        var nextSync = ContinuousClock.now
        while true {
            // Taken back first: what is asked for after this signals again.
            wakeup.drain()
            // acquiring: partner of the release in `shutDown`; jobs given before it are seen
            // below.
            let isLast = isShutDown.load(ordering: .acquiring)
            let jobs = state.withLock { state in
                defer { state.jobs = [] }
                return state.jobs
            }
            for job in jobs { job() }
            if isLast || ContinuousClock.now >= nextSync {
                syncJournals()
                nextSync = .now + Self.interval
            }
            if isLast { return }
            wait(until: nextSync)
        }
    }

    private func syncJournals() {
        let journals = state.withLock { $0.journals }
        guard !journals.isEmpty else { return }
        for journal in journals { journal.sync() }
        state.withLock { state in
            state.journals.removeAll { $0.isSettled }
        }
    }

    private func wait(until instant: ContinuousClock.Instant) {
        let isIdle = state.withLock { $0.journals.isEmpty }
        var timeout: Int32 = -1
        if !isIdle {
            let left = max(.zero, instant - .now).components
            timeout = Int32(left.attoseconds / 1_000_000_000_000_000) + 1
        }
        var descriptor = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
        // EINTR leads to one more turn, which is harmless.
        _ = unsafe poll(&descriptor, 1, timeout)
    }
}
